package quota

import (
	"strings"
	"testing"
	"time"
)

// testPolicy are the configuration's defaults.
var testPolicy = Policy{
	CooldownBase: 300 * time.Second, CooldownMax: 3600 * time.Second, QuotaCooldown: 1800 * time.Second, RateLimitCooldown: time.Minute,
}

// noon is when the stories of these tests begin.
var noon = time.Date(2026, 7, 25, 12, 0, 0, 0, time.UTC)

// after is so many seconds past noon.
func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// callFrom is a call of a model that began and was answered so many seconds past noon.
func callFrom(model string, started, answered int) Call {
	return Call{Model: model, Family: Family(model), StartedAt: after(started), At: after(answered)}
}

// story folds readings into an empty Standing and asks it about models at instants.
type story struct {
	t *testing.T
	s Standing
}

func (y *story) hear(class Class, scope Scope, c Call, reset time.Time) {
	y.t.Helper()
	y.s = y.s.Apply(Reading{Class: class, Scope: scope, ResetAt: reset, Failover: true, Reason: "test:" + string(class)}, c, testPolicy)
}

func (y *story) expect(model string, seconds int, want State, until time.Time) {
	y.t.Helper()
	got := y.s.Check(model, Family(model), after(seconds))
	if got.State != want || !got.Until.Equal(until) {
		y.t.Errorf("%s at +%ds is %q until %v, want %q until %v", model, seconds, got.State, got.Until, want, until)
	}
}

// TestStandingPerClass: what each class makes of an account, for how long, and on whose word.
func TestStandingPerClass(t *testing.T) {
	stated := after(7200)
	for _, c := range []struct {
		class       Class
		state       State
		until       time.Time // without a stated reset
		untilStated time.Time
	}{
		{RateLimited, StateRateLimited, after(60), stated},
		{QuotaExhausted, StateQuota, after(1800), stated},
		{Billing, StateBilling, after(3600), after(3600)},
		{Forbidden, StateForbidden, after(3600), after(3600)},
		{ModelNotFound, StateNoModel, after(3600), after(3600)},
		{AuthInvalid, StateAuthRequired, time.Time{}, time.Time{}},
		{AuthExpired, StateAuthRequired, time.Time{}, time.Time{}},
		{Overloaded, StateCooldown, after(300), stated},
		{ServerError, StateCooldown, after(300), stated},
		{Timeout, StateCooldown, after(300), stated},
		{InvalidRequest, Ready, time.Time{}, time.Time{}},
		{ContentPolicy, Ready, time.Time{}, time.Time{}},
		{ContextTooLong, Ready, time.Time{}, time.Time{}},
		{RequestTooLarge, Ready, time.Time{}, time.Time{}},
	} {
		for reset, want := range map[time.Time]time.Time{{}: c.until, stated: c.untilStated} {
			got := Standing{}.Apply(Reading{Class: c.class, Scope: ScopeAccount, ResetAt: reset}, callFrom("m", 0, 0), testPolicy).Account(noon)
			if got.State != c.state || !got.Until.Equal(want) {
				t.Errorf("%s with reset %v: %q until %v, want %q until %v", c.class, reset, got.State, got.Until, c.state, want)
			}
			if byProvider := !want.IsZero() && want.Equal(stated); got.Stated != byProvider {
				t.Errorf("%s with reset %v: stated %v", c.class, reset, got.Stated)
			}
		}
	}
}

// TestRetryAfterWithoutReset: a wait without an instant counts from when the answer was read.
func TestRetryAfterWithoutReset(t *testing.T) {
	s := Standing{}.Apply(Reading{Class: RateLimited, Scope: ScopeModel, RetryAfter: 5 * time.Second}, callFrom("m", 0, 10), testPolicy)
	if b := s.Check("m", "default", after(10)); !b.Until.Equal(after(15)) || !b.Stated {
		t.Errorf("blocked until %v (stated %v), want 12:00:15", b.Until, b.Stated)
	}
}

// TestP03QuotaUntilReset (P03): an account that is out of quota until T is skipped before T and tried again from T on.
// The Python hub asked it again on every request.
func TestP03QuotaUntilReset(t *testing.T) {
	y := &story{t: t}
	y.hear(QuotaExhausted, ScopeAccount, callFrom("gpt-5", 0, 1), after(600))
	y.expect("gpt-5", 599, StateQuota, after(600))
	y.expect("any-other", 599, StateQuota, after(600))
	y.expect("gpt-5", 600, Ready, time.Time{})
}

// TestP04QuotaWithoutModelExpires (P04): the Python hub cleared quota marks by model only, so a mark without a model
// stayed on the account for ever.
func TestP04QuotaWithoutModelExpires(t *testing.T) {
	y := &story{t: t}
	y.hear(QuotaExhausted, ScopeAccount, callFrom("", 0, 1), time.Time{})
	y.expect("", 1, StateQuota, after(1801))
	y.expect("", 1801, Ready, time.Time{})
	y.hear(ServerError, ScopeModel, callFrom("other", 1900, 1900), time.Time{})
	if left := y.s.Blocks(after(1900)); len(left) != 1 || left[0].State != StateCooldown {
		t.Errorf("the expired mark is still there: %+v", left)
	}
}

// TestP05AuthOutlivesCooldown (P05): an account whose credential is refused and which also has a cool-down of a family was
// reported healthy by the Python hub as soon as the cool-down was over.
func TestP05AuthOutlivesCooldown(t *testing.T) {
	y := &story{t: t}
	y.hear(RateLimited, ScopeFamily, callFrom("gemini-3-flash", 0, 1), after(60))
	y.hear(AuthInvalid, ScopeAccount, callFrom("gemini-3-flash", 1, 2), time.Time{})
	y.expect("gemini-3-flash", 30, StateAuthRequired, time.Time{})
	y.expect("gemini-3-flash", 61, StateAuthRequired, time.Time{})
	y.hear(RateLimited, ScopeFamily, callFrom("gemini-3-flash", 70, 71), after(90))
	y.expect("gemini-3-flash", 100000, StateAuthRequired, time.Time{})
	if got := y.s.CredentialChanged().Check("gemini-3-flash", "gemini", after(100)); got != (Block{}) {
		t.Errorf("with another credential the account is %+v, want ready", got)
	}
}

// TestP08CooldownDoubles (P08): repeated transient failures double the cool-down from base to max, also when it expired
// in between, until a success.
func TestP08CooldownDoubles(t *testing.T) {
	y := &story{t: t}
	at := 0
	for i, wait := range []int{300, 600, 1200, 2400, 3600, 3600} {
		y.hear(ServerError, ScopeProvider, callFrom("m", at, at), time.Time{})
		y.expect("m", at, StateCooldown, after(at+wait))
		if b := y.s.Account(after(at)); b.Failures != i+1 {
			t.Errorf("failure %d is counted as %d", i+1, b.Failures)
		}
		at += wait + 1
		y.expect("m", at, Ready, time.Time{})
	}
	y.hear(OK, ScopeRequest, callFrom("m", at, at+1), time.Time{})
	y.hear(Timeout, ScopeProvider, callFrom("m", at+2, at+3), time.Time{})
	y.expect("m", at+3, StateCooldown, after(at+3+300))
}

// TestP08OneEpisode (P08): calls that were under way when the first of them failed are one outage, not many. The Python
// hub doubled for each and had an account out for an hour after one hiccup.
func TestP08OneEpisode(t *testing.T) {
	y := &story{t: t}
	for i := range 10 {
		y.hear(Overloaded, ScopeProvider, callFrom("m", i, 20+i), time.Time{})
	}
	y.expect("m", 30, StateCooldown, after(29+300))
	y.hear(Overloaded, ScopeProvider, callFrom("m", 400, 401), time.Time{})
	y.expect("m", 401, StateCooldown, after(401+600))
}

// TestSuccessClearsWhatItDisproves: only what was seen before the successful call began, and only what was in its way.
func TestSuccessClearsWhatItDisproves(t *testing.T) {
	y := &story{t: t}
	y.hear(ServerError, ScopeAccount, callFrom("claude-opus-4", 0, 10), time.Time{})
	y.hear(OK, ScopeRequest, callFrom("claude-opus-4", 5, 30), time.Time{}) // it began before the failure was seen
	y.expect("claude-opus-4", 31, StateCooldown, after(310))
	y.hear(OK, ScopeRequest, callFrom("claude-opus-4", 11, 32), time.Time{})
	y.expect("claude-opus-4", 33, Ready, time.Time{})

	y.hear(QuotaExhausted, ScopeFamily, callFrom("claude-opus-4", 40, 41), after(9000))
	y.hear(RateLimited, ScopeModel, callFrom("gemini-3-pro", 40, 41), after(9000))
	y.hear(OK, ScopeRequest, callFrom("gemini-3-flash", 50, 51), time.Time{})
	y.expect("claude-opus-4", 52, StateQuota, after(9000))
	y.expect("gemini-3-pro", 52, StateRateLimited, after(9000))
	y.expect("gemini-3-flash", 52, Ready, time.Time{})
	y.hear(OK, ScopeRequest, callFrom("claude-sonnet-4", 60, 61), time.Time{})
	y.expect("claude-opus-4", 62, Ready, time.Time{})
}

// TestScopes: a block is in the way of what it is about and of nothing else.
func TestScopes(t *testing.T) {
	for _, c := range []struct {
		scope   Scope
		blocked []string
		free    []string
	}{
		{ScopeModel, []string{"gpt-5"}, []string{"gpt-5-mini", "claude-opus-4", ""}},
		{ScopeFamily, []string{"gpt-5", "gpt-5-mini"}, []string{"claude-opus-4", "o3"}},
		{ScopeAccount, []string{"gpt-5", "claude-opus-4", ""}, nil},
		{ScopeProvider, []string{"gpt-5", "claude-opus-4", ""}, nil},
		{ScopeRequest, nil, []string{"gpt-5", "claude-opus-4", ""}},
	} {
		y := &story{t: t}
		y.hear(RateLimited, c.scope, callFrom("gpt-5", 0, 0), after(60))
		for _, model := range c.blocked {
			y.expect(model, 1, StateRateLimited, after(60))
		}
		for _, model := range c.free {
			y.expect(model, 1, Ready, time.Time{})
		}
	}
}

// TestWorstBlockGoverns: a refused credential is told first, then what lasts longest; each ends in its own time.
func TestWorstBlockGoverns(t *testing.T) {
	y := &story{t: t}
	y.hear(RateLimited, ScopeModel, callFrom("gpt-5", 0, 0), after(30))
	y.hear(QuotaExhausted, ScopeAccount, callFrom("gpt-5", 0, 0), after(90))
	y.hear(RateLimited, ScopeAccount, callFrom("gpt-5", 0, 0), after(120))
	y.hear(RateLimited, ScopeAccount, callFrom("gpt-5", 1, 1), after(60)) // never shortens
	y.expect("gpt-5", 10, StateRateLimited, after(120))
	y.expect("gpt-5", 119, StateRateLimited, after(120))
	y.expect("gpt-5", 120, Ready, time.Time{})
	y.hear(AuthExpired, ScopeAccount, callFrom("gpt-5", 121, 121), time.Time{})
	y.expect("gpt-5", 121, StateAuthRequired, time.Time{})
	if got := y.s.Cleared().Blocks(after(121)); len(got) != 1 || got[0].State != StateAuthRequired {
		t.Errorf("after clearing %+v, want the refused credential alone", got)
	}
}

// TestApplyLeavesTheOldAlone: a published Standing never changes.
func TestApplyLeavesTheOldAlone(t *testing.T) {
	y := &story{t: t}
	y.hear(ServerError, ScopeAccount, callFrom("m", 0, 0), time.Time{})
	before, was := y.s, y.s.Blocks(noon)[0]
	y.hear(ServerError, ScopeAccount, callFrom("m", 1, 1), time.Time{})
	y.hear(RateLimited, ScopeModel, callFrom("a", 2, 2), time.Time{})
	y.hear(OK, ScopeRequest, callFrom("m", 3, 3), time.Time{})
	if got := before.Blocks(noon); len(got) != 1 || got[0] != was {
		t.Errorf("the old Standing became %+v, was %+v", got, was)
	}
}

// TestPartOfAFamily: a window of some models of a family leaves the others alone (trap 1: a Claude account whose Fable
// window was rejected was benched with all of its models).
func TestPartOfAFamily(t *testing.T) {
	for _, c := range []struct {
		called, family string
		blocked        string // models, apart by blanks
		free           string
	}{
		{"claude-opus-4-6", Variant, "claude-opus-4-6 claude-opus-4-5 anthropic/Claude-Opus-4", "claude-sonnet-4-5 claude-fable-5 gemini-3-pro"},
		{"claude-3-5-sonnet", Variant, "claude-3-5-sonnet claude-sonnet-4", "claude-opus-4 claude-3-5-haiku"},
		{"claude-fable-5", "fable", "claude-fable-5 claude-fable-5-thinking", "claude-opus-4-6 claude-affable-1"},
		{"claude-opus-4-6", "fable", "claude-opus-4-6", "claude-fable-5 claude-opus-4-5"}, // which models share it is not known
		{"gpt-5.3-codex-spark", "gpt-5.3-codex-spark", "gpt-5.3-codex-spark gpt-5.3-codex-spark-high", "gpt-5.3-codex gpt-5.5"},
		{"claude-opus-4-6", "", "claude-opus-4-6 claude-sonnet-4-5", "gemini-3-pro"},
		{"llama", Variant, "llama qwerty", "gpt-5"},
	} {
		rd := Reading{Class: QuotaExhausted, Scope: ScopeFamily, Family: c.family, ResetAt: noon.Add(time.Hour)}
		s := Standing{}.Apply(rd, Call{Model: c.called, Family: Family(c.called), StartedAt: noon, At: noon}, testPolicy)
		for model := range strings.FieldsSeq(c.blocked) {
			if s.Check(model, Family(model), noon).State != StateQuota {
				t.Errorf("%s of %q: %s is free", c.called, c.family, model)
			}
		}
		for model := range strings.FieldsSeq(c.free) {
			if b := s.Check(model, Family(model), noon); b.State != Ready {
				t.Errorf("%s of %q: %s is blocked by %s", c.called, c.family, model, b.Key)
			}
		}
	}
}
