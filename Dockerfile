# syntax=docker/dockerfile:1

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/hermes-hub . \
 && mkdir -p /out/data

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="Hermes Hub" \
      org.opencontainers.image.description="One base URL for LLM agents, a chain of provider accounts behind it" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}"
# scratch has neither: roots to trust providers by, and a folder that the user below may write to.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 --chmod=0700 /out/data /var/lib/hermes-hub
COPY --from=build /out/hermes-hub /hermes-hub
# Numeric, so that Kubernetes can see that it is not root.
USER 65532:65532
# The configuration is mounted here; what must survive the container lies beside it, in the volume.
ENV HERMES_HUB_CONFIG=/etc/hermes-hub/router_profiles.yaml \
    XDG_DATA_HOME=/var/lib
VOLUME /var/lib/hermes-hub
EXPOSE 7400 7401
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=5s CMD ["/hermes-hub", "healthcheck"]
ENTRYPOINT ["/hermes-hub"]
# The container's own loopback reaches nobody. The admin plane stays on it, unless the configuration says otherwise.
CMD ["serve", "--listen", "0.0.0.0:7400"]
