package router

import (
	"testing"
	"time"

	"hermes-hub/quota"
)

// take acquires a node of the plan for gpt-1, by its place in the order.
func (s *scene) take(i int) (*Lease, Refusal) {
	s.t.Helper()
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	return s.Acquire(&p.Nodes[i], Holder{})
}

// served is a success of a lease's call that is answered now.
func (s *scene) served(l *Lease) {
	s.t.Helper()
	s.Observe(l.Profile.ID, quota.Call{Model: "gpt-1", Family: "gpt", StartedAt: l.Started, At: s.c.t}, ok())
}

// P03: an account that comes back is tried by one call; meanwhile the others are told so and go on to the next one. A
// success opens the account to all.
func TestHalfOpenOneTrial(t *testing.T) {
	s := newScene(t)
	s.answered("12:00", "a", "gpt-1", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	s.c.t = at(t, "13:00").Add(time.Second)
	early := plannedGPT(s.Router)
	first, no := s.take(0)
	if first == nil {
		t.Fatalf("the trial: %+v", no)
	}
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	equalText(t, explanationText(Explain(&p, RoleExplicit, nil, "")), `
		r explicit seq=1 at=13:00 request=null chosen=b
		0 a gpt-1 skipped half_open until 13:00 (leases 13:00 one call tries it first after quota_exhausted (test:quota_exhausted))
		1 b gpt-1 selected null`)
	if second, no := s.Acquire(early, Holder{}); second != nil || no.Reason != ReasonHalfOpen || !no.Block.Until.Equal(s.c.t.Add(TrialBound)) || no.Block.Stated {
		t.Errorf("beside the trial, by an old plan: %+v", no)
	}
	s.served(first)
	if second, no := s.take(0); second == nil {
		t.Errorf("after a success: %+v", no)
	}
	first.Release()
	if s.Snapshot().live.slots[0].trial.lease != nil {
		t.Error("the trial never ended")
	}
}

// A trial ends: by its failure, without a verdict, with the first byte, or after so long that it is as good as accepted.
func TestHalfOpenEnds(t *testing.T) {
	f := func(name string, end func(*scene, *Lease), want ...Reason) {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.answered("12:00", "a", "gpt-1", refusal(quota.RateLimited, quota.ScopeAccount, at(t, "12:01")))
			s.c.t = at(t, "12:02")
			first, _ := s.take(0)
			end(s, first)
			for i, reason := range want {
				if _, no := s.take(0); no.Reason != reason {
					t.Errorf("call %d: %q, want %q", i+1, no.Reason, reason)
				}
			}
		})
	}
	f("failed", func(s *scene, l *Lease) {
		s.Observe("a", call("gpt-1", s.c.t), refusal(quota.RateLimited, quota.ScopeAccount, s.c.t.Add(time.Minute)))
		l.Release()
	}, ReasonRateLimited, ReasonRateLimited)
	f("no verdict", func(_ *scene, l *Lease) { l.Release() }, Usable, ReasonHalfOpen) // the next one is the trial
	f("first byte", func(_ *scene, l *Lease) { l.Accepted() }, Usable, Usable)
	f("first byte, then no verdict", func(_ *scene, l *Lease) { l.Accepted(); l.Release() }, Usable, ReasonHalfOpen)
	f("not refused for long", func(s *scene, _ *Lease) { s.c.t = s.c.t.Add(TrialBound) }, Usable, Usable)
	f("almost", func(s *scene, _ *Lease) { s.c.t = s.c.t.Add(TrialBound - 1) }, ReasonHalfOpen)
	f("cleared by an operator", func(s *scene, _ *Lease) { s.ClearCooldown("a") }, Usable, Usable)
	f("released twice", func(s *scene, l *Lease) {
		l.Release()
		next, _ := s.take(0)
		l.Release()
		l.Accepted()
		_ = next
	}, ReasonHalfOpen)
}

// Only what was blocked is tried: another model of the account serves at once.
func TestHalfOpenOfAFamily(t *testing.T) {
	s := newScene(t)
	s.answered("12:00", "a", "claude-1", refusal(quota.QuotaExhausted, quota.ScopeFamily, at(t, "12:10")))
	s.c.t = at(t, "12:11")
	for range 3 {
		if _, no := s.take(0); no.Reason != Usable {
			t.Fatalf("gpt: %+v", no)
		}
	}
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "claude-1"}, &p)
	if !p.Nodes[0].Trial {
		t.Errorf("claude: %+v", p.Nodes[0])
	}
}

// A bucket that was measured empty is tried like a refusal when it is reset.
func TestHalfOpenAfterABucket(t *testing.T) {
	s := newScene(t)
	empty := quota.Bucket{ID: "x.5h", RemainingPercent: quota.Known(0), ResetAt: at(t, "13:00")}
	s.Measure("a", quota.Reading{Class: quota.OK, Source: quota.SourceProviderAPI, Buckets: []quota.Bucket{empty}}, noon)
	s.plan("12:59", "gpt-1", `
		0 a gpt-1 quota_exhausted until 13:00
		1 b gpt-1 usable`)
	s.c.t = at(t, "13:01")
	first, _ := s.take(0)
	if _, no := s.take(0); first == nil || no.Reason != ReasonHalfOpen {
		t.Errorf("beside the trial: %+v", no)
	}
	s.served(first)
	if _, no := s.take(0); no.Reason != Usable || !s.Snapshot().Standings[0].Spotless() {
		t.Errorf("after it: %+v", no)
	}
}

// Those who wait for an account that comes back are given the trial in turn, also where its slots are unlimited; with a
// verdict all of them go.
func TestHalfOpenQueue(t *testing.T) {
	r := New(table(t, []Profile{account("a", "m")}, role("r", "a")), Options{})
	past := time.Now().Add(-time.Hour)
	r.Observe("a", call("m", past), refusal(quota.RateLimited, quota.ScopeAccount, past.Add(time.Minute)))
	lease := takeAll(t, r, 1)[0]
	one, two, three := inQueue(t, r, "s"), inQueue(t, r, "s"), inQueue(t, r, "t")
	if one.left() || two.left() || three.left() {
		t.Fatal("they pass beside the trial")
	}
	lease.Release() // without a verdict
	if one.lease == nil || two.left() || three.left() {
		t.Fatalf("the next in turn: %v %v %v", one.lease, two.left(), three.left())
	}
	if l, no := r.Acquire(planned(r), Holder{}); l != nil || no.Reason != ReasonHalfOpen {
		t.Errorf("one who comes later: %v %+v", l, no)
	}
	one.lease.Accepted()
	if !two.left() || !three.left() || two.lease != nil {
		t.Errorf("the account has taken the call, and they still wait: %v %v", two.left(), three.left())
	}
	one.lease.Release()
	empty(t, r)
}

// A call that passed beside a trial which took too long does not end it.
func TestTrialIsEndedByItsOwnCall(t *testing.T) {
	var tr trial
	first, second := &Lease{}, &Lease{}
	if !tr.enter(first, noon) || tr.enter(second, noon.Add(TrialBound-1)) || !tr.enter(second, noon.Add(TrialBound)) {
		t.Error("who may go")
	}
	tr.accept(second)
	if tr.leave(second); tr.lease != first || !tr.start().Equal(noon) {
		t.Errorf("ended by another: %+v since %s", tr.lease, tr.start())
	}
	if tr.leave(first); tr.lease != nil || !tr.start().IsZero() {
		t.Error("not ended")
	}
}
