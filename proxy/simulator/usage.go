package simulator

import (
	"net/http"
	"strings"
	"time"
)

// usageEndpoint is where a provider tells what is left of an account, and what it tells there.
type usageEndpoint struct {
	suffix  string // the end of its path
	method  string
	dialect *dialect
	tell    func(usageTold) ([]byte, *problem)
}

// usageTold is what there is to tell.
type usageTold struct {
	account *account
	quota   Quota
	window  window
	models  []string
	body    []byte // of the call
	header  http.Header
	now     time.Time
}

// usages are the usage endpoints that providers have, the longer paths first.
var usages = []usageEndpoint{
	{"/wham/usage", http.MethodGet, &codex, codexUsage},
	{"/api/oauth/usage", http.MethodGet, &messages, claudeUsage},
	{"/v1internal:retrieveUserQuotaSummary", http.MethodPost, &cloudCode, cloudSummary},
	{"/v1internal:retrieveUserQuota", http.MethodPost, &cloudCode, cloudQuota},
	{"/v1internal:fetchAvailableModels", http.MethodPost, &cloudCode, cloudModels},
	{"/v1internal:loadCodeAssist", http.MethodPost, &cloudCode, cloudAssist},
	{"/user/balance", http.MethodGet, &openAI, deepSeekBalance},
	{"/usage", http.MethodGet, &openAI, openCodeUsage},
	{"/key", http.MethodGet, &openAI, openRouterKey},
	{"/credits", http.MethodGet, &openAI, openRouterCredits},
}

// usageRoute reads the path of a usage endpoint.
func usageRoute(path string) (route, bool) {
	for i, u := range usages {
		if prefix, ok := strings.CutSuffix(path, u.suffix); ok {
			return route{op: opUsage, dialect: u.dialect, prefix: prefix, method: u.method, usage: &usages[i]}, true
		}
	}
	return route{}, false
}

// tell answers with what is left of the account's quota. The caller holds Provider.mu.
func (a *account) tell(u *usageEndpoint, x *exchange, models []string) play {
	body, wrong := u.tell(usageTold{
		account: a, quota: a.Quota, window: a.Quota.at(a.window, x.stamp.created), models: models,
		body: x.call.Body, header: x.call.Header, now: x.stamp.created,
	})
	if wrong != nil {
		return refusing(wrong)
	}
	return answering(body)
}

// used is the fraction of the window that is used, 0 where there is no quota.
func (u usageTold) used() float64 {
	if u.quota.Calls == 0 && !u.window.spent {
		return 0
	}
	return u.quota.fraction(u.window)
}

const (
	fiveHours = 5 * time.Hour
	week      = 7 * 24 * time.Hour
)

// in is what is used of the provider's window of that length: the quota's own window is that of five hours unless it is
// longer; the other one is untouched.
func (u usageTold) in(length time.Duration) (used float64, end time.Time) {
	if (u.quota.Window > fiveHours) != (length > fiveHours) {
		return 0, time.Time{}
	}
	return u.used(), u.window.end
}
