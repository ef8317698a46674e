package quota

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// left is a measured bucket: so many percent remain until so many seconds past noon, 0 = no reset is known.
func left(id string, percent float64, reset int) Bucket {
	b := Bucket{ID: id}.withUsed(100 - percent)
	if reset != 0 {
		b.ResetAt = after(reset)
	}
	return b
}

// measure folds in what a usage endpoint said at so many seconds past noon.
func (y *story) measure(seconds int, buckets ...Bucket) {
	y.t.Helper()
	y.s = y.s.Measure(Reading{Class: OK, Scope: ScopeAccount, Buckets: buckets, Source: SourceProviderAPI}, after(seconds), testPolicy)
}

// refuse is a 429 for a spent window, at so many seconds past noon.
func (y *story) refuse(scope Scope, model string, seconds, reset int, buckets ...Bucket) {
	y.t.Helper()
	rd := Reading{Class: QuotaExhausted, Scope: scope, Buckets: buckets, Source: SourceRuntimeEvent, Reason: "status:429"}
	if reset != 0 {
		rd.ResetAt = after(reset)
	}
	y.s = y.s.Apply(rd, callFrom(model, seconds, seconds), testPolicy)
}

// values tells the buckets: "codex.session 40 api, codex.weekly 0 event@9000".
func (y *story) values() string {
	var all []string
	for _, b := range y.s.Buckets() {
		text := fmt.Sprintf("%s %g %s", b.ID, b.RemainingPercent.Value, map[Source]string{SourceProviderAPI: "api", SourceRuntimeEvent: "event", SourceSimulated: "simulated"}[b.Source])
		if !b.ResetAt.IsZero() {
			text += fmt.Sprintf("@%g", b.ResetAt.Sub(noon).Seconds())
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestPools: which calls a bucket bounds, by its id. What it is not known to bound it does not touch.
func TestPools(t *testing.T) {
	models := []string{"claude-opus-4-6", "claude-sonnet-4-5", "gemini-2.5-pro", "gemini-2.5-flash", "gpt-5.3-codex-spark", "gpt-5.5", "o3"}
	for id, want := range map[string]string{
		"claude.session":                      "all quota_exhausted",
		"claude.weekly":                       "all quota_exhausted",
		"claude.weekly.sonnet":                "claude-sonnet-4-5 quota_exhausted",
		"codex.session.gpt-5.3-codex-spark":   "gpt-5.3-codex-spark quota_exhausted",
		"codex.weekly.code_review":            "none",
		"codex.43200m":                        "all quota_exhausted",
		"antigravity.claude.5h":               "claude-opus-4-6 claude-sonnet-4-5 quota_exhausted",
		"antigravity.gemini.7d":               "gemini-2.5-pro gemini-2.5-flash quota_exhausted",
		"antigravity.gemini.model_pool":       "gemini-2.5-pro gemini-2.5-flash quota_exhausted",
		"antigravity.gemini.gemini-2.5-pro":   "gemini-2.5-pro quota_exhausted",
		"antigravity.default.model_pool":      "none",
		"opencode.5h":                         "all quota_exhausted",
		"opencode.30d":                        "all quota_exhausted",
		"openrouter.key":                      "all billing",
		"openrouter.key_monthly":              "all quota_exhausted",
		"openrouter.credits":                  "none", // its free models cost none
		"moonshot.balance":                    "all billing",
		"copilot.premium_interactions":        "none", // of some models only
		"zhipu.tools_5h":                      "none",
		"some.15m":                            "all rate_limited",
		"openai.requests":                     "none", // rates refill all the time, and are those of a model that nobody names
		"openai.tokens_per_minute":            "none",
		"cerebras.requests_day":               "none",
		"groq.tokens":                         "none",
		"generic.ratelimit":                   "none",
		"gemini.requests_per_day.gemini-1":    "none",
		"anthropic.input_tokens":              "none",
		"x":                                   "none",
		"":                                    "none",
		"x.":                                  "none",
		"x.session.":                          "none",
		"x.99999999d":                         "none",
		"x.0h":                                "none",
		"openrouter.free_models_per_day":      "none",
		"antigravity.grok.model_pool.nothing": "none",
	} {
		y := &story{t: t}
		y.measure(0, left(id, 0, 3600))
		var closed []string
		state := Ready
		for _, model := range models {
			if b := y.s.Check(model, Family(model), after(1)); b.State != Ready {
				closed, state = append(closed, model), b.State
			}
		}
		got := strings.TrimSpace(strings.Join(closed, " ") + " " + string(state))
		switch len(closed) {
		case 0:
			got = "none"
		case len(models):
			got = "all " + string(state)
		}
		if got != want {
			t.Errorf("%s closes %s, want %s", id, got, want)
		}
	}
}

// TestP03Q18MeasuredEmpty (P03, Q18): five hours at 90 % are of no use while the week is at 0 %: no model of the account is
// called until the week is reset. The Python hub looked at one bucket and reported the account available.
func TestP03Q18MeasuredEmpty(t *testing.T) {
	y := &story{t: t}
	y.measure(0, left("opencode.5h", 90, 9000), left("opencode.7d", 0, 300000))
	for _, model := range []string{"deepseek-v4-pro", "glm-5", "whatever"} {
		y.expect(model, 299999, StateQuota, after(300000))
		y.expect(model, 300000, Ready, time.Time{})
	}
	b := y.s.Account(after(1))
	if !b.Stated || b.Source != SourceProviderAPI || b.Bucket != "opencode.7d" || b.Reason != "bucket:opencode.7d" {
		t.Errorf("it rests on %+v", b)
	}
}

// TestMeasuredEmptyWithoutReset: a spent window of which nobody says when it resets is looked at again after a while, and
// no client is told an instant.
func TestMeasuredEmptyWithoutReset(t *testing.T) {
	y := &story{t: t}
	y.measure(0, left("claude.weekly", 0, 0))
	y.expect("claude-opus-4", 1799, StateQuota, after(1800))
	if b := y.s.Account(noon); b.Stated {
		t.Errorf("stated by nobody: %+v", b)
	}
	y.expect("claude-opus-4", 1800, Ready, time.Time{})
	y.measure(1900, left("claude.session", 0, 1800)) // reset already when it was measured: it is full again
	if b := y.s.Unproven("claude-opus-4", "claude", after(2000)); b.Bucket != "claude.weekly" {
		t.Errorf("on trial for %+v", b)
	}
}

// TestGoverning: the least of the buckets that a call draws from; unknown is neither empty nor full.
func TestGoverning(t *testing.T) {
	y := &story{t: t}
	want := func(model string, seconds int, want string) {
		t.Helper()
		got := "unknown"
		if b, ok := y.s.Governing(model, Family(model), after(seconds)); ok {
			got = fmt.Sprintf("%s %g", b.ID, b.RemainingPercent.Value)
		}
		if got != want {
			t.Errorf("%s at +%ds: %s, want %s", model, seconds, got, want)
		}
	}
	want("claude-opus-4", 0, "unknown")
	y.measure(0, left("claude.session", 70, 9000), left("claude.weekly", 40, 400000), left("claude.weekly.sonnet", 5, 400000), left("claude.requests", 0, 60))
	want("claude-opus-4", 1, "claude.weekly 40")
	want("claude-sonnet-4-5", 1, "claude.weekly.sonnet 5")
	y.measure(10, left("claude.session", 2, 9000))
	want("claude-opus-4", 11, "claude.session 2")
	want("claude-opus-4", 9000, "claude.weekly 40") // what the new window of five hours holds is not known
	want("claude-opus-4", 400000, "unknown")
	y.measure(20, left("claude.weekly", 2, 400000))
	want("claude-opus-4", 21, "claude.weekly 2") // of equals the one that resets last

	y = &story{t: t}
	y.measure(0, left("antigravity.gemini.model_pool", 0, 9000), left("antigravity.gemini.gemini-2.5-pro", 0, 9000), left("antigravity.gemini.gemini-2.5-flash", 60, 9000))
	want("gemini-2.5-flash", 1, "antigravity.gemini.gemini-2.5-flash 60") // the pool is only the least of the models (Q16)
	want("gemini-2.5-pro", 1, "antigravity.gemini.gemini-2.5-pro 0")
	want("gemini-3-pro", 1, "antigravity.gemini.model_pool 0")
	y.expect("gemini-2.5-flash", 1, Ready, time.Time{})
	want("claude-opus-4", 1, "unknown")

	y = &story{t: t}
	y.measure(0, Bucket{ID: "deepseek.balance_cny", Remaining: Known(7)}, balanceBucket("deepseek.balance_usd", 0))
	y.expect("deepseek-chat", 1, Ready, time.Time{}) // the other purse pays
	y.measure(2, balanceBucket("deepseek.balance_cny", 0))
	y.expect("deepseek-chat", 2, StateBilling, after(1802))
}

// TestQ11Q12NamedWindow (Q11, Q12, P18): a 429 spends the window it is about and no other: by its name, else the shortest
// of the family that the stated wait allows. It is a runtime event, with nothing remaining and its reset.
func TestQ11Q12NamedWindow(t *testing.T) {
	pools := []Bucket{
		left("antigravity.claude.5h", 80, 9000), left("antigravity.claude.7d", 70, 400000),
		left("antigravity.gemini.5h", 60, 9000), left("antigravity.gemini.7d", 50, 400000),
	}
	f := func(name, want string, refuse func(*story)) {
		t.Helper()
		y := &story{t: t}
		y.measure(0, pools...)
		refuse(y)
		if got := y.values(); got != strings.ReplaceAll(want, "|", ", ") {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		y.expect("gemini-3-pro", 11, Ready, time.Time{})
	}
	const gemini = "|antigravity.gemini.5h 60 api@9000|antigravity.gemini.7d 50 api@400000"
	f("named", "antigravity.claude.5h 80 api@9000|antigravity.claude.7d 0 event@400000"+gemini, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 400000, left("antigravity.claude.7d", 0, 400000))
	})
	f("not named", "antigravity.claude.5h 0 event@7210|antigravity.claude.7d 70 api@400000"+gemini, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 7210)
		y.expect("claude-sonnet-4", 11, StateQuota, after(7210))
	})
	f("no wait stated", "antigravity.claude.5h 0 event@9000|antigravity.claude.7d 70 api@400000"+gemini, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 0)
		y.expect("claude-sonnet-4", 11, StateQuota, after(9000)) // the window's own reset is known
	})
	f("longer than five hours", "antigravity.claude.5h 80 api@9000|antigravity.claude.7d 0 event@388810"+gemini, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 388810)
	})
	f("known to be spent", "antigravity.claude.5h 80 api@9000|antigravity.claude.7d 0 event@400000"+gemini, func(y *story) {
		y.measure(5, left("antigravity.claude.7d", 0, 400000))
		y.refuse(ScopeFamily, "claude-opus-4", 10, 0)
	})
	f("of a model", "antigravity.claude.5h 80 api@9000|antigravity.claude.7d 70 api@400000"+gemini, func(y *story) {
		y.refuse(ScopeModel, "claude-opus-4", 10, 7210)
		y.expect("claude-sonnet-4", 11, Ready, time.Time{})
	})
	f("measured in the refusal itself", "antigravity.claude.5h 44 event@9000|antigravity.claude.7d 0 event@400000"+gemini, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 0, left("antigravity.claude.5h", 44, 9000))
	})
	y := &story{t: t}
	y.refuse(ScopeAccount, "gpt-5.5", 0, 7200)
	if y.s.Buckets() != nil {
		t.Errorf("invented %s (Q13, Q14)", y.values())
	}
}

// TestQ20MeasuredClears (Q20): something measured in the window that was refused ends the block, whoever measured it. It
// ends neither a refused credential nor a bill, and older evidence ends nothing. In the Python hub one stuck for days.
func TestQ20MeasuredClears(t *testing.T) {
	f := func(name string, want State, tell func(*story)) {
		t.Helper()
		y := &story{t: t}
		tell(y)
		if got := y.s.Check("claude-opus-4", "claude", after(100)); got.State != want {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
	both := func(y *story, seconds int) {
		y.measure(seconds, left("claude.session", 99, 18000), left("claude.weekly", 30, 400000))
	}
	f("the named window", Ready, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000, left("claude.weekly", 0, 9000))
		both(y, 20)
	})
	f("another window", StateQuota, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000, left("claude.weekly", 0, 9000))
		y.measure(20, left("claude.session", 99, 18000))
	})
	f("nothing was named", Ready, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000)
		both(y, 20)
	})
	f("nothing was named, and some of it is old", StateQuota, func(y *story) {
		y.s = y.s.Apply(Reading{Class: QuotaExhausted, Scope: ScopeAccount, ResetAt: after(700000)}, callFrom("claude-opus-4", 5, 5), testPolicy)
		y.measure(1, left("claude.weekly", 30, 400000))
		y.measure(20, left("claude.session", 99, 18000))
	})
	f("of some models, and only the account is measured", StateQuota, func(y *story) {
		y.refuse(ScopeFamily, "claude-opus-4", 10, 9000)
		both(y, 20)
	})
	f("older", StateQuota, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 30, 9000, left("claude.weekly", 0, 9000))
		both(y, 20)
	})
	f("a call that began before", StateQuota, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000, left("claude.weekly", 0, 9000))
		rd := Reading{Class: OK, Scope: ScopeRequest, Source: SourceProviderAPI, Buckets: []Bucket{left("claude.weekly", 1, 400000)}}
		y.s = y.s.Apply(rd, callFrom("claude-opus-4", 5, 20), testPolicy)
		if got := y.values(); got != "claude.weekly 0 event@9000" {
			t.Errorf("it made the window %s", got)
		}
	})
	f("a refusal heard late", Ready, func(y *story) {
		both(y, 20)
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000, left("claude.weekly", 0, 9000))
	})
	f("a probe that failed", StateQuota, func(y *story) {
		y.refuse(ScopeAccount, "claude-opus-4", 10, 9000)
		y.s = y.s.Measure(Reading{Class: AuthExpired, Scope: ScopeAccount, Buckets: []Bucket{left("claude.weekly", 30, 400000)}}, after(20), testPolicy)
	})
	for class, state := range map[Class]State{AuthInvalid: StateAuthRequired, Billing: StateBilling, Forbidden: StateForbidden, RateLimited: StateRateLimited, ServerError: StateCooldown} {
		f(string(class), state, func(y *story) {
			y.hear(class, ScopeAccount, callFrom("claude-opus-4", 10, 10), after(5000))
			both(y, 20)
		})
	}
}

// TestLaterDeadlineWins: within one window the later of two deadlines counts, and windows end apart. A real week is a week.
func TestLaterDeadlineWins(t *testing.T) {
	y := &story{t: t}
	y.refuse(ScopeAccount, "m", 0, 604800, left("claude.weekly", 0, 604800))
	y.refuse(ScopeAccount, "m", 5, 9000, left("claude.session", 0, 9000))
	y.refuse(ScopeAccount, "m", 6, 500000, left("claude.weekly", 0, 500000))
	y.expect("m", 9001, StateQuota, after(604800))
	if got, want := y.values(), "claude.session 0 event@9000, claude.weekly 0 event@604800"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if n := len(y.s.Blocks(after(7))); n != 4 { // two refusals and two buckets
		t.Errorf("%d blocks", n)
	}
}

// TestUnproven: what has run out is on trial until a call of its own kind that began later succeeds, over a save as long as
// it counts failures.
func TestUnproven(t *testing.T) {
	y := &story{t: t}
	hope := func(model string, seconds int, want State) {
		t.Helper()
		if b := y.s.Unproven(model, Family(model), after(seconds)); b.State != want {
			t.Errorf("%s at +%ds is on trial for %+v, want %q", model, seconds, b, want)
		}
	}
	y.measure(0, left("antigravity.gemini.5h", 0, 100))
	y.hear(OK, ScopeRequest, callFrom("claude-opus-4", 1, 2), time.Time{})
	y.expect("gemini-3-pro", 3, StateQuota, after(100)) // another pool's success is none of it

	y = &story{t: t}
	y.hear(RateLimited, ScopeFamily, callFrom("gpt-5", 0, 0), after(60))
	y.measure(0, left("codex.session", 0, 100))
	hope("gpt-5", 59, Ready)
	hope("gpt-5", 60, StateRateLimited)
	hope("claude-opus-4", 60, Ready)
	hope("claude-opus-4", 100, StateQuota)
	y.hear(OK, ScopeRequest, callFrom("claude-opus-4", 101, 102), time.Time{})
	hope("claude-opus-4", 103, Ready)
	if got := y.values(); got != "" {
		t.Errorf("%s holds no more", got)
	}
	hope("gpt-5", 103, StateRateLimited)
	y.hear(OK, ScopeRequest, callFrom("gpt-5", 0, 110), time.Time{}) // it began before
	hope("gpt-5", 111, StateRateLimited)
	y.hear(OK, ScopeRequest, callFrom("gpt-5", 111, 112), time.Time{})
	hope("gpt-5", 113, Ready)
	if !y.s.Spotless() {
		t.Errorf("left: %+v", y.s.Blocks(time.Time{}))
	}
}

// TestBucketsSurviveARestart: what was measured closes the account after a restart as before; a state of an older version
// is read.
func TestBucketsSurviveARestart(t *testing.T) {
	y := &story{t: t}
	y.refuse(ScopeAccount, "gpt-5", 0, 9000, left("codex.session", 0, 9000))
	y.measure(1, left("codex.weekly", 0, 0))
	data, err := y.s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var loaded Standing
	if err := loaded.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(y.s, loaded, cmp.AllowUnexported(Standing{}, pool{})); diff != "" {
		t.Errorf("-saved +loaded:\n%s", diff)
	}
	y.s = loaded.Restore(after(100))
	y.expect("gpt-5", 100, StateQuota, after(9000))
	if y.s = y.s.Cleared(); !y.s.Spotless() || len(y.s.Buckets()) > 0 {
		t.Errorf("an operator's word leaves %+v", y.s.Blocks(noon))
	}
	old := `{"version":1,"buckets":[{"id":"codex.weekly","remaining_percent":0,"reset_at":"2026-07-25T14:00:00Z","seen_at":"2026-07-25T12:00:00Z"}]}`
	if err := loaded.UnmarshalJSON([]byte(old)); err != nil || loaded.Account(noon).State != StateQuota {
		t.Errorf("of an older version: %+v (%v)", loaded.Account(noon), err)
	}
}

// TestTwins: two credentials of one account share what is the account's, and nothing of the credential or the way.
func TestTwins(t *testing.T) {
	var a, b Standing
	hear := func(class Class, reset time.Time, c Call) {
		rd := Reading{Class: class, Scope: ScopeAccount, ResetAt: reset, Source: SourceRuntimeEvent}
		a, b = a.Apply(rd, c, testPolicy), b.ApplyTwin(rd, c, testPolicy)
	}
	states := func(s Standing) string {
		var all []string
		for _, b := range s.Blocks(time.Time{}) {
			all = append(all, string(b.State))
		}
		return strings.Join(all, " ")
	}
	for i, class := range []Class{AuthInvalid, Billing, Forbidden, RateLimited, QuotaExhausted, ServerError, ModelNotFound, InvalidRequest} {
		hear(class, after(500), callFrom("m", i, i))
	}
	if got, want := states(b), "billing quota_exhausted rate_limited"; got != want {
		t.Errorf("the twin has %s, want %s", got, want)
	}
	b = b.Apply(Reading{Class: ServerError, Scope: ScopeAccount}, callFrom("m", 20, 20), testPolicy)
	if got, want := states(b.Share(a)), "billing cooldown quota_exhausted rate_limited"; got != want {
		t.Errorf("shared: %s, want %s", got, want)
	}
	hear(OK, time.Time{}, callFrom("m", 30, 31))
	if got := states(b); got != "cooldown" {
		t.Errorf("after a success of the other: %s", got)
	}
}
