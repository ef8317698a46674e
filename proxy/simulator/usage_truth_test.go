package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestUsageIsTrue proves that usage endpoints tell what the account does: a quota that is spent has nothing left anywhere, one
// that never resets names no reset, one that has none does not run out, and one that was not touched ends when it would.
func TestUsageIsTrue(t *testing.T) {
	claude := http.Header{"Authorization": {"Bearer sk-a"}, "Anthropic-Beta": {"oauth-2025-04-20"}}
	f := func(quota simulator.Quota, spend bool, ask string, header http.Header, wants ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			method, path, _ := strings.Cut(ask, " ")
			c := inMemory(path, header, simulator.Account{Name: "a", Key: "sk-a", Models: []string{"m"}, Quota: quota})
			if spend {
				c.SpendQuota("a")
			}
			_, got := c.say(t, "{}", func(req *http.Request) { req.Method = method })
			for _, want := range wants {
				if !strings.Contains(got, want) {
					t.Errorf("%s is\n%s\nwant %s", ask, got, want)
				}
			}
		})
	}
	forGood := simulator.Quota{Calls: 4}
	const codex, oauth, cloud, plan = "GET /wham/usage", "GET /api/oauth/usage", "POST /v1internal:retrieveUserQuotaSummary", "GET /zen/go/v1/usage"

	f(forGood, true, codex, codexHeader, `"primary_window":{"used_percent":100,"limit_window_seconds":18000},`, `"secondary_window":{"used_percent":0,"limit_window_seconds":604800,"reset_after_seconds":604800,`)
	f(forGood, true, oauth, claude, `"five_hour":{"utilization":100,"resets_at":null}`)
	f(forGood, true, cloud, bearerHeader, `{"bucketId":"gemini-5h","window":"5h"}`, `{"bucketId":"3p-5h","window":"5h"}`)
	f(forGood, true, "POST /v1internal:fetchAvailableModels", bearerHeader, `"quotaInfo":{}`)
	f(forGood, true, plan, bearerHeader, `"rolling":{"status":"rate-limited","percent":100}`)

	f(forGood, true, "GET /api/v1/key", bearerHeader, `"limit":4,"limit_remaining":0,"limit_reset":null,"usage":4`)
	f(forGood, true, "GET /api/v1/credits", bearerHeader, `{"total_credits":4,"total_usage":4}`)
	f(forGood, true, "GET /user/balance", bearerHeader, `"total_balance":"0.00"`, `"is_available":false`)
	f(simulator.Quota{}, true, "GET /api/v1/credits", bearerHeader, `{"total_credits":1,"total_usage":1}`)

	f(simulator.Quota{}, false, "GET /api/v1/credits", bearerHeader, `{"total_credits":100,"total_usage":0}`)
	f(simulator.Quota{}, false, codex, codexHeader, `"limit_reached":false,"primary_window":{"used_percent":0,"limit_window_seconds":18000,"reset_after_seconds":18000,`)

	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // of a bubble
	ahead := simulator.Quota{Calls: 4, Window: 5 * time.Hour, ResetAt: start.Add(time.Hour)}
	f(ahead, false, codex, codexHeader, `"primary_window":{"used_percent":0,"limit_window_seconds":18000,"reset_after_seconds":3600,`)
	f(ahead, false, oauth, claude, `"five_hour":{"utilization":0,"resets_at":null}`)
	f(ahead, true, oauth, claude, `"five_hour":{"utilization":100,"resets_at":"2000-01-01T01:00:00.000000+00:00"}`)
	f(simulator.Quota{Calls: 4, Window: 30 * 24 * time.Hour}, true, "GET /api/v1/key", bearerHeader, `"limit_reset":"monthly"`)
	f(simulator.Quota{Calls: 4, Window: 7 * 24 * time.Hour}, true, "GET /api/v1/key", bearerHeader, `"limit_reset":"weekly"`)
	f(simulator.Quota{Calls: 4, Window: 30 * 24 * time.Hour}, true, plan, bearerHeader, `"monthly":{"status":"rate-limited","percent":100,"resetsAt":"2000-01-31T00:00:00.000Z"}`, `"weekly":{"status":"ok","percent":0,`)
}
