package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// P18: an Antigravity account whose Gemini pool is spent still serves Claude's models, which draw on another, and no
// Gemini model until its pool is full again.
func TestPoolsOfOneAccount(t *testing.T) {
	const spent = `{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 3h22m12s.","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"QUOTA_EXHAUSTED","domain":"cloudcode-pa.googleapis.com","metadata":{"quotaResetDelay":"3h22m12s","model":"gemini-3-pro-high"}}]}}`
	models := []string{"gemini-3-pro-high", "gemini-3-flash", "claude-sonnet-4-5"}
	antigravity, _ := router.ProviderByID("antigravity")
	r := newRig(t, setup{
		accounts: []simulator.Account{{Name: "a", Key: "sk-a", Models: models}, {Name: "b", Key: "sk-b", Models: models}},
		profiles: func(ps []router.Profile) {
			for i := range ps {
				ps[i].Provider, ps[i].Protocol = antigravity, router.ProtocolCloudCode
			}
		},
	})
	var called []string
	r.proxy.transport = func(p *router.Profile) http.RoundTripper {
		return canned(func(req *http.Request) (int, string, string) {
			body, _ := io.ReadAll(req.Body)
			called = append(called, p.ID)
			if p.ID == "a" && strings.Contains(string(body), `"model":"gemini-`) {
				return http.StatusTooManyRequests, "application/json", spent
			}
			return http.StatusOK, "application/json", accountsOfOthers()[3].whole
		})
	}
	f := func(model, want, calls string) {
		t.Helper()
		called = nil
		r.want(r.chat(strings.Replace(ask, "sim-1", model, 1)), want)
		if got := strings.Join(called, " "); got != calls {
			t.Errorf("%s: called %s, want %s", model, got, calls)
		}
	}
	f("gemini-3-pro-high", "200 profile=b attempts=2 after=quota_exhausted", "a b")
	f("claude-sonnet-4-5", "200 profile=a attempts=1", "a")
	f("gemini-3-flash", "200 profile=b attempts=1", "b")
	f("gemini-3-pro-high", "200 profile=b attempts=1", "b")
	f("claude-sonnet-4-5", "200 profile=a attempts=1", "a")
}
