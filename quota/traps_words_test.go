package quota

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"testing"
	"time"
)

// TestTrap15BillingWordsOfDashScope: OpenAI's words for a bill stand on a limit of tokens per minute; only the link tells.
func TestTrap15BillingWordsOfDashScope(t *testing.T) {
	const bill = "You exceeded your current quota, please check your plan and billing details."
	body := func(words string) string {
		return `{"error":{"message":"` + words + `","type":"insufficient_quota","code":"insufficient_quota"}}`
	}
	trap(t, "dashscope", 429, nil, body(bill+" For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit"), "rate_limited model")
	trap(t, "dashscope", 429, nil, body(bill), "billing account")
	trap(t, "openai", 429, nil, body(bill), "billing account")
	trap(t, "dashscope", 429, nil, `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please increase your quota limit."}`, "rate_limited model")
	trap(t, "dashscope", 429, nil, `{"code":"Throttling.AllocationQuota","message":"Free allocated quota exceeded."}`, "quota_exhausted model")
}

// TestTrap16OddStatuses: quota, bills and contexts under statuses that mean something else.
func TestTrap16OddStatuses(t *testing.T) {
	trap(t, "kimi-code", 403, nil, `{"type":"error","error":{"type":"permission_error","message":"You've reached your usage limit for this billing cycle."}}`, "quota_exhausted account")
	trap(t, "kimi-code", 403, nil, `{"type":"error","error":{"type":"permission_error","message":"You do not have access to model k3-preview"}}`, "forbidden model")
	trap(t, "xai", 403, nil, `{"code":"permission-denied","error":"Your newly created team doesn't have any credits or licenses yet."}`, "billing account")
	trap(t, "fireworks", 412, nil, `{"error":{"message":"suspended"}}`, "billing account")
	trap(t, "minimax", 200, nil, `{"base_resp":{"status_code":1008,"status_msg":"x"}}`, "billing account")
	trap(t, "minimax", 500, nil, `{"type":"error","error":{"type":"api_error","message":"x (1008)"}}`, "billing account")
	trap(t, "anthropic", 400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, "billing account")
	trap(t, "llama.cpp", 500, nil, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, "context_too_long request")
	trap(t, "iflow", 200, nil, `{"status":"449","msg":"x","body":null}`, "rate_limited account")
}

// TestTrap17ErrorsAfterSuccess: a stream, an empty list of choices, a line of JSON or the text of an answer may be the
// error; words about errors are none.
func TestTrap17ErrorsAfterSuccess(t *testing.T) {
	stream := headers("Content-Type: text/event-stream")
	trap(t, "openrouter", 200, stream, ": OPENROUTER PROCESSING\n\ndata: {\"id\":\"g\",\"choices\":[],\"error\":{\"code\":502,\"message\":\"x\"}}\n\ndata: [DONE]\n\n", "server_error model")
	trap(t, "openrouter", 200, stream, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\",\"error\":{\"code\":429,\"message\":\"x\"}}]}\n\n", "rate_limited model")
	trap(t, "google-gemini-api", 200, stream, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"par\"}]}}]}\n\ndata: {\"error\":{\"code\":503,\"message\":\"x\",\"status\":\"UNAVAILABLE\"}}\n\n", "overloaded model")
	trap(t, "ollama", 200, nil, "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n{\"error\":\"unexpected EOF\"}\n", "server_error provider")
	trap(t, "claude-subscription", 200, nil, `{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|1784984400"}`,
		"quota_exhausted account after 3600000 until T13:00:00")
	trap(t, "antigravity", 200, nil, `{"choices":[{"message":{"content":"Error: API request failed (429): {\"error\":{\"code\":429,\"message\":\"Your quota will reset after 2h.\",\"status\":\"RESOURCE_EXHAUSTED\"}}"}}]}`,
		"quota_exhausted model after 7200000 until T14:00:00")
	for _, provider := range []string{"openai", "antigravity", "claude-subscription", "generic"} {
		trap(t, provider, 200, nil, `{"choices":[{"message":{"content":"Error: API request failed (429): quota exceeded, rate limit"}}],"error":null}`, "ok request")
		trap(t, provider, 200, stream, "data: {\"choices\":[{\"delta\":{\"content\":\"insufficient_quota\"}}]}\n\ndata: [DONE]\n\n", "ok request")
	}
}

// TestTrap18RetryAfter: zero, negative, passed, broken, in milliseconds only, in the body; a week is real.
func TestTrap18RetryAfter(t *testing.T) {
	for value, want := range map[string]string{
		"0": "rate_limited account", "-5": "rate_limited account", "Sat, 25 Jul 2026 11:59:00 GMT": "rate_limited account",
		"1.5": "rate_limited account after 1500 until T12:00:01.5", "465000": "quota_exhausted account after 465000000 until 2026-07-30T21:10:00",
		"604800": "quota_exhausted account after 604800000 until 2026-08-01T12:00:00",
	} {
		trap(t, "generic", 429, headers("Retry-After: "+value), `{}`, want)
	}
	trap(t, "generic", 429, headers("Retry-After-Ms: 1200"), `{}`, "rate_limited account after 1200 until T12:00:01.2")
	trap(t, "anthropic", 522, nil, `{"type":"https://x/","title":"Error 522: Connection timed out","status":522,"retryable":true,"retry_after":120}`, "timeout provider after 120000 until T12:02:00")
}

// TestTrap19WrappedBodies: compressed without a label, and an error inside a string inside an error behind a prefix.
func TestTrap19WrappedBodies(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(`{"error":{"code":"insufficient_quota","message":"x"}}`)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	trap(t, "openai", 429, nil, packed.String(), "billing account")
	trap(t, "litellm", 400, nil, `{"error":{"message":"litellm.BadRequestError: DeepseekException - {\"error\":{\"message\":\"Insufficient Balance\",\"code\":\"invalid_request_error\"}}. Received Model Group=x","code":"400"}}`, "billing account")
	trap(t, "openrouter", 400, nil, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"x\",\"code\":\"context_length_exceeded\"}}","provider_name":"X"}}}`, "context_too_long request")
	trap(t, "google-gemini-api", 429, nil, `{"error":{"message":"{\"error\":{\"code\":429,\"message\":\"x\",\"status\":\"RESOURCE_EXHAUSTED\",\"details\":[{\"@type\":\"r\",\"retryDelay\":\"26s\"}]}}","code":429,"status":"Too Many Requests"}}`,
		"rate_limited model after 26000 until T12:00:26")
}

// TestTrap20WordsThatLie: the same words and numbers mean other things elsewhere.
func TestTrap20WordsThatLie(t *testing.T) {
	throttled := headers("X-Amzn-Errortype: ThrottlingException:http://internal.amazon.com/coral/")
	trap(t, "aws-bedrock", 429, throttled, `{"message":"Too many tokens, please wait before trying again."}`, "rate_limited model")
	trap(t, "aws-bedrock", 429, throttled, `{"message":"Too many tokens per day, please wait before trying again."}`, "quota_exhausted model")
	trap(t, "openai", 400, nil, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","code":"unsupported_parameter"}}`, "invalid_request request stay")
	trap(t, "openrouter", 402, nil, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You can only afford 12.","code":402}}`, "billing account")
	trap(t, "groq", 498, nil, `{"error":{"message":"x"}}`, "overloaded model")
	trap(t, "cohere", 498, nil, `{"message":"x"}`, "content_policy request stay")
	trap(t, "claude-subscription", 429, headers("Content-Type: text/plain"), "5-hour limit reached ∙ resets 2am", "quota_exhausted account\n  claude.session ?/? 0%")
	trap(t, "claude-subscription", 429, headers("Content-Type: text/plain"), "You've hit your limit · resets 3pm (Europe/Paris)", "quota_exhausted account after 3600000 until T13:00:00")
}

// TestHeadersOfGoodAnswers (Q06): every 200 that carries windows is a free measurement, by its headers alone.
func TestHeadersOfGoodAnswers(t *testing.T) {
	for provider, c := range map[string]struct {
		header http.Header
		want   string
	}{
		"openai-codex": {headers("X-Codex-Secondary-Used-Percent: 40", "X-Codex-Secondary-Window-Minutes: 300", "X-Codex-Primary-Used-Percent: 7", "X-Codex-Primary-Window-Minutes: 10080",
			"X-Codex-Primary-Reset-After-Seconds: 60", "X-Codex-Credits-Has-Credits: False", "X-Codex-Plan-Type: free"), "codex.session ?/? 60%; codex.weekly ?/? 93% @T12:01:00"},
		"claude-subscription": {headers("Anthropic-Ratelimit-Unified-5h-Utilization: 0.25", "Anthropic-Ratelimit-Unified-5h-Reset: 2026-07-25T13:00:00Z"), "claude.session ?/? 75% @T13:00:00"},
		"anthropic":           {headers("Anthropic-Ratelimit-Tokens-Limit: 100", "Anthropic-Ratelimit-Tokens-Remaining: 99", "Anthropic-Ratelimit-Tokens-Reset: 2026-07-25T12:00:01Z"), "anthropic.tokens 99/100 99% @T12:00:01"},
		"github-copilot":      {headers("X-Quota-Snapshot-Premium_interactions: ent=300&rem=50.0&rst=2026-08-01T00%3A00%3A00Z"), "copilot.premium_interactions 150/300 50% @2026-08-01T00:00:00"},
		"mistral":             {headers("X-Ratelimit-Limit-Req-Minute: 60", "X-Ratelimit-Remaining-Req-Minute: 15"), "mistral.req_minute 15/60 25%"},
		"cerebras":            {headers("X-Ratelimit-Limit-Requests-Day: 10", "X-Ratelimit-Remaining-Requests-Day: 5", "X-Ratelimit-Reset-Requests-Day: 3600.5"), "cerebras.requests_day 5/10 50% @T13:00:00.5"},
		"together":            {headers("X-Tokenlimit-Limit: 8", "X-Tokenlimit-Remaining: 2"), "together.tokens 2/8 25%"},
		"groq":                {headers("X-Ratelimit-Limit-Tokens: 8", "X-Ratelimit-Remaining-Tokens: 2", "X-Ratelimit-Reset-Tokens: 7.66s"), "groq.tokens 2/8 25% @T12:00:07.66"},
	} {
		rd := ReadHeaders(provider, c.header, noon)
		if got := tell(rd.Buckets); got != c.want || rd.Class != OK || rd.Source != SourceProviderAPI || rd.RetryAfter != 0 || !rd.ResetAt.Equal(time.Time{}) {
			t.Errorf("%s: %q of %+v, want %q", provider, got, rd, c.want)
		}
	}
}
