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

// unlimited reports whether there is no quota to tell of.
func (u usageTold) unlimited() bool { return u.quota.Calls == 0 && !u.window.spent }

const (
	fiveHours = 5 * time.Hour
	week      = 7 * 24 * time.Hour
)

// in is how much is used of the provider's window of that length, from 0 to 1, and when it ends: the quota's own window is
// that of five hours unless it is longer. A window that nobody used begins with the next call. The end is zero where the
// quota never resets.
func (u usageTold) in(length time.Duration) (used float64, end time.Time) {
	return u.period(length, (u.quota.Window > fiveHours) == (length > fiveHours))
}

// period is the same of a window that is the quota's own or not.
func (u usageTold) period(length time.Duration, own bool) (used float64, end time.Time) {
	if !own || u.unlimited() {
		return 0, u.now.Add(length)
	}
	return u.quota.fraction(u.window), u.quota.begin(u.window, u.now).end
}

// money is what the account was given and what is left of it, in dollars, of which a call costs one. There are always a
// hundred left where there is no quota.
func (u usageTold) money() (given, left int) {
	if u.unlimited() {
		return u.window.used + 100, 100
	}
	return u.quota.limit(u.window), u.quota.left(u.window)
}
