package quota

import (
	"strings"
	"testing"
)

// TestQ02CloudCodePrecedence (Q02): of what Cloud Code states about time the absolute reset counts, then the delay of the
// error's metadata, then the typed wait, then prose. An account was benched for 29 s where 108 h were stated (CLIProxyAPI#3655).
func TestQ02CloudCodePrecedence(t *testing.T) {
	const (
		stamp  = `"quotaResetTimeStamp":"2026-07-29T12:00:00Z"`
		delay  = `"quotaResetDelay":"95h"`
		retry  = `,{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"345000s"}`
		prose  = ` Resets in 94h.`
		noText = ``
	)
	body := func(metadata []string, more, text string) string {
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You have exhausted your capacity on this model.` + text + `","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA_EXHAUSTED","domain":"cloudcode-pa.googleapis.com","metadata":{` +
			strings.Join(metadata, ",") + `}}` + more + `]}}`
	}
	f := func(body, until string) {
		t.Helper()
		r := Read(Response{Provider: "antigravity", Status: 429, Body: []byte(body), At: noon})
		if got := r.ResetAt.UTC().Format("2006-01-02T15:04:05"); r.Class != QuotaExhausted || got != until {
			t.Errorf("%s until %s, want until %s: %s", r.Class, got, until, body)
		}
	}
	f(body([]string{stamp, delay}, retry, prose), "2026-07-29T12:00:00")
	f(body([]string{delay}, retry, prose), "2026-07-29T11:00:00")
	f(body(nil, retry, prose), "2026-07-29T11:50:00")
	f(body(nil, "", prose), "2026-07-29T10:00:00")
	if r := Read(Response{Provider: "antigravity", Status: 429, Body: []byte(body(nil, "", noText)), At: noon}); !r.ResetAt.IsZero() {
		t.Errorf("a reset that nothing states: %v", r.ResetAt)
	}
}

// TestQ03ReasonDecides (Q03, Q04): the machine's reason tells a rate from a quota, whatever the words; without any detail it
// may be neither, so the account rests for a short while and no window of it is called spent (oh-my-pi#11689).
func TestQ03ReasonDecides(t *testing.T) {
	info := func(reason string) string {
		return `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted (e.g. check quota).","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","domain":"cloudcode-pa.googleapis.com"}]}}`
	}
	for body, want := range map[string]Class{
		info("RATE_LIMIT_EXCEEDED"): RateLimited,
		info("QUOTA_EXHAUSTED"):     QuotaExhausted,
		`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource has been exhausted (e.g. check quota)."}}`: RateLimited, // Q04
	} {
		if r := Read(Response{Provider: "antigravity", Status: 429, Body: []byte(body), At: noon}); r.Class != want || len(r.Buckets) > 0 {
			t.Errorf("%s with buckets %v, want %s without: %s", r.Class, r.Buckets, want, body)
		}
	}
}

// TestQ05CodexUsageLimit (Q05): the time stands in the body, absolute or not; the Python hub read neither (pi#4172).
func TestQ05CodexUsageLimit(t *testing.T) {
	trap(t, "openai-codex", 429, nil, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":1784991600}}`,
		"quota_exhausted account after 10800000 until T15:00:00")
	trap(t, "openai-codex", 429, nil, `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_in_seconds":7200}}`,
		"quota_exhausted account after 7200000 until T14:00:00")
}

// TestQ07ClaudeWindows (Q07): a refusal is the quota of the window that the headers name; an overload is nobody's quota.
func TestQ07ClaudeWindows(t *testing.T) {
	trap(t, "claude", 429, headers("Anthropic-Ratelimit-Unified-Status: rejected", "Anthropic-Ratelimit-Unified-Representative-Claim: five_hour",
		"Anthropic-Ratelimit-Unified-Reset: 1784984400", "Anthropic-Ratelimit-Unified-5h-Status: rejected", "Anthropic-Ratelimit-Unified-5h-Reset: 1784984400"), claudeRefusal,
		"quota_exhausted account after 3600000 until T13:00:00\n  claude.session ?/? 0% @T13:00:00")
	trap(t, "claude", 529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded provider")
}

// TestQ09MoneyAndEntitlement (Q09): an empty balance and a plan that was never booked have no reset, and are not the same
// (ccs#1733).
func TestQ09MoneyAndEntitlement(t *testing.T) {
	trap(t, "grok", 402, nil, `{"code":"personal-team-blocked:spending-limit","error":"Grok Build usage balance exhausted"}`, "billing account")
	r := trap(t, "opencode-go", 403, nil, `{"type":"error","error":{"type":"AuthError","message":"An active OpenCode Go subscription is required"}}`, "forbidden account")
	if !r.Failover {
		t.Error("another account may have the subscription")
	}
}

// A model that ended a call in the middle rested every account of its provider for minutes: it is this answer's trouble, and
// another account may do better.
func TestModelsSlipIsNobodysOutage(t *testing.T) {
	for _, provider := range []string{"gemini", "antigravity", "vertex"} {
		r := trap(t, provider, 200, nil, `{"error":{"code":500,"message":"The model ended its answer with MALFORMED_FUNCTION_CALL","status":"INTERNAL"}}`, "server_error request")
		if !r.Failover {
			t.Errorf("%s: no other account may be tried", provider)
		}
	}
}

// A project that is missing or another's came back to the client as its own mistake, and no other account was asked.
func TestProjectIsTheAccounts(t *testing.T) {
	r := trap(t, "antigravity", 400, nil, `{"error":{"code":400,"message":"Invalid project resource name projects/","status":"INVALID_ARGUMENT"}}`, "forbidden account")
	if !r.Failover {
		t.Error("no other account may be tried")
	}
}
