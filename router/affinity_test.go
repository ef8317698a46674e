package router

import (
	"strconv"
	"testing"
	"time"
)

// bound is the profile that a plan for the session prefers, "" = none.
func boundTo(t *testing.T, r *Router, session, role string) string {
	t.Helper()
	tab := r.Snapshot().Table
	var p Plan
	r.Plan(Query{Role: mustRole(t, tab, role), Model: "m", Session: session}, &p)
	if p.Bound < 0 {
		return ""
	}
	return tab.Profiles[p.Bound].ID
}

func affinityRouter(t *testing.T, c *clock, ttl time.Duration) *Router {
	t.Helper()
	s := settings()
	s.AffinityTTL, s.AutoReturnPrimary = ttl, false
	loose := role("loose", "a", "b")
	loose.Affinity = false
	tab := tableWith(t, s, []Profile{account("a", "m"), account("b", "m")}, role("r1", "a", "b"), role("r2", "a", "b"), loose)
	return New(tab, Options{Now: c.now})
}

// P20: in the Python hub the session alone was the key, and a session's account in one role was forced onto its next role.
func TestAffinityIsPerRole(t *testing.T) {
	r := affinityRouter(t, &clock{noon}, time.Minute)
	r.Bind("s", "r1", "b")
	for _, c := range []struct{ session, role, want string }{
		{"s", "r1", "b"}, {"s", "r2", ""}, {"other", "r1", ""}, {"", "r1", ""},
	} {
		if got := boundTo(t, r, c.session, c.role); got != c.want {
			t.Errorf("session %q in %s: bound to %q, want %q", c.session, c.role, got, c.want)
		}
	}
}

// P19: the session bound to b stays with b while auto-return is off.
func TestAffinityOrdersThePlan(t *testing.T) {
	r := affinityRouter(t, &clock{noon}, time.Minute)
	r.Bind("s", "r1", "b")
	var p Plan
	r.Plan(Query{Role: mustRole(t, r.Snapshot().Table, "r1"), Model: "m", Session: "s"}, &p)
	equalText(t, planText(&p), `
		1 b m usable
		0 a m usable`)
}

// A role without affinity neither makes bonds nor follows any.
func TestAffinityOff(t *testing.T) {
	r := affinityRouter(t, &clock{noon}, time.Minute)
	r.Bind("s", "loose", "b")
	if got := boundTo(t, r, "s", "loose"); got != "" || r.SessionRole("s") != "" {
		t.Errorf("bound to %q, role %q", got, r.SessionRole("s"))
	}
	r.Bind("s", "r1", "b")
	later := role("r1", "a", "b")
	later.Affinity = false
	r.Swap(table(t, []Profile{account("a", "m"), account("b", "m")}, later))
	if got := boundTo(t, r, "s", "r1"); got != "" {
		t.Errorf("affinity was switched off, and still bound to %q", got)
	}
}

// P21: a bond older than its time is dropped; a success renews it, a look does not; zero never ends.
func TestAffinityTTL(t *testing.T) {
	c := &clock{noon}
	r := affinityRouter(t, c, 30*time.Minute)
	f := func(clock, want string) {
		t.Helper()
		c.t = at(t, clock)
		if got := boundTo(t, r, "s", "r1"); got != want {
			t.Errorf("%s: bound to %q, want %q", clock, got, want)
		}
	}
	r.Bind("s", "r1", "a")
	f("12:29", "a")
	r.Bind("s", "r1", "b")
	f("12:58", "b")
	f("12:59", "")
	c.t = at(t, "12:30")
	f("12:30", "") // it was dropped, not only hidden

	r = affinityRouter(t, c, 0)
	r.Bind("s", "r1", "a")
	f("23:59", "a")
}

// P21: beyond the cap the bond renewed least recently goes first.
func TestAffinityCap(t *testing.T) {
	r := affinityRouter(t, &clock{noon}, time.Hour)
	for i := range affinityCap {
		r.Bind(strconv.Itoa(i), "r1", "a")
	}
	r.Bind("0", "r1", "b")
	r.Bind("new", "r1", "a")
	for session, want := range map[string]string{"0": "b", "1": "", "2": "a", "new": "a"} {
		if got := boundTo(t, r, session, "r1"); got != want {
			t.Errorf("session %s: bound to %q, want %q", session, got, want)
		}
	}
	if r.SessionRole("1") != "" || len(r.affinity.bonds) != affinityCap || len(r.affinity.last) != affinityCap {
		t.Errorf("%d bonds, %d last roles", len(r.affinity.bonds), len(r.affinity.last))
	}
}

// The role a session used last is that of its last success.
func TestSessionRole(t *testing.T) {
	c := &clock{noon}
	r := affinityRouter(t, c, 30*time.Minute)
	f := func(want string) {
		t.Helper()
		if got := r.SessionRole("s"); got != want {
			t.Errorf("%s: role %q, want %q", c.t.Format("15:04"), got, want)
		}
	}
	f("")
	r.Bind("s", "r1", "a")
	c.t = at(t, "12:10")
	r.Bind("s", "r2", "b")
	f("r2")
	r.Bind("s", "r1", "a")
	f("r1")
	c.t = at(t, "12:40")
	f("")
	if r.SessionRole("") != "" {
		t.Error("no session has a role")
	}
}
