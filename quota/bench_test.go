package quota

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// benchAt is when the benchmarks' answers came.
var benchAt = time.Date(2026, 7, 25, 12, 0, 0, 0, time.UTC)

// rateHeaders are the headers of an answer of the OpenAI API.
func rateHeaders() http.Header {
	h := make(http.Header)
	for k, v := range map[string]string{
		"content-type": "application/json", "date": "Sat, 25 Jul 2026 12:00:00 GMT", "x-request-id": "req_1", "server": "cloudflare",
		"x-ratelimit-limit-requests": "10000", "x-ratelimit-remaining-requests": "9999", "x-ratelimit-reset-requests": "6ms",
		"x-ratelimit-limit-tokens": "30000000", "x-ratelimit-remaining-tokens": "29999000", "x-ratelimit-reset-tokens": "1m0.052s",
	} {
		h.Set(k, v)
	}
	return h
}

// BenchmarkRead429 reads a refusal with a body of 2 KB: a gateway's envelope around the upstream's.
func BenchmarkRead429(b *testing.B) {
	h := rateHeaders()
	h.Set("retry-after-ms", "494")
	body := []byte(`{"error":{"message":"Rate limit reached for gpt-4.1 in organization org-EXAMPLE on tokens per min (TPM): Limit 30000000, ` +
		`Used 30000000, Requested 247009. Please try again in 494ms. ` + strings.Repeat("More words follow here. ", 75) +
		`","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`)
	r := Response{Provider: "openai", Status: 429, Header: h, Body: body, At: benchAt}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Read(r)
	}
}

// BenchmarkRead429Words reads a refusal that only words explain: the whole phrase book is searched.
func BenchmarkRead429Words(b *testing.B) {
	body := []byte(`{"error":{"message":"` + strings.Repeat("Nothing to be found in here. ", 70) + `"}}`)
	r := Response{Provider: "generic", Status: 429, Body: body, At: benchAt}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Read(r)
	}
}

// BenchmarkRead429Google reads a refusal whose error, details and all, is a string inside a string.
func BenchmarkRead429Google(b *testing.B) {
	inner := `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: ` +
		`https://ai.google.dev/gemini-api/docs/rate-limits.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[` +
		`{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_input_token_count","quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier",` +
		`"quotaDimensions":{"location":"global","model":"gemini-2.5-pro"},"quotaValue":"250000"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"26s"}]}}`
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": inner + strings.Repeat(" ", 2048-len(inner)-150), "code": 429, "status": "Too Many Requests"}})
	if err != nil {
		b.Fatal(err)
	}
	r := Response{Provider: "google-gemini-api", Status: 429, Body: body, At: benchAt}
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Read(r)
	}
}

// twelveHeaders are those of quota on an answer of each kind, among others.
func twelveHeaders(provider string) http.Header {
	h := headers("Content-Type: application/json", "Date: Sat, 25 Jul 2026 12:00:00 GMT", "X-Request-Id: req_1", "Server: cloudflare", "Vary: Origin")
	switch provider {
	case "nous-portal":
		for _, window := range []string{"Requests", "Requests-1h", "Tokens", "Tokens-1h"} {
			h.Set("X-Ratelimit-Limit-"+window, "8000000")
			h.Set("X-Ratelimit-Remaining-"+window, "7990000")
			h.Set("X-Ratelimit-Reset-"+window, "1830")
		}
	case "claude-subscription":
		for _, window := range []string{"5h", "7d", "7d_oi"} {
			h.Set("Anthropic-Ratelimit-Unified-"+window+"-Status", "allowed")
			h.Set("Anthropic-Ratelimit-Unified-"+window+"-Reset", "1784984400")
			h.Set("Anthropic-Ratelimit-Unified-"+window+"-Utilization", "0.42")
		}
		h.Set("Anthropic-Ratelimit-Unified-Status", "allowed")
		h.Set("Anthropic-Ratelimit-Unified-Reset", "1784984400")
		h.Set("Anthropic-Ratelimit-Unified-Representative-Claim", "five_hour")
	case "openai-codex":
		for _, window := range []string{"Primary", "Secondary", "Bengalfox-Primary"} {
			h.Set("X-Codex-"+window+"-Used-Percent", "12.5")
			h.Set("X-Codex-"+window+"-Window-Minutes", "300")
			h.Set("X-Codex-"+window+"-Reset-At", "1784984400")
		}
		h.Set("X-Codex-Bengalfox-Limit-Name", "GPT-5.3-Codex-Spark")
		h.Set("X-Codex-Active-Limit", "codex")
		h.Set("X-Codex-Plan-Type", "pro")
	}
	return h
}

// BenchmarkRead200Headers reads what the twelve headers of a good answer measure: once per proxied request.
func BenchmarkRead200Headers(b *testing.B) {
	for _, provider := range []string{"nous-portal", "claude-subscription", "openai-codex"} {
		h := twelveHeaders(provider)
		b.Run(provider, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ReadHeaders(provider, h, benchAt)
			}
		})
	}
}

// TestReadHeadersAllocations holds the hot path to it: the buckets, and their ids in the making and as a string.
func TestReadHeadersAllocations(t *testing.T) {
	for provider, most := range map[string]float64{"nous-portal": 3, "claude-subscription": 3, "openai-codex": 3} {
		h := twelveHeaders(provider)
		if n := testing.AllocsPerRun(100, func() { ReadHeaders(provider, h, benchAt) }); n > most {
			t.Errorf("%s: %v allocations, want %v", provider, n, most)
		}
	}
}

// BenchmarkRead200Body reads a good answer whose body fills the limit.
func BenchmarkRead200Body(b *testing.B) {
	body := []byte(`{"id":"x","object":"chat.completion","choices":[{"message":{"content":"` + strings.Repeat("word ", BodyLimit/5) + `"}}]}`)
	r := Response{Provider: "openai", Status: 200, Header: rateHeaders(), Body: bytes.Clone(body), At: benchAt}
	b.ReportAllocs()
	b.SetBytes(BodyLimit)
	for b.Loop() {
		Read(r)
	}
}

// BenchmarkCheck asks a Standing with blocks of every scope: once per candidate of every plan.
func BenchmarkCheck(b *testing.B) {
	s := busyStanding()
	b.ReportAllocs()
	for b.Loop() {
		s.Check("gpt-4.1", "gpt", benchAt)
	}
}

// BenchmarkApplySuccess folds the success of a healthy account in: once per proxied request.
func BenchmarkApplySuccess(b *testing.B) {
	rd := ReadHeaders("openai", rateHeaders(), benchAt)
	c := Call{Model: "gpt-4.1", Family: "gpt", StartedAt: benchAt, At: benchAt}
	s := Standing{}.Apply(rd, c, testPolicy)
	b.ReportAllocs()
	for b.Loop() {
		s.Apply(rd, c, testPolicy)
	}
}

// busyStanding has a block of every scope, and some of other models.
func busyStanding() Standing {
	var s Standing
	for model, scope := range map[string]Scope{
		"gpt-4.1": ScopeModel, "gpt-5": ScopeModel, "o3": ScopeModel, "claude-opus-4": ScopeFamily, "gpt-4o": ScopeFamily, "m": ScopeAccount,
	} {
		rd := Reading{Class: RateLimited, Scope: scope, ResetAt: benchAt.Add(time.Hour)}
		s = s.Apply(rd, Call{Model: model, Family: Family(model), StartedAt: benchAt, At: benchAt}, testPolicy)
	}
	return s
}

// TestCheckAndFamilyDoNotAllocate holds the hot path to it.
func TestCheckAndFamilyDoNotAllocate(t *testing.T) {
	s := busyStanding()
	if n := testing.AllocsPerRun(100, func() {
		s.Check("gpt-4.1", Family("openai/GPT-4.1"), benchAt)
		s.Account(benchAt)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
