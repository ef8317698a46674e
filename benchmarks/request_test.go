package benchmarks

import (
	"bytes"
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
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {c.contentType}},
		Body:          io.NopCloser(bytes.NewReader(c.body)),
		ContentLength: int64(len(c.body)),
	}, nil
}

// hub is the proxy plane with everything on: keys, roles, leases, trails, metrics.
func hub(b *testing.B, protocol router.Protocol, upstream http.RoundTripper) http.Handler {
	b.Helper()
	provider, _ := router.ProviderByID("openai-compatible")
	var profiles []router.Profile
	var chain []router.ChainItem
	for i := range 6 {
		id := fmt.Sprintf("account-%d", i)
		profiles = append(profiles, router.Profile{
			ID: id, Provider: provider, Enabled: true, BaseURL: "http://127.0.0.1:9/v1", Protocol: protocol,
			PreferredModels: []string{"gpt-5.5"}, MaxConcurrency: 100, Credential: router.NewSecret("sk-" + id),
		})
		chain = append(chain, router.ChainItem{Profile: id})
	}
	table, err := router.NewTable(profiles, []router.Role{{ID: "main", Chain: chain, Affinity: true}}, router.Settings{
		Failover: true, DefaultRole: "main", AutoReturnPrimary: true, AffinityTTL: time.Hour, Protocols: proxy.Protocols(),
		Policy: quota.Policy{CooldownBase: time.Second, CooldownMax: time.Minute, QuotaCooldown: time.Minute, RateLimitCooldown: time.Second},
	})
	if err != nil {
		b.Fatal(err)
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
		Logger: slog.New(slog.DiscardHandler), Version: "bench", Ready: http.NotFoundHandler(),
		Transport: func(*router.Profile) http.RoundTripper { return upstream },
	})
	return p.Handler()
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

func benchmark(b *testing.B, upstream canned, body string) {
	benchmarkOver(b, router.ProtocolChat, upstream, body)
}

// benchmarkOver is a chat client over accounts of a protocol.
func benchmarkOver(b *testing.B, protocol router.Protocol, upstream canned, body string) {
	h := hub(b, protocol, upstream)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		req := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1:7400/v1/chat/completions", strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer key")
		req.Header.Set("X-Hub-Session", "s")
		w := &sink{header: make(http.Header, 16)}
		h.ServeHTTP(w, req)
		if w.status != http.StatusOK || w.bytes == 0 {
			b.Fatalf("status %d, %d bytes", w.status, w.bytes)
		}
	}
}

func request(size int, stream bool) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"stream":%t,"model":"gpt-5.5"}`, strings.Repeat("lorem ipsum ", size/12), stream)
}

func BenchmarkWholeRequest(b *testing.B) {
	answer := []byte(`{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("answer ", 130) +
		`"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":130}}`)
	for _, kb := range []int{1, 64} {
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			benchmark(b, canned{"application/json", answer}, request(kb<<10, false))
		})
	}
}

func BenchmarkWholeStream(b *testing.B) {
	chunk := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5.5","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}` + "\n\n"
	stream := strings.Repeat(chunk, 200) + `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	benchmark(b, canned{"text/event-stream", []byte(stream)}, request(1<<10, true))
}

// BenchmarkTranslatedStream is a chat client's stream from an account of Anthropic's protocol.
func BenchmarkTranslatedStream(b *testing.B) {
	delta := "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}` + "\n\n"
	stream := "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"claude","usage":{"input_tokens":100,"output_tokens":1}}}` + "\n\n" +
		"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		strings.Repeat(delta, 200) +
		"event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0}` + "\n\n" +
		"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":200}}` + "\n\n" +
		"event: message_stop\ndata: " + `{"type":"message_stop"}` + "\n\n"
	benchmarkOver(b, router.ProtocolMessages, canned{"text/event-stream", []byte(stream)}, request(1<<10, true))
}

// BenchmarkTranslatedRequest is a chat client's request with 60 tools for an account of Anthropic's protocol.
func BenchmarkTranslatedRequest(b *testing.B) {
	answer := []byte(`{"id":"m","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"` + strings.Repeat("answer ", 130) +
		`"}],"stop_reason":"end_turn","usage":{"input_tokens":100,"output_tokens":130}}`)
	var tools []string
	for i := range 60 {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{"path":{"type":"string","description":"where"},"depth":{"type":"integer"}},"required":["path"]}}}`, i, strings.Repeat("what it does ", 60)))
	}
	body := strings.TrimSuffix(request(150<<10, false), "}") + `,"tools":[` + strings.Join(tools, ",") + `]}`
	benchmarkOver(b, router.ProtocolMessages, canned{"application/json", answer}, body)
}
