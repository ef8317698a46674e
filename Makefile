# `make` alone lists the targets. Go and make are all a fresh machine needs; `make deps` brings the rest.

GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .
LOAD     ?= -quick
KILLS    ?= 200
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Tools are pinned in tools.mod, apart from go.mod: what checks the code is no dependency of the code.
TOOL := $(GO) tool -modfile=$(CURDIR)/tools.mod
# golangci-lint stays out of tools.mod: its own guide advises so, and it would bring a thousand modules.
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

SCRATCH := .scratch
# Every folder with a go.mod. `go test ./...` sees none but the first.
MODULES := $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path './$(SCRATCH)/*'))
SOURCES  = $(shell find . -name '*.go' -not -path './$(SCRATCH)/*')
in_each  = @set -e; for m in $(MODULES); do echo "$(1) ($$m)"; (cd "$$m" && $(2)); done

# The program links no C. The race detector does, and says so for itself.
export CGO_ENABLED := 0

.PHONY: help run demo build test check unit race clients clients-full kills fuzz bench load cover lint fmt deps clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

run: ## serve your accounts (the file that `go run . serve --init` writes)
	$(GO) run . serve

demo: ## serve simulated accounts and show a failover: no key, no network
	$(GO) run . demo

build: ## the static binary, ./hermes-hub
	$(GO) build -buildvcs=auto -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o hermes-hub .

test: ## check, all tests of all modules, race, clients; what the machine lacks is skipped and listed
	@mkdir -p $(SCRATCH) && rm -f $(SCRATCH)/*.skipped
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory race
	@$(MAKE) --no-print-directory clients
	@.ci/skipped

check: check-format check-vet check-fix check-staticcheck check-modules check-arch ## what every commit holds to (make -k check: all findings)

.PHONY: check-format check-vet check-fix check-staticcheck check-modules check-arch
check-format:
	@echo gofumpt; files=$$($(TOOL) gofumpt -l $(SOURCES)) && test -z "$$files" || { echo "not formatted (make fmt does it):"; echo "$$files"; exit 1; }
check-vet:
	$(call in_each,go vet,$(GO) vet ./...)
check-fix:
	$(call in_each,go fix,$(GO) fix -diff ./...)
check-staticcheck:
	$(call in_each,staticcheck,$(TOOL) staticcheck ./...)
check-modules:
	$(call in_each,go mod tidy,$(GO) mod tidy -diff)
	@$(GO) mod verify # the nested module cannot: verify takes its replaced hub for a download
check-arch:
	@echo architecture; $(GO) test -run '^TestArch' .

unit: ## the tests of the hub itself
	@.ci/gotest unit . ./...

race: ## the same under the race detector (needs a C compiler)
	@.ci/race

clients: ## real, unmodified clients over the built hub, each kind of turn once
	@.ci/gotest clients proxy/clients -count=1 -skip '^Test.*Broken' ./...

clients-full: ## the same, and everything that can break (ten minutes)
	@.ci/gotest clients proxy/clients -count=1 -timeout=1h ./...

kills: ## hubs and stores killed in the middle of their writing, KILLS (200) rounds each (ten minutes)
	HUB_KILL_ROUNDS=$(KILLS) $(GO) test -count=1 -timeout=1h -v -run 'Kill' ./runs/...

fuzz: ## every fuzz target for FUZZTIME (10s)
	@.ci/fuzz $(FUZZTIME)

bench: ## the benchmarks that BENCH (all) matches
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...

load: ## the built hub beside a bare reverse proxy on loopback, half a minute (LOAD= : all scenarios, minutes)
	$(GO) run ./benchmarks/load $(LOAD)

cover: ## statement coverage by function, and coverage.out
	$(GO) test -coverpkg=./... -coverprofile=coverage.out ./...
	$(GO) tool cover -func=coverage.out

lint: ## golangci-lint: minutes when cold, no part of check
	$(GO) run $(GOLANGCI) run ./...

fmt: ## format everything
	$(TOOL) gofumpt -w $(SOURCES)

deps: ## install what skipped tests need, as far as this machine allows
	@.ci/deps

clean: ## remove what make made
	rm -rf hermes-hub coverage.out $(SCRATCH)
