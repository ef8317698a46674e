package router

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// street is a router over accounts p1 to pN of one provider at one address, and one of another, all in one chain.
func street(t *testing.T, shared int, others ...string) (*scene, *bytes.Buffer) {
	t.Helper()
	var profiles []Profile
	var ids []string
	for i := range shared {
		p := account(fmt.Sprint("p", i+1), "gpt-1")
		p.Provider.ID, p.BaseURL = "acme", "https://acme.test/v1"
		profiles, ids = append(profiles, p), append(ids, p.ID)
	}
	for _, id := range others {
		profiles, ids = append(profiles, account(id, "gpt-1")), append(ids, id)
	}
	c, log := &clock{noon}, &bytes.Buffer{}
	r := New(table(t, profiles, role("r", ids...)), Options{Now: c.now, Logger: slog.New(slog.NewTextHandler(log, nil))})
	return &scene{r, t, c}, log
}

// failed observes that a call of a profile failed now for what it shares.
func (s *scene) failed(profile string, class quota.Class) {
	s.t.Helper()
	s.Observe(profile, call("gpt-1", s.c.t), refusal(class, quota.ScopeProvider, time.Time{}))
}

// reasons tells a plan in one line: "p1=cooldown p2=usable".
func (s *scene) reasons() string {
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	var all []string
	for _, n := range p.Nodes {
		reason := string(n.Reason)
		switch {
		case n.Reason == Usable && n.Trial:
			reason = "trial"
		case n.Reason == Usable:
			reason = "usable"
		}
		all = append(all, n.Profile.ID+"="+reason)
	}
	return strings.Join(all, " ")
}

func (s *scene) want(want string) {
	s.t.Helper()
	if got := s.reasons(); got != want {
		s.t.Errorf("%s: got %s, want %s", s.c.t.Format("15:04:05"), got, want)
	}
}

func (s *scene) pass(d time.Duration) { s.c.t = s.c.t.Add(d) }

// Two accounts of one provider that fail the same way within seconds rest the provider: the third is not called too, and
// the chain goes on to another provider. When the rest is over one call tries on behalf of all, and a success ends it.
func TestCorrelatedFailuresRestTheProvider(t *testing.T) {
	s, log := street(t, 4, "other")
	s.failed("p1", quota.Overloaded)
	s.want("p1=cooldown p2=usable p3=usable p4=usable other=usable")
	early := s.early("p3")
	s.pass(2 * time.Second)
	s.failed("p2", quota.Overloaded)
	s.want("p1=cooldown p2=cooldown p3=cooldown p4=cooldown other=usable")
	if l, no := s.Acquire(early, Holder{}); l != nil || no.Reason != ReasonCooldown || !no.Block.Until.Equal(s.c.t.Add(restBase)) {
		t.Errorf("by an old plan: %+v", no)
	}
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	if got := explanationText(Explain(&p, RoleExplicit, nil, "")); !strings.Contains(got,
		"2 p3 gpt-1 skipped cooldown until 12:00 (runtime_event 12:00 accounts of acme fail together: overloaded (test:overloaded))") {
		t.Errorf("explained as\n%s", got)
	}
	if out := Outages(s.Snapshot(), s.c.t); len(out) != 1 || out[0].Provider != "acme" || len(out[0].Profiles) != 4 {
		t.Errorf("outages %+v", out)
	}
	if got := Statuses(s.Snapshot(), Vacant{}, s.c.t)[2].State; got != ProfileCooldown {
		t.Errorf("p3 is %s", got)
	}
	s.pass(restBase)
	s.want("p1=cooldown p2=cooldown p3=trial p4=trial other=usable")
	first, _ := s.take(2)
	s.want("p1=cooldown p2=cooldown p3=half_open p4=half_open other=usable") // one call for all of them
	s.pass(time.Second)
	s.served(first)
	first.Release()
	s.want("p1=cooldown p2=cooldown p3=usable p4=usable other=usable")
	for _, line := range []string{"provider rests", "provider usable again"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times:\n%s", line, n, log)
		}
	}
}

// early is a node of a plan that is made now and used later.
func (s *scene) early(profile string) *Node {
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	for i := range p.Nodes {
		if p.Nodes[i].Profile.ID == profile {
			return &p.Nodes[i]
		}
	}
	s.t.Fatalf("no node of %s", profile)
	return nil
}

// A role that has nobody else still tries one account during the rest: it might work. What fails then is not rotated
// through: the rest doubles, and who is left waits for it.
func TestCorrelatedLastResort(t *testing.T) {
	s, _ := street(t, 5)
	s.failed("p1", quota.ServerError)
	s.failed("p2", quota.ServerError)
	s.want("p1=cooldown p2=cooldown p3=trial p4=cooldown p5=cooldown")
	first, no := s.take(2)
	if first == nil {
		t.Fatalf("the last resort: %+v", no)
	}
	s.want("p1=cooldown p2=cooldown p3=half_open p4=half_open p5=half_open")
	s.pass(time.Second)
	s.failed("p3", quota.ServerError)
	first.Release()
	s.want("p1=cooldown p2=cooldown p3=cooldown p4=cooldown p5=cooldown")
	s.pass(2*restBase - time.Second)
	s.want("p1=cooldown p2=cooldown p3=cooldown p4=cooldown p5=cooldown")
	s.pass(time.Second)
	s.want("p1=cooldown p2=cooldown p3=cooldown p4=trial p5=trial")
	second, _ := s.take(3)
	s.failed("p4", quota.Overloaded) // whatever it fails with: the provider is not well
	second.Release()
	if until := Outages(s.Snapshot(), s.c.t)[0].Block.Until; !until.Equal(s.c.t.Add(4 * restBase)) {
		t.Errorf("rests until %s", until)
	}
	s.ClearCooldown("p5")
	s.want("p1=cooldown p2=cooldown p3=cooldown p4=cooldown p5=usable")

	s, _ = street(t, 3)
	s.failed("p1", quota.ServerError)
	s.failed("p2", quota.ServerError)
	late := s.early("p3")
	s.failed("p1", quota.ServerError)
	if l, no := s.Acquire(late, Holder{}); l != nil || no.Reason != ReasonCooldown {
		t.Errorf("by a plan from before the provider failed once more: %+v", no)
	}

	s, _ = street(t, 3)
	s.failed("p1", quota.ServerError)
	s.failed("p2", quota.ServerError)
	first, _ = s.take(2)
	s.Observe("p3", call("gpt-1", s.c.t), ok()) // answered to a call that began together with the last failure: no proof
	s.pass(time.Second)
	s.served(first)
	s.want("p1=cooldown p2=cooldown p3=half_open")
	first.Release()
	s.pass(time.Second)
	first, _ = s.take(2)
	s.pass(time.Second)
	s.served(first)
	s.want("p1=cooldown p2=cooldown p3=usable")
}

// What does not count as one trouble of several: other ways to fail, failures of the account's own, minutes apart, one
// account alone, another address or way, a success in between, and calls under way when the rest began.
func TestNotCorrelated(t *testing.T) {
	f := func(name, want string, tell func(*scene)) {
		t.Run(name, func(t *testing.T) {
			s, _ := street(t, 3)
			tell(s)
			if got := s.early("p3"); string(got.Reason) != want {
				t.Errorf("p3 is %q, want %q", got.Reason, want)
			}
			if rests := len(Outages(s.Snapshot(), s.c.t)) > 0; rests {
				t.Error("the provider rests")
			}
		})
	}
	f("another way", "", func(s *scene) { s.failed("p1", quota.Timeout); s.failed("p2", quota.Overloaded) })
	f("of the account's own", "", func(s *scene) {
		for _, id := range []string{"p1", "p2"} {
			s.Observe(id, call("gpt-1", s.c.t), refusal(quota.RateLimited, quota.ScopeAccount, s.c.t.Add(time.Minute)))
			s.Observe(id, call("gpt-1", s.c.t), refusal(quota.QuotaExhausted, quota.ScopeProvider, s.c.t.Add(time.Minute)))
			s.Observe(id, call("gpt-1", s.c.t), refusal(quota.Overloaded, quota.ScopeModel, time.Time{}))
		}
	})
	f("far apart", "", func(s *scene) { s.failed("p1", quota.Timeout); s.pass(11 * time.Second); s.failed("p2", quota.Timeout) })
	f("one account", "", func(s *scene) { s.failed("p1", quota.Timeout); s.failed("p1", quota.Timeout) })
	f("a success in between", "", func(s *scene) {
		s.failed("p1", quota.Timeout)
		s.pass(time.Second)
		s.Observe("p3", call("gpt-1", s.c.t), ok())
		s.failed("p2", quota.Timeout)
	})
	f("another way out", "", func(s *scene) {
		var profiles []Profile
		for i, p := range s.Snapshot().Table.Profiles {
			moved := *p
			moved.ProxyURL = fmt.Sprint("http://proxy-", i)
			profiles = append(profiles, moved)
		}
		s.Swap(table(s.t, profiles, role("r", "p1", "p2", "p3")))
		s.failed("p1", quota.Timeout)
		s.failed("p2", quota.Timeout)
	})
}

// How long a provider rests: as it says, else a short guess that doubles up to the rest of one account. Calls that were
// under way are the same trouble; a reload keeps the rest.
func TestCorrelatedRest(t *testing.T) {
	s, _ := street(t, 9)
	rest := func(want time.Duration) {
		t.Helper()
		out := Outages(s.Snapshot(), s.c.t)
		if len(out) != 1 || out[0].Block.Until.Sub(s.c.t) != want {
			t.Errorf("got %+v, want a rest of %s", out, want)
		}
	}
	began := s.c.t
	s.pass(time.Second)
	s.failed("p1", quota.Timeout)
	s.failed("p2", quota.Timeout)
	rest(restBase)
	for _, id := range []string{"p3", "p4"} {
		s.Observe(id, quota.Call{Model: "gpt-1", Family: "gpt", StartedAt: began, At: s.c.t}, refusal(quota.Timeout, quota.ScopeProvider, time.Time{}))
	}
	rest(restBase)
	s.Swap(table(t, []Profile{*s.Snapshot().Table.Profiles[8], *s.Snapshot().Table.Profiles[7]}, role("r", "p8", "p9")))
	rest(restBase)
	s.want("p8=trial p9=cooldown")
	for i := range 8 {
		s.pass(time.Hour)
		s.failed([]string{"p8", "p9"}[i%2], quota.Timeout)
		rest(min(restBase<<(i+1), 5*time.Minute))
	}
	s.pass(time.Hour)
	s.Observe("p8", call("gpt-1", s.c.t), refusal(quota.RateLimited, quota.ScopeProvider, s.c.t.Add(30*time.Second)))
	rest(30 * time.Second)
	if out := Outages(s.Snapshot(), s.c.t); !out[0].Block.Stated {
		t.Error("the provider has said so")
	}
}

// Who waits for one account while another is tried for the whole provider is served when that trial ends.
func TestSharedTrialServesWaiters(t *testing.T) {
	s, _ := street(t, 4)
	s.failed("p1", quota.ServerError)
	s.failed("p2", quota.ServerError)
	s.pass(restBase)
	first, _ := s.take(2)
	w := &waiter{
		plan: &Plan{Query: Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}},
		want: Want{Open: func(n *Node) bool { return n.Profile.ID == "p4" }}, over: make(chan struct{}),
	}
	if s.queue.join(w); w.left() {
		t.Fatal("not waiting")
	}
	if first.Release(); w.lease == nil || w.lease.Profile.ID != "p4" {
		t.Error("the next trial went to nobody")
	}
}
