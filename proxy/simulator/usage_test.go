package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestUsage proves that usage endpoints tell the account's present quota in their provider's form, take nothing from it, and
// know whose it is.
func TestUsage(t *testing.T) {
	f := func(ask string, header http.Header, quota simulator.Quota, body, want string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			c := inMemory("", header, simulator.Account{Name: "a", Key: "sk-a", Project: "p", Models: []string{"m"}, Quota: quota})
			if _, _, err := c.ask(t, strings.Replace(plainBody, "gpt-5.5", "m", 1)); err != nil {
				t.Fatal(err)
			}
			method, path, _ := strings.Cut(ask, " ")
			for range 2 {
				c.path = path
				resp, got := c.say(t, body, func(req *http.Request) { req.Method = method })
				if got := resp.Status[:3] + " " + got; got != want {
					t.Errorf("%s is\n%s\nwant\n%s", ask, got, want)
				}
			}
			if call := c.Calls("a")[1]; strings.HasPrefix(want, "200") && (call.Step != "usage" || call.Model != "") || c.InFlight("a") != 0 {
				t.Errorf("the call is %+v", call)
			}
		})
	}
	session := simulator.Quota{Calls: 4, Window: 5 * time.Hour}
	weekly := simulator.Quota{Calls: 1, Window: 7 * 24 * time.Hour}
	oauth := http.Header{"Authorization": {"Bearer sk-a"}, "Anthropic-Beta": {"oauth-2025-04-20"}}

	f("GET /backend-api/wham/usage", codexHeader, session, "", `200 {"plan_type":"plus","rate_limit":{"allowed":true,"limit_reached":false,"primary_window":{"used_percent":25,"limit_window_seconds":18000,"reset_after_seconds":18000,"reset_at":946702800},"secondary_window":{"used_percent":0,"limit_window_seconds":604800,"reset_after_seconds":604800,"reset_at":947289600}},"additional_rate_limits":[],"credits":{"balance":"0","has_credits":false,"unlimited":false}}`)
	f("GET /v1/a/backend-api/wham/usage", bearerHeader, weekly, "", `200 {"plan_type":"plus","rate_limit":{"allowed":false,"limit_reached":true,"primary_window":{"used_percent":0,"limit_window_seconds":18000,"reset_after_seconds":18000,"reset_at":946702800},"secondary_window":{"used_percent":100,"limit_window_seconds":604800,"reset_after_seconds":604800,"reset_at":947289600}},"additional_rate_limits":[],"credits":{"balance":"0","has_credits":false,"unlimited":false}}`)
	f("GET /api/oauth/usage", oauth, session, "", `200 {"five_hour":{"utilization":25,"resets_at":"2000-01-01T05:00:00.000000+00:00"},"seven_day":{"utilization":0,"resets_at":null},"seven_day_opus":null,"seven_day_sonnet":null,"extra_usage":{"is_enabled":false,"monthly_limit":null,"used_credits":null,"utilization":null}}`)
	f("GET /api/oauth/usage", oauth, weekly, "", `200 {"five_hour":{"utilization":0,"resets_at":null},"seven_day":{"utilization":100,"resets_at":"2000-01-08T00:00:00.000000+00:00"},"seven_day_opus":null,"seven_day_sonnet":null,"extra_usage":{"is_enabled":false,"monthly_limit":null,"used_credits":null,"utilization":null}}`)
	f("POST /v1internal:retrieveUserQuotaSummary", bearerHeader, session, `{"project":"p"}`, `200 {"groups":[{"displayName":"Gemini","buckets":[{"bucketId":"gemini-5h","window":"5h","remainingFraction":0.75,"resetTime":"2000-01-01T05:00:00Z"},{"bucketId":"gemini-weekly","window":"weekly","remainingFraction":1,"resetTime":"2000-01-08T00:00:00Z"}]},{"displayName":"Third party","buckets":[{"bucketId":"3p-5h","window":"5h","remainingFraction":0.75,"resetTime":"2000-01-01T05:00:00Z"},{"bucketId":"3p-weekly","window":"weekly","remainingFraction":1,"resetTime":"2000-01-08T00:00:00Z"}]}]}`)
	f("POST /v1internal:retrieveUserQuota", bearerHeader, session, `{"project":"p"}`, `200 {"buckets":[{"modelId":"m","tokenType":"REQUESTS","remainingFraction":0.75,"resetTime":"2000-01-01T05:00:00Z"}]}`)
	f("POST /v1internal:fetchAvailableModels", bearerHeader, weekly, `{"project":"p"}`, `200 {"models":{"m":{"displayName":"m","quotaInfo":{"resetTime":"2000-01-08T00:00:00Z"}}}}`)
	f("POST /v1internal:loadCodeAssist", bearerHeader, weekly, `{}`, `200 {"cloudaicompanionProject":"p","currentTier":{"id":"free-tier","name":"simulated"},"paidTier":{"id":"g1-pro-tier","name":"simulated"}}`)
	f("GET /v1/usage", bearerHeader, session, "", `200 {"usage":{"monthly":{"status":"ok","percent":0,"resetsAt":"2000-01-31T00:00:00.000Z"},"rolling":{"status":"ok","percent":25,"resetsAt":"2000-01-01T05:00:00.000Z"},"weekly":{"status":"ok","percent":0,"resetsAt":"2000-01-08T00:00:00.000Z"}}}`)
	f("GET /v1/usage", bearerHeader, weekly, "", `200 {"usage":{"monthly":{"status":"ok","percent":0,"resetsAt":"2000-01-31T00:00:00.000Z"},"rolling":{"status":"ok","percent":0,"resetsAt":"2000-01-01T05:00:00.000Z"},"weekly":{"status":"rate-limited","percent":100,"resetsAt":"2000-01-08T00:00:00.000Z"}}}`)
	f("GET /api/v1/key", bearerHeader, session, "", `200 {"data":{"is_free_tier":false,"label":"sk-or-v1-***","limit":4,"limit_remaining":3,"limit_reset":"daily","usage":1}}`)
	f("GET /api/v1/key", bearerHeader, simulator.Quota{}, "", `200 {"data":{"is_free_tier":false,"label":"sk-or-v1-***","limit":null,"limit_remaining":null,"limit_reset":null,"usage":1}}`)
	f("GET /api/v1/credits", bearerHeader, session, "", `200 {"data":{"total_credits":4,"total_usage":1}}`)
	f("GET /user/balance", bearerHeader, session, "", `200 {"balance_infos":[{"currency":"USD","granted_balance":"0.00","topped_up_balance":"3.00","total_balance":"3.00"}],"is_available":true}`)
	f("GET /user/balance", bearerHeader, simulator.Quota{}, "", `200 {"balance_infos":[{"currency":"USD","granted_balance":"0.00","topped_up_balance":"100.00","total_balance":"100.00"}],"is_available":true}`)

	const unauthenticated = `401 {"error":{"message":"Incorrect API key provided: sk-***. You can find your API key at https://platform.openai.com/account/api-keys.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`
	f("GET /v1/a/usage", http.Header{"Authorization": {"Bearer no"}}, session, "", unauthenticated)
	f("POST /v1/usage", bearerHeader, session, "{}", `405 {"error":{"message":"Not allowed to POST on /v1/usage. (HINT: Perhaps you meant to use a different HTTP method?)","type":"invalid_request_error","param":null,"code":"method_not_supported"}}`)
	f("POST /v1internal:retrieveUserQuotaSummary", bearerHeader, session, `{"project":"q"}`, `403 {"error":{"code":403,"message":"Permission denied on resource project q.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"googleapis.com","metadata":{"consumer":"projects/q","service":"cloudcode-pa.googleapis.com"},"reason":"CONSUMER_INVALID"}]}}`)
	f("POST /v1internal:fetchAvailableModels", bearerHeader, session, `{`, `400 {"error":{"code":400,"message":"Invalid JSON payload received. Unexpected end of string.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"description":"Invalid JSON payload received. Unexpected end of string."}]}]}}`)
}

// TestUsageOfClaudeIsForTokens proves that a key of the API has no usage to look at.
func TestUsageOfClaudeIsForTokens(t *testing.T) {
	c := inMemory("/api/oauth/usage", messagesHeader, simulator.Account{Name: "a", Key: "sk-a"})
	resp, got := c.say(t, "", func(req *http.Request) { req.Method = http.MethodGet })
	if resp.StatusCode != 401 || member(got, "error.message") != "OAuth authentication is currently not supported." {
		t.Errorf("got %s %s", resp.Status, got)
	}
}

// TestAsides proves that usage endpoints have a script of their own: a throttled probe is not a spent account.
func TestAsides(t *testing.T) {
	c := inMemory("/api/oauth/usage", http.Header{"Authorization": {"Bearer sk-a"}, "Anthropic-Beta": {"oauth-2025-04-20"}}, simulator.Account{Name: "a", Key: "sk-a"})
	get := func(req *http.Request) { req.Method = http.MethodGet }
	c.PushAside("a", simulator.RateLimitedBare, simulator.Unauthorized)
	c.Push("a", simulator.ServerError)
	for _, want := range []string{"429 rate_limit_error", "401 authentication_error", "200 "} {
		if resp, got := c.say(t, "", get); resp.Status[:3]+" "+member(got, "error.type") != want {
			t.Errorf("got %s %s, want %s", resp.Status, got, want)
		}
	}
	if resp, _, err := c.ask(t, plainBody); err != nil || resp.StatusCode != 500 {
		t.Errorf("the call got %v %v, want the step of its own script", resp, err)
	}
	c.PushAside("a", simulator.RateLimitedBare)
	c.Reset("a")
	if resp, _ := c.say(t, "", get); resp.StatusCode != 200 {
		t.Errorf("after Reset got %s", resp.Status)
	}
}

// TestListsOfModels proves that each provider lists its models in its own form.
func TestListsOfModels(t *testing.T) {
	f := func(path string, header http.Header, want string) {
		t.Helper()
		c := inMemory(path, header, simulator.Account{Name: "a", Key: "sk-a", Models: []string{"m"}})
		resp, got := c.say(t, "", func(req *http.Request) { req.Method = http.MethodGet })
		if resp.StatusCode != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("%s is %s %s, want %s", path, resp.Status, got, want)
		}
	}
	f("/v1/models", bearerHeader, `{"object":"list","data":[{"id":"m","object":"model",`)
	f("/v1/models?limit=5", messagesHeader, `{"data":[{"type":"model","id":"m","display_name":"m (simulated)","created_at":"`)
	f("/v1/models/m", messagesHeader, `{"type":"model","id":"m",`)
	f("/v1beta/models", googleHeader, `{"models":[{"name":"models/m","version":"001",`)
	f("/v1beta/models/m", googleHeader, `{"name":"models/m",`)
	f("/v1beta/models?key=sk-a", nil, `{"models":[{"name":"models/m",`)
	f("/v1beta/models", bearerHeader, `{"models":[{"name":"models/m",`)
	f("/v1beta/openai/models", bearerHeader, `{"object":"list",`)
	f("/backend-api/codex/models?client_version=1.0.0", codexHeader, `{"models":[{"slug":"m",`)
}
