package quota

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// claudeRules are those of a Claude subscription. The verdict is in anthropic-ratelimit-unified-* (CLIProxyAPI
// claude_ratelimit.go, claude-code issues); the body is the same for a window of five hours, one of a week and a throttle.
var claudeRules = rules{
	codes: anthropicCodes,
	phrases: append([]phraseGroup{
		// The beta of a million tokens is not in the plan: of this request, never of the account (CLIProxyAPI#2464).
		{class: Billing, scope: ScopeRequest, phrases: []string{"extra usage is required"}},
		{class: RateLimited, phrases: []string{"rate limited"}},
		{class: Billing, phrases: []string{"out of extra usage", "draw from your extra usage"}},
		{class: AuthInvalid, phrases: []string{"scope requirement", "token has been revoked"}},
		{class: QuotaExhausted, phrases: []string{"hit your limit", "hit your * limit", "usage limit reached", "5 hour limit reached", "weekly limit reached", "session limit reached", "limit reached"}},
	}, anthropicPhrases...),
	windows:  map[string]string{"5h": "session"},
	windowID: claudeWindow,
	header:   anthropicHeader,
	measure:  measureAnthropic,
	usage:    claudeUsage,
	judge:    judgeClaude,
	wait:     claudeWait,
}

// unifiedReason names the headers as what decided.
const unifiedReason = "header:anthropic-ratelimit-unified"

// Windows of anthropic-ratelimit-unified-<window>-…: two of the account, and one for each group of models that has its own.
const (
	unifiedSession = "5h"
	unifiedWeekly  = "7d"
)

// unifiedHeader reads anthropic-ratelimit-unified-<window>-{status,reset,utilization}. What has no window is the aggregate,
// which measures nothing; overage is money, not a window, and "overage-status: rejected" is the normal state of an
// organisation without credits.
func unifiedHeader(rest string) (string, windowField, bool) {
	name, field, ok := strings.Cut(rest, "-")
	if !ok || name == "" || !digit(name[0]) {
		return "", 0, false
	}
	switch field {
	case "Status":
		return name, fieldStatus, true
	case "Reset":
		return name, fieldReset, true
	case "Utilization":
		return name, fieldFraction, true
	}
	return "", 0, false
}

// claudeWindow names the windows: session and weekly, and weekly.<group> for those of some models.
func claudeWindow(id []byte, w window, _ string) []byte {
	switch name, group, grouped := strings.Cut(w.name, "_"); {
	case grouped:
		return appendName(append(id, "weekly."...), unifiedGroup(group), '_')
	case name == unifiedSession:
		return append(id, "session"...)
	case name == unifiedWeekly:
		return append(id, "weekly"...)
	}
	return appendName(id, w.name, '_')
}

// unifiedGroup is the models of a window: "oi" (overage included) is Fable's (CLIProxyAPI claude_executor_fable).
func unifiedGroup(group string) string {
	if group == "oi" || group == "overage_included" {
		return "fable"
	}
	return group
}

// unified is what the headers of a refusal say in all.
type unified struct {
	rejected bool      // the aggregate
	account  bool      // a window of the whole account is rejected
	group    string    // the models whose own window is rejected
	reset    time.Time // the latest of the resets of the windows that bind
}

// unifiedOf reads the verdict. Only rejected windows count; of several the latest reset binds, for all must be refilled.
func (a *answer) unifiedOf() unified {
	u := unified{rejected: a.unified("Status") == "rejected"}
	u.add(a, func(window string) bool { return a.unified(window+"-Status") == "rejected" })
	switch {
	case u.account || u.group != "":
	case u.rejected:
		// No window says so itself: the claim names it, and the aggregate's reset is its own.
		u.group = claimGroup(a.unified("Representative-Claim"))
		u.account = u.group == ""
		u.reset, _ = parseInstant(a.unified("Reset"), nil)
	case a.unified("Status") == "":
		// Nothing is said of verdicts at all: a window that is full is one.
		u.add(a, func(window string) bool {
			used, ok := parseNumber(a.unified(window + "-Utilization"))
			return ok && used >= 1
		})
	}
	if u.account {
		u.group = ""
	}
	return u
}

// unified is one of the headers.
func (a *answer) unified(name string) string {
	return a.Header.Get("Anthropic-Ratelimit-Unified-" + name)
}

// add takes the windows in that a condition holds for. Those of the account outweigh those of some models.
func (u *unified) add(a *answer, holds func(window string) bool) {
	var group time.Time
	for key := range a.Header {
		name, _, _ := strings.Cut(strings.TrimPrefix(key, "Anthropic-Ratelimit-Unified-"), "-")
		if !strings.HasPrefix(key, "Anthropic-Ratelimit-Unified-") || name == "" || !digit(name[0]) || !holds(name) {
			continue
		}
		reset, _ := parseInstant(a.unified(name+"-Reset"), nil)
		if _, models, grouped := strings.Cut(strings.ToLower(name), "_"); grouped {
			u.group, group = unifiedGroup(models), later(group, reset)
		} else {
			u.account, u.reset = true, later(u.reset, reset)
		}
	}
	if !u.account {
		u.reset = group
	}
}

// claimGroup is the group of models that a representative claim is about: "seven_day_opus". "" = the account.
func claimGroup(claim string) string {
	group, ok := strings.CutPrefix(claim, "seven_day_")
	if !ok {
		return ""
	}
	return unifiedGroup(group)
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

// judgeClaude lets the headers decide about a 429. Without them it is either the API's, with that API's headers, or not
// about the account at all: the usage endpoint has a throttle of its own, and its words do not speak of "your" limit
// (claude-code reports of /api/oauth/usage).
func judgeClaude(a *answer, v verdict) verdict {
	if v.scope == ScopeRequest || v.class != RateLimited && v.class != QuotaExhausted {
		return v
	}
	u := a.unifiedOf()
	switch {
	case u.account:
		v.class, v.scope, v.reason = QuotaExhausted, ScopeAccount, unifiedReason
		a.spendWindow(u)
	case u.group != "":
		v.class, v.scope, v.family, v.reason = QuotaExhausted, ScopeFamily, u.group, unifiedReason
		a.spendWindow(u)
	case v.class == RateLimited && a.apiLimited():
		return judgeAnthropic(a, v)
	case a.Status == 429 && v.class == RateLimited && a.says("rate limited") && !contains(a.words, "your") && !a.subscribed():
		v.scope, v.ownFault = ScopeRequest, true
	}
	return v
}

// spendWindow adds the window that only the claim names.
func (a *answer) spendWindow(u unified) {
	for _, b := range a.buckets {
		if b.isSpent() {
			return
		}
	}
	id := ""
	switch claim := a.unified("Representative-Claim"); {
	case u.group != "":
		id = "weekly." + u.group
	case claim == "five_hour":
		id = "session"
	case claim == "seven_day":
		id = "weekly"
	default:
		return
	}
	b := Bucket{ID: a.dialect.bucketPrefix() + "." + id, ResetAt: u.reset}.spent()
	a.buckets = merged(a.buckets, []Bucket{b})
}

// apiLimited reports whether the answer measures the rates of an API key.
func (a *answer) apiLimited() bool {
	for key := range a.Header {
		if rest, ok := strings.CutPrefix(key, "Anthropic-Ratelimit-"); ok && !strings.HasPrefix(rest, "Unified-") {
			return true
		}
	}
	return false
}

// subscribed reports whether the answer measures the windows of a subscription.
func (a *answer) subscribed() bool {
	for key := range a.Header {
		if strings.HasPrefix(key, "Anthropic-Ratelimit-Unified-") {
			return true
		}
	}
	return false
}

// claudeWait: a rejected window is usable again at its reset. What the server invites the account to in the meantime is a
// truth of its own (CLIProxyAPI claude_executor_fable: 120 s beside a week).
func claudeWait(a *answer, v verdict) (statedWait, bool) {
	if v.class != QuotaExhausted {
		return statedWait{}, false
	}
	w, ok := a.untilWait(a.unifiedOf().reset, true)
	if !ok {
		return statedWait{}, false
	}
	if invited, ok := a.headerWait(nil); ok {
		w.after = invited.after
	}
	return w, true
}

// claudeUsage reads GET /api/oauth/usage: {five_hour, seven_day, seven_day_<group>: {utilization, resets_at}}, where the
// utilization is a percentage, unlike in headers, and limits[] of newer answers, which adds windows of single models. Extra
// usage is money, not a window of the plan.
func claudeUsage(a *answer, v gjson.Result) []Bucket {
	if !v.Get("five_hour").Exists() && !v.Get("seven_day").Exists() {
		return nil
	}
	prefix := a.dialect.bucketPrefix() + "."
	var buckets []Bucket
	v.ForEach(func(key, w gjson.Result) bool {
		id := ""
		switch name := key.Str; {
		case name == "five_hour":
			id = "session"
		case name == "seven_day":
			id = "weekly"
		case strings.HasPrefix(name, "seven_day_"):
			id = "weekly." + unifiedGroup(strings.TrimPrefix(name, "seven_day_"))
		}
		if used := w.Get("utilization"); id != "" && used.Type == gjson.Number {
			buckets = append(buckets, resetBucket(prefix+id, used.Num, w.Get("resets_at")))
		}
		return len(buckets) < usageLimit
	})
	for _, l := range v.Get("limits").Array() {
		model := l.Get("scope.model.display_name").Str
		if used := l.Get("percent"); model != "" && used.Type == gjson.Number {
			buckets = merged(buckets, []Bucket{resetBucket(prefix+"weekly."+strings.ToLower(model), used.Num, l.Get("resets_at"))})
		}
	}
	return byID(buckets)
}
