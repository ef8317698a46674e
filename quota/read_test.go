package quota

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// verdictOf reads a response and tells class, scope and whether another account may help, in one line.
func verdictOf(status int, contentType, body string) string {
	r := Read(Response{Provider: "generic", Status: status, Header: headers("Content-Type: " + contentType), Body: []byte(body), At: noon})
	return fmt.Sprintf("%s %s %v", r.Class, r.Scope, r.Failover)
}

// TestStatusAlone: what each status means when the body says nothing.
func TestStatusAlone(t *testing.T) {
	for status, want := range map[int]string{
		200: "server_error provider true", // an empty success is none
		204: "ok request false",
		101: "ok request false",
		302: "server_error provider true",
		400: "invalid_request request false",
		401: "auth_invalid account true",
		402: "billing account true",
		403: "forbidden account true",
		404: "model_not_found provider true", // no route there: the account's address is wrong
		405: "model_not_found request true",
		409: "server_error request true",
		408: "timeout provider true",
		410: "model_not_found model true",
		413: "request_too_large request false",
		422: "invalid_request request false",
		425: "server_error provider true",
		429: "rate_limited account true",
		451: "forbidden account true",
		500: "server_error provider true",
		502: "server_error provider true",
		503: "overloaded provider true",
		504: "timeout provider true",
		520: "server_error provider true",
		522: "timeout provider true",
		524: "timeout provider true",
		529: "overloaded provider true",
		999: "server_error provider true",
		0:   "server_error provider true",
	} {
		if got := verdictOf(status, "application/json", ""); got != want {
			t.Errorf("%d is %s, want %s", status, got, want)
		}
	}
}

// TestP22ErrorInSuccess (P22): a 200 whose envelope is an error is a failure; one that only speaks of errors is not. The
// Python hub handed the former to the client as an answer.
func TestP22ErrorInSuccess(t *testing.T) {
	const sse, js = "text/event-stream", "application/json"
	for _, c := range []struct{ contentType, body, want string }{
		{js, `{"error":{"message":"The server had an error"}}`, "server_error provider true"},
		{js, `{"error":{"code":"insufficient_quota","message":"x"}}`, "billing account true"},
		{js, `{"error":"Rate limit exceeded"}`, "rate_limited account true"},
		{js, `{"error":{"code":429,"message":"x"}}`, "rate_limited account true"},
		{js, `[{"error":{"code":503,"message":"x"}}]`, "overloaded provider true"},
		{js, `{"object":"response","status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`, "server_error provider true"},
		{js, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded provider true"},
		{js, `{"code":"invalid_api_key","message":"x"}`, "auth_invalid account true"},
		{js, `{"success":false}`, "server_error provider true"},
		{js, `{"detail":"Unauthorized"}`, "server_error provider true"},
		{js, ``, "server_error provider true"},
		{"text/html", `<!DOCTYPE html><title>Sign in</title>`, "server_error provider true"},
		{sse, "event: error\ndata: {\"message\":\"x\",\"code\":\"rate_limit_exceeded\"}\n\n", "rate_limited account true"},
		{sse, "event: error\ndata: Rate limit exceeded\n\n", "rate_limited account true"},
		{sse, "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"error\":{\"message\":\"Overloaded\"}}\n\n", "overloaded provider true"},
		{sse, "data: {\"type\":\"response.failed\",\"response\":{\"error\":null}}\n\n", "server_error provider true"},
		{sse, "data: {\"error\":\ndata: {\"code\":\"rate_limit_exceeded\"}}\n\n", "rate_limited account true"}, // one event, two lines
		{sse, ": keep-alive\n\n", "server_error provider true"},
		{sse, "data: [DONE]\n\n", "server_error provider true"},
		{"application/x-ndjson", "{\"response\":\"a\"}\n{\"error\":\"model overloaded\"}\n", "overloaded provider true"},

		{js, `{"id":"x","choices":[{"message":{"content":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}],"error":null}`, "ok request false"},
		{js, `{"choices":[],"error":{}}`, "ok request false"},
		{js, `{"choices":[],"error":""}`, "ok request false"},
		{js, `{"type":"message","content":[{"type":"text","text":"rate limit exceeded"}]}`, "ok request false"},
		{js, `{"code":0,"message":"success","data":{}}`, "ok request false"},
		{js, `{"object":"list","data":[]}`, "ok request false"},
		{sse, "data: {\"choices\":[{\"delta\":{\"content\":\"data: {\\\"error\\\":1}\"}}]}\n\ndata: [DONE]\n\n", "ok request false"},
		{sse, "event: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n", "ok request false"},
	} {
		if got := verdictOf(200, c.contentType, c.body); got != c.want {
			t.Errorf("200 %s is %s, want %s", c.body, got, c.want)
		}
	}
}

// TestP23AnyBody (P23): the classifier answers, whatever comes.
func TestP23AnyBody(t *testing.T) {
	for name, body := range map[string]string{
		"object": `{"error":{"message":"x"}}`, "string": `"Too many requests"`, "html": "<html>", "empty": "", "null": "null",
		"10 MB": strings.Repeat("x", 10<<20), "10 MB of JSON": `{"error":{"message":"` + strings.Repeat("a b ", 5<<19) + `"}}`,
		"10 MB of brackets": strings.Repeat("[", 10<<20), "nested strings": nestedStrings(40), "binary": "\x00\xff\x1f\x8b",
		"broken JSON": `{"error":{"message":`, "wrong types": `{"error":{"message":{"a":1},"code":[1],"type":null,"details":{"x":[]}}}`,
		"not UTF-8": "{\"error\":\"\xff\xfe\"}", "many lines": strings.Repeat("data: {}\n\n", 100000),
	} {
		for _, status := range []int{200, 400, 429, 500} {
			r := Read(Response{Provider: "generic", Status: status, Body: []byte(body), At: noon})
			if usualScopes[r.Class] == "" {
				t.Errorf("%d with %s has class %q", status, name, r.Class)
			}
		}
	}
	if got := verdictOf(500, "application/json", `"Too many requests"`); got != "rate_limited account true" {
		t.Errorf("a JSON string is read as %s", got)
	}
}

// nestedStrings is an error inside a string inside an error, many times over.
func nestedStrings(n int) string {
	s := `{"message":"quota exceeded"}`
	for range n {
		s = fmt.Sprintf(`{"error":{"message":%q}}`, s)
		if len(s) > 1<<20 {
			break
		}
	}
	return s
}

// TestP24WordsThatLie (P24): the Python hub looked for "rate" and "token" anywhere in a message. "maximum context length is
// 8192 tokens" became a refused credential, "failed to generate content" a rate limit, and healthy accounts were benched.
func TestP24WordsThatLie(t *testing.T) {
	for _, c := range []struct {
		status        int
		message, want string
	}{
		{400, "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", "context_too_long request true"},
		{500, "failed to generate content", "server_error provider true"},
		{502, "Failed to generate content: operation aborted", "server_error provider true"},
		{400, "Unsupported parameter: 'max_tokens' is not supported with this model.", "invalid_request request false"},
		{400, "temperature must be a moderate value", "invalid_request request false"},
		{400, "accurate limits are required", "invalid_request request false"},
		{400, "The token 'foo' is not allowed in a tool name", "invalid_request request false"},
		{400, "unlimited quota exceeds nothing", "invalid_request request false"},
		{500, "corporate limitation", "server_error provider true"},
		{401, "Invalid token", "auth_invalid account true"},
		{401, "Token has expired", "auth_expired account true"},
		{403, "Rate limit exceeded for this key", "rate_limited account true"},
		{400, "Your credit balance is too low to access the API", "billing account true"},
		{400, "The model `gpt-9` does not exist", "model_not_found model true"},
		{404, "The model 'gpt-9' does not exist or you do not have access to it.", "model_not_found model true"},
		{404, "Conversation not found", "invalid_request request false"},
		{403, "You do not have access to the model gpt-9", "forbidden model true"},
		{400, "Your request was flagged by our safety system", "content_policy request false"},
		{413, "payload too large", "request_too_large request false"},
		{429, "Quota exceeded for requests per minute", "rate_limited account true"},
		{429, "Quota exceeded", "quota_exhausted account true"},
		{429, "You’ve hit your usage‑limit", "rate_limited account true"}, // a hyphen that is not one
		{429, "You’ve hit your usage-limit", "quota_exhausted account true"},
		{429, "You exceeded your current quota, please check your plan and billing details.", "billing account true"},
		{429, "You exceeded your current quota, please check your plan and billing details. Please retry in 44s.", "rate_limited account true"},
		{503, "We're overloaded, rate limits apply", "overloaded provider true"},
		{404, "Not Found", "model_not_found request true"}, // the account has no such route; another's may
		{404, "Invalid URL (POST /v1/embeddings)", "model_not_found request true"},
		{404, "404 page not found", "model_not_found request true"},
		{404, "File not found", "invalid_request request false"},
		{500, "1 validation error for Request", "invalid_request request false"},
		{402, "Weekly usage limit reached", "quota_exhausted account true"},
		{402, "Usage limit reached", "billing account true"},
		{402, "Usage limit reached, try again in 5 minutes", "rate_limited account true"},
		{402, "Usage limit reached, try again in 5 hours", "quota_exhausted account true"},
	} {
		if got := verdictOf(c.status, "application/json", fmt.Sprintf(`{"error":{"message":%q}}`, c.message)); got != c.want {
			t.Errorf("%d %q is %s, want %s", c.status, c.message, got, c.want)
		}
	}
}

// TestQ08QuotaOrRate (Q08): OpenAI's two refusals, the rate with its delay in seconds or as a date.
func TestQ08QuotaOrRate(t *testing.T) {
	for _, c := range []struct {
		code, retryAfter string
		class            Class
		scope            Scope
		wait             time.Duration
	}{
		{"insufficient_quota", "20", Billing, ScopeAccount, 20 * time.Second},
		{"insufficient_quota", "", Billing, ScopeAccount, 0},
		{"rate_limit_exceeded", "20", RateLimited, ScopeModel, 20 * time.Second},
		{"rate_limit_exceeded", "Sat, 25 Jul 2026 12:00:20 GMT", RateLimited, ScopeModel, 20 * time.Second},
		{"rate_limit_exceeded", "7200", QuotaExhausted, ScopeModel, 2 * time.Hour}, // nobody's minute lasts two hours
	} {
		r := Read(Response{
			Provider: "openai", Status: 429, At: noon, Header: headers("Retry-After: " + c.retryAfter),
			Body: fmt.Appendf(nil, `{"error":{"message":"refused","type":"x","param":null,"code":%q}}`, c.code),
		})
		if r.Class != c.class || r.Scope != c.scope || r.RetryAfter != c.wait || !r.Failover || r.Reason != "code:"+c.code {
			t.Errorf("%s after %q: %+v", c.code, c.retryAfter, r)
		}
	}
}

// TestQ01LongCompoundWait (Q01): "Resets in 108h48m29s." is 391709 s; the Python hub read 29.
func TestQ01LongCompoundWait(t *testing.T) {
	r := Read(Response{Status: 429, At: noon, Body: []byte(`{"error":{"message":"You have exhausted your capacity. Resets in 108h48m29s."}}`)})
	if r.RetryAfter != 391709*time.Second || r.Class != QuotaExhausted {
		t.Errorf("%s after %v", r.Class, r.RetryAfter)
	}
}

// TestQ10ImpossibleResets (Q10): a reset in the past, negative, not a number or more than 400 days ahead is unknown.
func TestQ10ImpossibleResets(t *testing.T) {
	for _, v := range []string{"1700000000", "-5", `"NaN"`, `"-1h"`, "4102444800", "1e300", `"2026-07-25T11:59:59Z"`, `"2028-01-01T00:00:00Z"`, "null", "{}"} {
		body := fmt.Appendf(nil, `{"error":{"code":"usage_limit_reached","resets_at":%s,"resets_in_seconds":%s}}`, v, v)
		r := Read(Response{Status: 429, At: noon, Body: body, Header: headers("Retry-After: "+v, "X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 0", "X-Ratelimit-Reset: "+v)})
		if !r.ResetAt.IsZero() || r.RetryAfter != 0 {
			t.Errorf("%s: reset %v after %v, want unknown", v, r.ResetAt, r.RetryAfter)
		}
	}
}

// TestReasonsAreOurs: what a response says never gets into a Reason, which becomes a log field and a metric label.
func TestReasonsAreOurs(t *testing.T) {
	secret := "sk-canary-4711"
	for _, body := range []string{
		`{"error":{"code":"` + secret + `","message":"` + secret + `"}}`, secret, `"` + secret + `"`,
		`{"error":{"type":"rate_limit_error","message":"quota exceeded for ` + secret + `"}}`,
	} {
		for _, status := range []int{200, 401, 429, 500} {
			r := Read(Response{Status: status, Body: []byte(body), Header: headers("Content-Encoding: " + secret), At: noon})
			if strings.Contains(r.Reason, secret) {
				t.Errorf("%d %s: reason %q", status, body, r.Reason)
			}
		}
	}
}

// TestReadLeavesTheBodyAlone: the caller still has to relay it.
func TestReadLeavesTheBodyAlone(t *testing.T) {
	body := []byte("data: {\"error\":\ndata: {\"code\":\"x\"}}\n\n{\"error\":1}\n\n")
	was := bytes.Clone(body)
	Read(Response{Status: 200, Body: body, At: noon})
	if !bytes.Equal(body, was) {
		t.Errorf("the body became %q", body)
	}
}

// TestBadBodies: what cannot be read is judged by the status, and the reason says so.
func TestBadBodies(t *testing.T) {
	wrapped := `{"message":"x"}`
	for range 300 {
		wrapped = `{"error":` + wrapped + `}`
	}
	for name, c := range map[string]struct {
		status     int
		header     []string
		body, want string
	}{
		"2 MB of HTML":   {502, nil, "<html>" + strings.Repeat("<p>quota exceeded</p>", 100_000), "server_error status:502"},
		"cut JSON":       {429, nil, `{"error":{"message":"Som`, "rate_limited status:429 body:broken_json"},
		"cut, with code": {429, nil, `{"error":{"code":"insufficient_quota","message":"Som`, "billing code:insufficient_quota"},
		"binary":         {503, nil, "\x00\x01\x02\xff", "overloaded status:503 body:binary"},
		"300 wrappers":   {429, nil, wrapped, "rate_limited status:429"},
		"contradictory headers": {
			429,
			[]string{"Retry-After: -1", "Retry-After-Ms: soon", "X-Ratelimit-Limit: 5", "X-Ratelimit-Remaining: 9", "X-Ratelimit-Reset: 0", "X-Should-Retry: true"},
			"", "rate_limited status:429",
		},
	} {
		r := Read(Response{Provider: "openai", Status: c.status, Header: headers(c.header...), Body: []byte(c.body), At: noon})
		if got := string(r.Class) + " " + r.Reason; got != c.want || r.RetryAfter != 0 || !r.ResetAt.IsZero() {
			t.Errorf("%s: %s after %v, want %s", name, got, r.RetryAfter, c.want)
		}
	}
}
