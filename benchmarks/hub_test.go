package benchmarks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// canned is an upstream that answers at once with the same bytes: what is left is the hub's own cost.
type canned struct {
	contentType string
	body        []byte
}

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, req.Body) //nolint:errcheck // it reads memory
	return answering(c.contentType, int64(len(c.body)), bytes.NewReader(c.body)), nil
}

func answering(contentType string, length int64, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(body),
		ContentLength: length,
	}
}

// hub is the proxy plane with everything on: keys, roles, leases, trails, metrics.
func hub(tb testing.TB, a account, upstream http.RoundTripper) http.Handler {
	tb.Helper()
	provider, ok := router.ProviderByID(a.provider)
	if !ok {
		tb.Fatalf("no provider %q", a.provider)
	}
	var profiles []router.Profile
	var chain []router.ChainItem
	for i := range 6 {
		id := fmt.Sprintf("account-%d", i)
		profiles = append(profiles, router.Profile{
			ID: id, Provider: provider, Enabled: true, BaseURL: "http://127.0.0.1:9/v1", Protocol: a.protocol,
			PreferredModels: []string{a.model}, MaxConcurrency: 100, Credential: router.NewSecret("sk-" + id),
		})
		chain = append(chain, router.ChainItem{Profile: id})
	}
	table, err := router.NewTable(profiles, []router.Role{{ID: "main", Chain: chain, Affinity: true}}, router.Settings{
		Failover: true, DefaultRole: "main", AutoReturnPrimary: true, AffinityTTL: time.Hour, Protocols: proxy.Protocols(),
		Policy: quota.Policy{CooldownBase: time.Second, CooldownMax: time.Minute, QuotaCooldown: time.Minute, RateLimitCooldown: time.Second},
	})
	if err != nil {
		tb.Fatal(err)
	}
	registry := telemetry.NewRegistry()
	metrics := telemetry.NewMetrics(registry, telemetry.Labels{Roles: []string{"main"}, Endpoints: proxy.Endpoints()}, telemetry.Build{})
	p := proxy.New(proxy.Options{
		Config: proxy.Config{
			Keys:         []proxy.Key{{Name: "bench", Secret: router.NewSecret("key")}},
			MaxBodyBytes: 64 << 20, RequestTimeout: time.Minute, CommitDeadline: time.Minute, ConnectTimeout: time.Second,
			FirstTokenTimeout: time.Minute, IdleTimeout: time.Minute, SessionHeaders: []string{"X-Hub-Session"},
		},
		Router: router.New(table, router.Options{}), Trails: &router.Trails{}, Telemetry: metrics,
		Logger: slog.New(slog.DiscardHandler), Version: "bench", Ready: http.NotFoundHandler(), Credentials: signedIn{},
		Transport: func(*router.Profile) http.RoundTripper { return upstream },
	})
	return p.Handler()
}

// signedIn are the credentials of accounts that want to be told more than a key.
type signedIn struct{}

func (signedIn) Current(_ context.Context, p *router.Profile) (proxy.Credential, error) {
	return proxy.Credential{Token: p.Credential, Project: "project"}, nil
}

func (signedIn) Refused(context.Context, *router.Profile, proxy.Credential) (proxy.Credential, bool) {
	return proxy.Credential{}, false
}

// sink is a client that reads nothing and keeps nothing.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { s.bytes += len(b); return len(b), nil }
func (s *sink) Flush()                      {}

// ask makes one request of an agent.
func ask(tb testing.TB, path, body string) *http.Request {
	req := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "http://127.0.0.1:7400"+path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("X-Hub-Session", "s")
	return req
}

// serve has one request answered into nothing.
func serve(tb testing.TB, h http.Handler, path, body string) {
	w := &sink{header: make(http.Header, 16)}
	h.ServeHTTP(w, ask(tb, path, body))
	if w.status != http.StatusOK || w.bytes == 0 {
		tb.Fatalf("status %d, %d bytes", w.status, w.bytes)
	}
}

// benchmark serves the same request over and over.
func benchmark(b *testing.B, a account, upstream http.RoundTripper, path, body string) {
	h := hub(b, a, upstream)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		serve(b, h, path, body)
	}
}
