package quota

import "testing"

// A minute of Gemini's was told as "phrase:check your plan and billing details", and a window that Claude's headers refuse
// as "phrase:rate limit": the reason names what was passed over instead of what decided.
func TestReasonNamesWhatDecides(t *testing.T) {
	const claude = `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}`
	gemini := func(id, value string) string {
		return `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED",
			"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"x/requests","quotaId":"` + id + `","quotaValue":"` + value + `"}]}]}}`
	}
	for want, r := range map[string]Response{
		"rate_limited quota:per_minute": {Provider: "gemini", Body: []byte(gemini("GenerateRequestsPerMinutePerProjectPerModel", "15"))},
		"quota_exhausted quota:per_day": {Provider: "gemini", Body: []byte(gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "20"))},
		"billing quota:none":            {Provider: "gemini", Body: []byte(gemini("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "0"))},
		"quota_exhausted header:anthropic-ratelimit-unified": {Provider: "claude", Body: []byte(claude), Header: headers(
			"Anthropic-Ratelimit-Unified-Status: rejected", "Anthropic-Ratelimit-Unified-5h-Status: rejected")},
		"rate_limited phrase:rate limit": {Provider: "claude", Body: []byte(claude)},
	} {
		r.Status, r.At = 429, noon
		if rd := Read(r); string(rd.Class)+" "+rd.Reason != want {
			t.Errorf("%s %s, want %s", rd.Class, rd.Reason, want)
		}
	}
}
