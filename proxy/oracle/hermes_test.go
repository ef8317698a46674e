package oracle

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// noon is the instant of every failure here.
var noon = time.Unix(2_000_000_000, 0).UTC()

// The verdicts that Hermes' own table of statuses and words gives, for its newest build: what the answer is, and what is
// thought and done of it.
func TestClassifyHermes(t *testing.T) {
	session := Session{Now: noon}
	f := func(status int, body, want string, header ...string) {
		t.Helper()
		if !strings.HasPrefix(body, "{") {
			body = `{"error":{"message":"` + body + `","type":"x","code":null}}`
		}
		if got := ClassifyHermes(status, headers(header), []byte(body), session).Line(noon); got != want {
			t.Errorf("%d %s\n got %s\nwant %s", status, body, got, want)
		}
	}
	const (
		formatError = "format_error 1x fallback=at-once"
		overflow    = "context_overflow+compress 3x 6s fallback=never"
		overloaded  = "overloaded 3x 6s fallback=second-failure ladder"
		serverFault = "server_error 3x 6s fallback=after-all ladder"
		billing     = "billing 1x fallback=at-once bench=1h0m0s"
		rateLimit   = "rate_limit 3x 6s fallback=at-once bench=1m0s"
		auth        = "auth 1x fallback=at-once bench=5m0s"
		noModel     = "model_not_found 1x fallback=at-once"
	)
	f(400, "This model's maximum context length is 32768 tokens, however you requested 40000 tokens", "context_overflow+compress+window=32768 3x 6s fallback=never")
	f(400, "Please reduce the length of the messages", overflow)
	f(400, "Unsupported parameter: 'max_tokens' is not supported with this model", formatError)
	f(400, "Unsupported value: stream is not supported by this model at all", "format_error+streaming-off 1x fallback=at-once")
	f(400, "Unrecognized request argument supplied: stream_options", "format_error+usage-off 1x fallback=at-once")
	f(400, `{"error":{"message":"no","param":"reasoning.effort","code":"x"}}`, "reasoning_mandatory 3x 6s fallback=never")
	f(400, `{"error":{"message":"x","code":"invalid_encrypted_content"}}`, "invalid_encrypted_content 3x 6s fallback=never")
	f(400, "messages: text content blocks must have non-empty content; context length", formatError)
	f(400, "You exceeded your current quota, please check your plan", billing)
	f(400, "the model does not exist or you have no access", noModel)
	f(400, "Something in the request is not as it should be", formatError)
	f(401, "anything", auth)
	f(402, "payment required", billing)
	f(402, "Usage limit reached, try again later", rateLimit)
	f(403, "no", auth)
	f(403, `{"error":{"message":"no","code":"upstream_unavailable"}}`, overloaded)
	f(403, "Key limit exceeded", billing)
	f(403, "Attention Required! | Cloudflare", "upstream_blocked 1x fallback=at-once")
	f(404, "model not found: x", noModel)
	f(404, "no such path", "unknown 3x 6s fallback=after-all")
	f(405, "no", formatError)
	f(408, "slow", "timeout 3x 6s fallback=second-failure ladder")
	f(409, "conflict", formatError)
	f(413, "big", "payload_too_large+compress 3x 6s fallback=never")
	f(422, "no", formatError)
	f(429, "slow down", rateLimit)
	f(429, "slow down", "rate_limit 3x 40s fallback=at-once bench=20s", "Retry-After", "20")
	f(429, "slow down", "rate_limit 3x 20m0s fallback=at-once bench=2h0m0s", "Retry-After", "7200")
	f(429, "the server is overloaded", overloaded)
	f(429, `{"error":{"message":"x","code":"insufficient_quota"}}`, billing)
	f(429, `{"error":{"message":"The usage limit has been reached","code":"usage_limit_reached"}}`, billing)
	f(429, `{"error":{"message":"The usage limit has been reached","code":"usage_limit_reached","resets_at":2000007200}}`, "rate_limit 3x 6s fallback=at-once bench=2h0m0s")
	f(429, `{"error":{"message":"The usage limit has been reached","code":"usage_limit_reached","resets_in_seconds":60}}`, "rate_limit 3x 6s fallback=at-once bench=1m0s")
	f(429, "Quota exceeded, resets in 4hr 5min", "rate_limit 3x 6s fallback=at-once bench=4h5m0s")
	f(500, "oops", serverFault)
	f(502, "invalid_request_error", formatError)
	f(502, "the prompt is too long", overflow)
	f(503, "busy", overloaded)
	f(503, `{"error":{"message":"busy","code":"x","retry_after":30}}`, "overloaded 3x 1m0s fallback=second-failure ladder")
	f(503, "busy with a context window", overflow)
	f(503, "out of memory: reduce context length", overloaded)
	f(504, "late", serverFault)
	f(529, "busy", overloaded)
	f(400, "flagged: content_filter", "content_policy_blocked 1x fallback=at-once")
	f(500, "your request was flagged by a rule", "content_policy_blocked 1x fallback=at-once")

	f(0, `{"message":"gone","code":"rate_limit_exceeded"}`, rateLimit)
	f(0, `{"message":"the upstream broke off","code":"upstream_interrupted"}`, "unknown 3x 6s fallback=after-all")
	f(0, `{"message":"The usage limit has been reached"}`, billing)
	f(0, `{"message":"peer closed connection"}`, "timeout 3x 6s fallback=second-failure ladder")

	session.Tokens = 150_000
	f(400, "Error", overflow)
	f(400, "Something in the request is not as it should be", formatError)
	f(0, `{"message":"connection was closed"}`, overflow)

	session = Session{Now: noon, Build: Released}
	f(429, `{"error":{"message":"The usage limit has been reached","code":"usage_limit_reached"}}`, rateLimit)
	f(429, `{"error":{"message":"x","code":"insufficient_quota"}}`, rateLimit)
	f(403, `{"error":{"message":"no","code":"upstream_unavailable"}}`, auth)
	f(503, "out of memory: reduce context length", overflow)
}

func headers(pairs []string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// Where a reset is read from, when several places tell of one: the first of the list that does.
func TestResetSources(t *testing.T) {
	f := func(body, want string, header ...string) {
		t.Helper()
		v := ClassifyHermes(429, headers(header), []byte(body), Session{Now: noon})
		got := "-"
		if !v.ResetAt.IsZero() {
			got = v.ResetAt.Sub(noon).String()
		}
		if got != want {
			t.Errorf("%s %v: got %s, want %s", body, header, got, want)
		}
	}
	const all = `{"error":{"message":"rate limit, resets in 9s","resets_at":2000000001,"resets_in_seconds":2,"retry_after":3}}`
	h := []string{"Retry-After", "4", "X-Ratelimit-Reset", "5", "X-Ratelimit-Reset-Requests", "6m0s", "Anthropic-Ratelimit-Tokens-Reset", noon.Add(time.Minute).Format(time.RFC3339)}
	f(all, "1s", h...)
	f(strings.Replace(all, `"resets_at":2000000001,`, "", 1), "2s", h...)
	f(`{"error":{"message":"rate limit, resets in 9s","retry_after":"3"}}`, "3s", h...)
	f(`{"error":{"message":"rate limit, resets in 9s"}}`, "4s", h...)
	f(`{"error":{"message":"rate limit, resets in 9s"}}`, "5s", h[2:]...)
	f(`{"error":{"message":"rate limit, resets in 9s"}}`, "6m0s", h[4:]...)
	f(`{"error":{"message":"rate limit, resets in 9s"}}`, "1m0s", h[6:]...)
	f(`{"error":{"message":"rate limit, resets in 9s"}}`, "9s")
	f(`{"error":{"message":"rate limit, retry after 8 seconds"}}`, "8s")
	f(`{"error":{"message":"rate limit"}}`, "20s", "Retry-After", noon.Add(20*time.Second).Format(http.TimeFormat))
	f(`{"error":{"message":"rate limit","reset_at":"`+noon.Add(time.Hour).Format(time.RFC3339)+`"}}`, "1h0m0s")
	f(`{"error":{"message":"rate limit"}}`, "-", "Retry-After", "0")
}

// The window that Hermes would keep for a model, from the words of an error.
func TestWindowInWords(t *testing.T) {
	f := func(text string, want int) {
		t.Helper()
		if got := windowInWords(strings.ToLower(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
	f("This model's maximum context length is 8192 tokens.", 8192)
	f("the engine's max_model_len is 32768", 32768)
	f("250000 tokens > 200000 maximum", 200000)
	f("context window of 131072", 131072)
	f("the body is larger than server.max_body_bytes: 67108864", 0)
	f("maximum context length is 512 tokens", 0)
}

func TestReadModels(t *testing.T) {
	c, err := ReadModels([]byte(`{"data":[{"id":"main","context_length":128000},{"id":"sim-1","meta":{"n_ctx":64000},"max_tokens":8192},{"id":"x","owned_by":"llamacpp"}]}`))
	if err != nil || len(c.IDs) != 3 || !c.LlamaCPP {
		t.Fatalf("%+v, %v", c, err)
	}
	f := func(model string, want int, exact bool) {
		t.Helper()
		if got, same := c.Window(model); got != want || same != exact {
			t.Errorf("%s: got %d, exact %v", model, got, same)
		}
	}
	f("main", 128_000, true)
	f("sim-1", 64_000, true)
	f("x", 0, true)
	f("mainframe", 128_000, false) // an id that holds another's steals its window
	f("nothing", 0, false)
}
