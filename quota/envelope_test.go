package quota

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"
)

// TestEnvelopes: the innermost error is found in every shape that providers, SDKs and gateways put around one.
func TestEnvelopes(t *testing.T) {
	const inner = `{"message":"quota exceeded","type":"x","code":"usage_limit_reached"}`
	const quoted = `"{\"error\":{\"message\":\"quota exceeded\",\"code\":\"usage_limit_reached\"}}"`
	for name, body := range map[string]string{
		"error":                  `{"error":` + inner + `}`,
		"top level":              inner,
		"array":                  `[{"error":` + inner + `}]`,
		"error.error":            `{"error":{"error":` + inner + `,"code":429}}`,
		"body.error":             `{"status":429,"body":{"error":` + inner + `}}`,
		"response.error":         `{"type":"response.failed","response":{"error":` + inner + `}}`,
		"detail":                 `{"detail":` + inner + `}`,
		"errors":                 `{"success":false,"errors":[` + inner + `]}`,
		"innererror":             `{"error":{"code":"429","innererror":` + inner + `}}`,
		"details":                `{"error":{"code":429,"details":[{"@type":"a"},` + inner + `]}}`,
		"message is an object":   `{"message":` + inner + `}`,
		"string in message":      `{"error":{"message":` + quoted + `,"code":429}}`,
		"string behind prefix":   `{"error":{"message":"Upstream error:\n{\"error\":{\"message\":\"x\",\"code\":\"usage_limit_reached\"}} Received Model Group=a","code":500}}`,
		"string after a brace":   `{"error":{"message":"in {braces}: {\"error\":{\"code\":\"usage_limit_reached\"}}"}}`,
		"error is a string":      `{"error":` + quoted + `}`,
		"error is a code":        `{"error":"usage_limit_reached","message":"x"}`,
		"camel case":             `{"error":{"type":"UsageLimitReached"}}`,
		"upper case":             `{"error":{"status":"USAGE_LIMIT_REACHED"}}`,
		"string in raw":          `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":` + quoted + `}}}`,
		"string in param":        `{"error":{"message":"x","param":` + quoted + `}}`,
		"error_type of metadata": `{"error":{"message":"x","metadata":{"error_type":"usage_limit_reached"}}}`,
		"string in a string":     `"{\"error\":{\"code\":\"usage_limit_reached\"}}"`,
	} {
		var codes []string
		for _, f := range faultsOf(gjson.Parse(body)).faults {
			codes = append(codes, f.codes...)
		}
		if !slices.Contains(codes, "usage_limit_reached") {
			t.Errorf("%s: codes %q of %s", name, codes, body)
		}
		if r := Read(Response{Status: 429, Body: []byte(body), At: noon}); r.Class != QuotaExhausted {
			t.Errorf("%s: %s (%s)", name, r.Class, r.Reason)
		}
	}
}

// TestInnermostFirst: a gateway's own code does not hide the upstream's.
func TestInnermostFirst(t *testing.T) {
	body := `{"error":{"message":"litellm.RateLimitError: {\"error\":{\"code\":\"context_length_exceeded\"}}","code":"rate_limit_exceeded"}}`
	if r := Read(Response{Status: 429, Body: []byte(body), At: noon}); r.Class != ContextTooLong {
		t.Errorf("%s (%s), want the upstream's context_too_long", r.Class, r.Reason)
	}
}

// TestCodeName: the spellings of one code.
func TestCodeName(t *testing.T) {
	for text, want := range map[string]string{
		"RateLimitError": "rate_limit_error", "rate-limit-error": "rate_limit_error", "RATE_LIMIT_ERROR": "rate_limit_error",
		"Too Many Requests": "too_many_requests", " 429 ": "429", "GoUsageLimitError": "go_usage_limit_error", "": "",
	} {
		if got := codeName(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestFamily: the word of the last part of the name that comes first.
func TestFamily(t *testing.T) {
	for model, want := range map[string]string{
		"gemini-3-pro": "gemini", "models/gemini-3-flash": "gemini", "claude-opus-4.5": "claude", "anthropic/Claude-Sonnet-4": "claude",
		"gpt-5.1": "gpt", "chatgpt-4o-latest": "gpt", "openai/gpt-oss-120b": "gpt", "o1": "o1", "o1-mini": "o1", "o3-pro": "o3", "pro1": "default",
		"deepseek-r1-distill-qwen-32b": "deepseek", "kimi-k2": "kimi", "Qwen3-Coder": "qwen", "grok-4.5-build-free": "grok", "z-ai/glm-5.3": "glm",
		"mimo-v2": "mimo", "MiniMax-M2": "minimax", "llama-4": "default", "": "default", "claude-proxy/llama": "default", "gpt/": "default",
	} {
		if got := Family(model); got != want {
			t.Errorf("family of %q is %s, want %s", model, got, want)
		}
	}
}
