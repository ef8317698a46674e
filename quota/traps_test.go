package quota

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// trap reads an answer that came at noon and holds it to what it means, as tellReading writes it.
func trap(t *testing.T, provider string, status int, h http.Header, body, want string) Reading {
	t.Helper()
	r := Read(Response{Provider: provider, Status: status, Header: h, Body: []byte(body), At: noon})
	if got := tellReading(r); got != want {
		t.Errorf("%s %d %.120s: (%s)\n%s\nwant\n%s", provider, status, body, r.Reason, got, want)
	}
	return r
}

// The body of every 429 of a Claude subscription, whatever the reason.
const claudeRefusal = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`

// TestTrap01ModelWindowOfClaude: an account was benched for a week because one model's own window was rejected, and for
// ever because "overage-status: rejected" is what an organisation without credits always says.
func TestTrap01ModelWindowOfClaude(t *testing.T) {
	fable := headers(
		"Anthropic-Ratelimit-Unified-Status: rejected", "Anthropic-Ratelimit-Unified-5h-Status: allowed",
		"Anthropic-Ratelimit-Unified-7d-Status: allowed", "Anthropic-Ratelimit-Unified-7d_oi-Status: rejected",
		"Anthropic-Ratelimit-Unified-7d_oi-Reset: 1785067200", "Retry-After: 120",
	)
	r := trap(t, "claude-subscription", 429, fable, claudeRefusal,
		"quota_exhausted model_family after 120000 until 2026-07-26T12:00:00\n  claude.weekly.fable ?/? 0% @2026-07-26T12:00:00")
	if r.Family != "fable" {
		t.Errorf("family %q, want fable", r.Family)
	}
	trap(t, "claude-subscription", 200, headers("Anthropic-Ratelimit-Unified-Status: allowed", "Anthropic-Ratelimit-Unified-Overage-Status: rejected",
		"Anthropic-Ratelimit-Unified-5h-Utilization: 0.5"), `{"type":"message","content":[]}`, "ok request\n  claude.session ?/? 50%")
	// Served from paid overage: the answer is good, and the window tells that the plan is spent.
	trap(t, "claude-subscription", 200, headers("Anthropic-Ratelimit-Unified-Status: rejected", "Anthropic-Ratelimit-Unified-7d-Status: rejected",
		"Anthropic-Ratelimit-Unified-Overage-In-Use: true"), `{"type":"message","content":[]}`, "ok request\n  claude.weekly ?/? 0%")
}

// TestTrap02OnlyRejectedWindows: the reset of a window that allows benched accounts for days, and a utilization of 1.04 was
// taken for 1 %.
func TestTrap02OnlyRejectedWindows(t *testing.T) {
	trap(t, "claude-subscription", 429, headers(
		"Anthropic-Ratelimit-Unified-5h-Status: rejected", "Anthropic-Ratelimit-Unified-5h-Reset: 1784984400", "Anthropic-Ratelimit-Unified-5h-Utilization: 1.04",
		"Anthropic-Ratelimit-Unified-7d-Status: allowed", "Anthropic-Ratelimit-Unified-7d-Reset: 1785499200", "Anthropic-Ratelimit-Unified-7d-Utilization: 0.42",
	), claudeRefusal, "quota_exhausted account after 3600000 until T13:00:00\n  claude.session ?/? 0% @T13:00:00\n  claude.weekly ?/? 58% @2026-07-31T12:00:00")
	trap(t, "claude-subscription", 429, headers(
		"Anthropic-Ratelimit-Unified-5h-Status: rejected", "Anthropic-Ratelimit-Unified-5h-Reset: 1784984400",
		"Anthropic-Ratelimit-Unified-7d-Status: rejected", "Anthropic-Ratelimit-Unified-7d-Reset: 1785499200",
	), claudeRefusal, "quota_exhausted account after 518400000 until 2026-07-31T12:00:00\n  claude.session ?/? 0% @T13:00:00\n  claude.weekly ?/? 0% @2026-07-31T12:00:00")
	trap(t, "claude-subscription", 200, nil, `{"five_hour":{"utilization":1.0,"resets_at":null},"seven_day":{"utilization":61.5,"resets_at":null}}`,
		"ok account\n  claude.session ?/? 99%\n  claude.weekly ?/? 38.5%")
}

// TestTrap03LongContextIsOneRequest: the beta of a million tokens needs extra usage; the account was cooled for it.
func TestTrap03LongContextIsOneRequest(t *testing.T) {
	body := strings.Replace(claudeRefusal, "This request would exceed your account's rate limit. Please try again later.", "Extra usage is required for long context requests.", 1)
	r := trap(t, "claude-subscription", 429, headers("Retry-After: 3600"), body, "billing request after 3600000 until T13:00:00")
	if s := (Standing{}).Apply(r, Call{Model: "claude-opus-4", StartedAt: noon, At: noon}, testPolicy); s.Account(noon).State != Ready {
		t.Errorf("the account is %s", s.Account(noon).State)
	}
}

// TestTrap04CodexWindowsByLength: on the free plan the primary window is the weekly one and the secondary is not there; the
// active limit names the family that is out.
func TestTrap04CodexWindowsByLength(t *testing.T) {
	const body = `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}`
	trap(t, "openai-codex", 429, headers("X-Codex-Primary-Used-Percent: 100", "X-Codex-Primary-Window-Minutes: 10080", "X-Codex-Primary-Reset-At: 1785067200",
		"X-Codex-Secondary-Used-Percent: 0", "X-Codex-Secondary-Window-Minutes: 0", "X-Codex-Secondary-Reset-At: ", "X-Codex-Active-Limit: codex"),
		body, "quota_exhausted account after 86400000 until 2026-07-26T12:00:00\n  codex.weekly ?/? 0% @2026-07-26T12:00:00")
	spark := headers("X-Codex-Active-Limit: codex_bengalfox", "X-Codex-Primary-Used-Percent: 12", "X-Codex-Primary-Window-Minutes: 300",
		"X-Codex-Bengalfox-Primary-Used-Percent: 100", "X-Codex-Bengalfox-Primary-Window-Minutes: 300", "X-Codex-Bengalfox-Primary-Reset-At: 1784984400",
		"X-Codex-Bengalfox-Limit-Name: GPT-5.3-Codex-Spark")
	r := trap(t, "openai-codex", 429, spark, body, "quota_exhausted model_family after 3600000 until T13:00:00\n"+
		"  codex.session ?/? 88%\n  codex.session.gpt-5.3-codex-spark ?/? 0% @T13:00:00")
	if r.Family != "gpt-5.3-codex-spark" {
		t.Errorf("family %q", r.Family)
	}
}

// TestTrap05CodexAnywhere: usage_limit_reached under any status, in a stream and in a frame with its own headers; a 400
// that is overload; a token's end that only a header in base64 tells.
func TestTrap05CodexAnywhere(t *testing.T) {
	limit := `{"type":"usage_limit_reached","message":"x","resets_in_seconds":3600}`
	want := "quota_exhausted account after 3600000 until T13:00:00"
	for _, status := range []int{400, 404, 429} {
		trap(t, "openai-codex", status, nil, `{"error":`+limit+`}`, want)
	}
	trap(t, "openai-codex", 200, headers("Content-Type: text/event-stream"), "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":"+limit+"}}\n\n", want)
	trap(t, "openai-codex", 429, nil, `{"type":"error","status":429,"body":{"error":`+limit+`},"headers":{"X-Codex-Primary-Used-Percent":"100","X-Codex-Primary-Window-Minutes":"300"}}`,
		want+"\n  codex.session ?/? 0%")
	trap(t, "openai-codex", 400, nil, `{"error":{"message":"Selected model is at capacity. Please try a different model."}}`, "overloaded model")
	trap(t, "openai-codex", 401, headers("X-Error-Json: eyJlcnJvciI6eyJjb2RlIjoidG9rZW5fZXhwaXJlZCJ9fQ=="), `{"detail":"Unauthorized"}`, "auth_expired account")
	trap(t, "openai-codex", 400, nil, `{"type":"error","status":400,"error":{"code":"websocket_connection_limit_reached","message":"connection limit reached (60 minutes)"}}`,
		"server_error request stay after 0")
}

// TestTrap06LargerThanTheRate: one request above the whole rate was retried for ever, with the wait that the answer states.
func TestTrap06LargerThanTheRate(t *testing.T) {
	words := "on tokens per minute (TPM): Limit 7000, Used 0, Requested ~12903. Please try again in 50.597142857s."
	trap(t, "groq", 429, nil, `{"error":{"message":"Rate limit reached for model x in organization o `+words+`","type":"tokens","code":"rate_limit_exceeded"}}`,
		"request_too_large request\n  groq.tokens_per_minute 7000/7000 100%")
	trap(t, "groq", 413, nil, `{"error":{"message":"Request too large","type":"tokens","code":"rate_limit_exceeded"}}`, "request_too_large request")
	trap(t, "azure-openai", 429, headers("Retry-After: 86400"), `{"error":{"code":"429","message":"have exceeded token rate limit. Please retry after 86400 seconds."}}`, "request_too_large model")
	trap(t, "azure-openai", 429, headers("Retry-After: 86399"), `{"error":{"code":"429","message":"have exceeded token rate limit."}}`, "quota_exhausted model after 86399000 until 2026-07-26T11:59:59")
}

// TestTrap07FourHints: x-ratelimit-reset-* is the time to a full refill; of four hints in one answer the milliseconds count.
func TestTrap07FourHints(t *testing.T) {
	trap(t, "openai", 429, headers("Retry-After-Ms: 494", "Retry-After: 1", "X-Ratelimit-Limit-Tokens: 40", "X-Ratelimit-Remaining-Tokens: 0", "X-Ratelimit-Reset-Tokens: 1m0.052s"),
		`{"error":{"message":"Please try again in 494ms.","code":"rate_limit_exceeded"}}`, "rate_limited model after 494 until T12:00:00.494\n  openai.tokens 0/40 0% @T12:01:00.052")
}

// TestTrap08ADayThatRefills: "per day" of OpenAI and Groq is a bucket that refills all the time, and may be full in seconds.
func TestTrap08ADayThatRefills(t *testing.T) {
	trap(t, "openai", 429, nil, `{"error":{"message":"Rate limit reached for m in organization o on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","code":"rate_limit_exceeded"}}`,
		"rate_limited model after 432000 until T12:07:12\n  openai.requests_per_day 0/200 0%")
}

// TestTrap09FalseDelayOfADay: Google's RetryInfo invites back in ten seconds after a day's quota is gone, and in twenty for a
// model that the tier does not have.
func TestTrap09FalseDelayOfADay(t *testing.T) {
	body := func(words, id, value, delay string) string {
		detail, err := json.Marshal([]any{
			map[string]any{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{map[string]any{"quotaId": id, "quotaValue": value}}},
			map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
		})
		if err != nil {
			t.Fatal(err)
		}
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"` + words + `","details":` + string(detail) + `}}`
	}
	trap(t, "google-gemini-api", 429, nil, body("Quota exceeded", "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "50", "10s"),
		"quota_exhausted model\n  gemini.requests_per_day ?/50 0%")
	trap(t, "google-gemini-api", 429, nil, body("Quota exceeded", "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0", "20s"),
		"billing model\n  gemini.requests_per_minute ?/0 0%")
	trap(t, "google-gemini-api", 429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded for metric: ...\nlimit: 0.5. Please retry in 59s."}}`,
		"rate_limited model after 59000 until T12:00:59")
}

// TestTrap10CloudCodeReasons: ten accounts were benched for a model without capacity; a bare RESOURCE_EXHAUSTED comes while
// there is quota.
func TestTrap10CloudCodeReasons(t *testing.T) {
	body := func(words, reason string) string {
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"` + words + `","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","domain":"cloudcode-pa.googleapis.com,","metadata":{"model":"gemini-3-pro"}}]}}`
	}
	trap(t, "antigravity", 429, nil, body("Quota exceeded for limit 'Requests per day per user per tier'.", "RATE_LIMIT_EXCEEDED"), "quota_exhausted model")
	trap(t, "antigravity", 429, nil, body("x", "RATE_LIMIT_EXCEEDED"), "rate_limited model")
	trap(t, "antigravity", 429, nil, body("No capacity available for model gemini-3-pro on the server", "MODEL_CAPACITY_EXHAUSTED"), "overloaded model")
	trap(t, "antigravity", 429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted (e.g. check quota)."}}`, "rate_limited model")
}

// TestTrap11MissingFractionIsZero: Antigravity leaves out what is zero, and a pool of five hours is no use beside a spent week.
func TestTrap11MissingFractionIsZero(t *testing.T) {
	trap(t, "antigravity", 200, nil, `{"models":{"gemini-3-pro":{"quotaInfo":{"resetTime":"2026-07-25T15:00:00Z"}}}}`,
		"ok account\n  antigravity.gemini.model_pool ?/? 0% @T15:00:00\n  antigravity.gemini.gemini-3-pro ?/? 0% @T15:00:00")
	trap(t, "antigravity", 200, nil, `{"groups":[{"displayName":"Gemini","buckets":[{"bucketId":"gemini-weekly","window":"weekly","remainingFraction":0},{"bucketId":"gemini-5h","window":"5h","remainingFraction":1}]},`+
		`{"displayName":"Third party","buckets":[{"bucketId":"3p-5h","window":"5h","remainingFraction":0.5},{"bucketId":"3p-weekly","window":"weekly","remainingFraction":0.8}]}]}`,
		"ok account\n  antigravity.claude.5h ?/? 50%\n  antigravity.gemini.5h ?/? 100%\n  antigravity.claude.7d ?/? 80%\n  antigravity.gemini.7d ?/? 0%") // Q15
}

// TestTrap12BeijingTime: Zhipu writes local time without saying so, and was read eight hours late; 1302 is concurrency,
// 1113 a bill under 429.
func TestTrap12BeijingTime(t *testing.T) {
	trap(t, "zhipu", 429, nil, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-07-25 21:00:00"}}`,
		"quota_exhausted account after 3600000 until T13:00:00\n  zhipu.5h ?/? 0% @T13:00:00")
	trap(t, "generic", 429, nil, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-07-25 21:00:00"}}`,
		"quota_exhausted account\n  generic.5h ?/? 0%")
	trap(t, "zhipu", 429, nil, `{"error":{"code":"1302","message":"Rate limit reached for requests"}}`, "rate_limited account")
	trap(t, "zhipu", 429, nil, `{"error":{"code":"1113","message":"x"}}`, "billing account")
}

// TestTrap13OpenCodes401: the key was deleted because credit ran out; the words floor days that Retry-After has exactly.
func TestTrap13OpenCodes401(t *testing.T) {
	for kind, want := range map[string]string{
		"AuthError": "auth_invalid account", "CreditsError": "billing account", "MonthlyLimitError": "billing account",
		"UserLimitError": "billing account", "ModelError": "model_not_found model",
	} {
		trap(t, "opencode-zen", 401, nil, `{"type":"error","error":{"type":"`+kind+`","message":"x"}}`, want)
	}
	trap(t, "opencode-go", 429, headers("Retry-After: 395000"), `{"type":"error","error":{"type":"GoUsageLimitError","message":"Weekly usage limit reached. Resets in 4 days."}}`,
		"quota_exhausted account after 395000000 until 2026-07-30T01:43:20\n  opencode.7d ?/? 0% @2026-07-30T01:43:20")
}

// TestTrap14OneHeaderFourUnits: the same header is a duration, seconds, seconds since 1970 or milliseconds; -1 and 0 are
// unknown, not exhausted.
func TestTrap14OneHeaderFourUnits(t *testing.T) {
	for reset, want := range map[string]string{
		"1m0s": " @T12:01:00", "60": " @T12:01:00", "60.5": " @T12:01:00.5", "1784980860": " @T12:01:00", "1784980860000": " @T12:01:00",
		"2026-07-25T12:01:00Z": " @T12:01:00", "Sat, 25 Jul 2026 12:01:00 GMT": " @T12:01:00", "0": "", "-1": "", "": "", "soon": "", "9999999999": "",
	} {
		trap(t, "generic", 200, headers("X-Ratelimit-Limit: 4", "X-Ratelimit-Remaining: 1", "X-Ratelimit-Reset: "+reset), `{"choices":[]}`, "ok request\n  generic.ratelimit 1/4 25%"+want)
	}
	trap(t, "azure-openai", 200, headers("X-Ratelimit-Limit-Tokens: -1", "X-Ratelimit-Remaining-Tokens: -1", "X-Ratelimit-Reset-Tokens: 0"), `{"choices":[]}`, "ok request")
}
