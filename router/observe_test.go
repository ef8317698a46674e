package router

import (
	"testing"
	"time"

	"hermes-hub/quota"
)

// scene is a router over accounts a, b with one role, and a hand-set clock.
type scene struct {
	*Router
	t *testing.T
	c *clock
}

func newScene(t *testing.T) *scene {
	t.Helper()
	c := &clock{noon}
	tab := table(t, []Profile{account("a", "gpt-1", "claude-1"), account("b", "gpt-1")}, role("r", "a", "b"))
	return &scene{New(tab, Options{Now: c.now}), t, c}
}

// answered observes what an account answered at a time to a call that began then.
func (s *scene) answered(clock, profile, model string, rd quota.Reading) {
	s.t.Helper()
	s.c.t = at(s.t, clock)
	s.Observe(profile, call(model, s.c.t), rd)
}

// plan compares the plan for a model at a time with want.
func (s *scene) plan(clock, model, want string) {
	s.t.Helper()
	s.c.t = at(s.t, clock)
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: model}, &p)
	equalText(s.t, planText(&p), want)
}

func ok() quota.Reading { return quota.Reading{Class: quota.OK, Scope: quota.ScopeRequest} }

// P03: spent until T, skipped without a call before T, tried again from T on. A plan made before the 429 does not get a
// slot after it.
func TestObserveQuota(t *testing.T) {
	s := newScene(t)
	early := plannedGPT(s.Router)
	s.answered("12:00", "a", "gpt-1", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	s.plan("12:59", "gpt-1", `
		0 a gpt-1 quota_exhausted until 13:00
		1 b gpt-1 usable`)
	lease, no := s.Acquire(early, Holder{})
	if lease != nil || no.Reason != ReasonQuota || !no.Block.Until.Equal(at(t, "13:00")) {
		t.Errorf("acquired by an old plan: %+v", no)
	}
	if early.Reason != ReasonQuota || early.Block != no.Block {
		t.Errorf("the node does not say so: %+v", early)
	}
	s.plan("13:00", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}

func plannedGPT(r *Router) *Node {
	var p Plan
	r.Plan(Query{Role: r.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	return &p.Nodes[0]
}

// P04: in the Python hub a quota mark without a model left the account marked for ever, also after it had run out.
func TestObserveQuotaOfNoModelExpires(t *testing.T) {
	s := newScene(t)
	s.answered("12:00", "a", "", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "12:30")))
	s.plan("12:29", "gpt-1", `
		0 a gpt-1 quota_exhausted until 12:30
		1 b gpt-1 usable`)
	s.plan("12:30", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
	if got := Statuses(s.Snapshot(), Vacant{}, s.c.t)[0].State; got != ProfileHealthy {
		t.Errorf("state %s", got)
	}
}

// P05: in the Python hub an account that needed a new login came back when a cooldown of one of its families ran out. P07:
// it stays out until the credential changes.
func TestObserveAuthOutlivesCooldowns(t *testing.T) {
	s := newScene(t)
	s.answered("12:00", "a", "gpt-1", refusal(quota.RateLimited, quota.ScopeFamily, at(t, "12:10")))
	s.answered("12:01", "a", "claude-1", refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	for _, clock := range []string{"12:09", "12:10", "12:11", "23:59"} {
		s.c.t = at(t, clock)
		if n := plannedGPT(s.Router); n.Reason == Usable {
			t.Errorf("%s: usable", clock)
		}
	}
	s.plan("23:59", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 usable`)
	renewed := account("a", "gpt-1")
	renewed.Credential = NewSecret("another key")
	s.Swap(table(t, []Profile{renewed, account("b", "gpt-1")}, role("r", "a", "b")))
	s.plan("23:59", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}

// P08: transient failures back off, doubling from base to max; a success ends it and the next failure starts at base.
func TestObserveBackOff(t *testing.T) {
	s := newScene(t)
	down := refusal(quota.ServerError, quota.ScopeAccount, time.Time{})
	s.answered("12:00", "a", "gpt-1", down)
	s.plan("12:04", "gpt-1", `
		0 a gpt-1 cooldown until 12:05
		1 b gpt-1 usable`)
	s.answered("12:05", "a", "gpt-1", down)
	s.plan("12:06", "gpt-1", `
		0 a gpt-1 cooldown until 12:15
		1 b gpt-1 usable`)
	for range 5 {
		s.answered("13:00", "a", "gpt-1", down)
	}
	s.plan("13:01", "gpt-1", `
		0 a gpt-1 cooldown until 14:00
		1 b gpt-1 usable`)
	s.answered("14:00", "a", "gpt-1", ok())
	s.answered("14:01", "a", "gpt-1", down)
	s.plan("14:02", "gpt-1", `
		0 a gpt-1 cooldown until 14:06
		1 b gpt-1 usable`)
}

// A call that was under way when the credential was replaced tells nothing of the new one; nor does anything tell of an
// account that is gone.
func TestObserveIgnoresAnotherIdentity(t *testing.T) {
	s := newScene(t)
	renewed := account("a", "gpt-1")
	renewed.Credential = NewSecret("another key")
	s.c.t = at(t, "12:10")
	s.Swap(table(t, []Profile{renewed}, role("r", "a")))
	version := s.Snapshot().Version
	late := quota.Call{Model: "gpt-1", Family: quota.Family("gpt-1"), StartedAt: at(t, "12:09"), At: at(t, "12:11")}
	s.Observe("a", late, refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	s.answered("12:11", "b", "gpt-1", refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	if s.Snapshot().Version != version {
		t.Error("a new snapshot was published")
	}
	s.plan("12:12", "gpt-1", `0 a gpt-1 usable`)
}

// Nothing new is nothing published, and a snapshot that was loaded never changes.
func TestObserveVersions(t *testing.T) {
	s := newScene(t)
	before := s.Snapshot()
	s.answered("12:00", "a", "gpt-1", ok())
	s.answered("12:00", "a", "gpt-1", refusal(quota.InvalidRequest, quota.ScopeRequest, time.Time{}))
	if s.Snapshot() != before {
		t.Error("published for nothing")
	}
	s.answered("12:00", "a", "gpt-1", refusal(quota.RateLimited, quota.ScopeAccount, at(t, "12:30")))
	if got := s.Snapshot().Version; got != before.Version+1 || !before.Standings[0].Account(noon).Until.IsZero() {
		t.Errorf("version %d, old snapshot: %+v", got, before.Standings[0])
	}
	if !s.ClearCooldown("a") || s.Snapshot().Version != before.Version+2 {
		t.Error("not cleared")
	}
	if !s.ClearCooldown("a") || s.Snapshot().Version != before.Version+2 || s.ClearCooldown("nobody") {
		t.Error("cleared twice, or an account there is none of")
	}
	s.plan("12:01", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}

// A reload keeps what was learnt where the account is the same one, whatever else about it changed.
func TestSwapKeeps(t *testing.T) {
	s := newScene(t)
	spent := refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00"))
	for _, id := range []string{"a", "b"} {
		s.answered("12:00", id, "gpt-1", spent)
	}
	same, moved := account("a", "gpt-1"), account("b", "gpt-1")
	same.MaxConcurrency, same.DisplayName = 7, "renamed"
	moved.BaseURL = "https://elsewhere.test/v1"
	change := s.Swap(table(t, []Profile{account("new", "gpt-1"), moved, same}, role("r", "new", "b", "a")))
	s.plan("12:01", "gpt-1", `
		0 new gpt-1 usable
		1 b gpt-1 usable
		2 a gpt-1 quota_exhausted until 13:00`)
	gone := s.Swap(table(t, []Profile{same}, role("r", "a")))
	for _, c := range []struct{ got, want []string }{
		{change.Added, []string{"new"}},
		{change.Reset, []string{"b"}},
		{change.Kept, []string{"a"}},
		{change.Removed, nil},
		{gone.Removed, []string{"new", "b"}},
		{gone.Kept, []string{"a"}},
	} {
		if len(c.got) != len(c.want) || len(c.got) > 0 && c.got[0] != c.want[0] {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}
