package router

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// Whoever shows the accounts hears of everything that shows: what was learnt, slots that are taken and given back, bonds, another
// table.
func TestOnChange(t *testing.T) {
	var told int
	c := &clock{noon}
	tab := table(t, []Profile{account("a", "m"), account("b", "m")}, role("r", "a", "b"))
	r := New(tab, Options{Now: c.now, OnChange: func() { told++ }})
	f := func(what string, want bool, do func()) {
		t.Helper()
		before := told
		do()
		if (told > before) != want {
			t.Errorf("%s: told %d times", what, told-before)
		}
	}
	node := func() *Node {
		var p Plan
		r.Plan(Query{Role: mustRole(t, tab, "r"), Model: "m"}, &p)
		return &p.Nodes[0]
	}
	f("a plan", false, func() { node() })
	var lease *Lease
	f("a lease", true, func() { lease, _ = r.Acquire(node(), Holder{}) })
	f("its end", true, lease.Release)
	f("its end again", false, lease.Release)
	f("a success that measures nothing", false, func() { r.Observe("a", call("m", noon), quota.Reading{Class: quota.OK}) })
	f("a refusal", true, func() {
		r.Observe("a", call("m", noon), refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	})
	f("clearing it", true, func() { r.ClearCooldown("a") })
	f("a bond", true, func() { r.Bind("s", "r", "a") })
	f("another table", true, func() { r.Swap(tab) })
	f("a simulation", true, func() { r.Simulate("a", quota.Bucket{ID: "a.5h", RemainingPercent: quota.Known(0)}) })
	f("its end", true, func() { r.StopSimulation("a") })
	f("nobody's", false, func() { r.Simulate("x", quota.Bucket{ID: "a.5h"}) })
}

// V12: of each role the session that was bound last, as long as the bond lasts.
func TestSessions(t *testing.T) {
	c := &clock{noon}
	free := role("free", "a")
	free.Affinity = false
	r := New(table(t, []Profile{account("a", "m")}, role("r", "a"), role("q", "a"), free), Options{Now: c.now})
	f := func(want string) {
		t.Helper()
		if got := strings.TrimPrefix(fmt.Sprint(r.Sessions()), "map"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f("[]")
	r.Bind("s-1", "r", "a")
	r.Bind("s-2", "r", "a")
	r.Bind("s-3", "free", "a")
	r.Bind("s-4", "nothing", "a")
	r.Bind("", "q", "a")
	f("[r:s-2]")
	r.Bind("s-1", "q", "a")
	r.Bind(strings.Repeat("s", longestSession+1), "q", "a")
	f("[q:s-1 r:s-2]")
	c.t = noon.Add(20 * time.Minute)
	r.Bind("s-2", "r", "a")
	c.t = noon.Add(40 * time.Minute) // bonds last for half an hour
	f("[r:s-2]")
	r.Swap(table(t, []Profile{account("a", "m")}, role("q", "a")))
	f("[]")
}

// Q24: a simulated bucket steers as a measured one would, is told of when it falls below the threshold, and concerns no twin.
func TestSimulateSteers(t *testing.T) {
	c := &clock{noon}
	s := settings()
	s.Threshold = Threshold{Percent: 20, Switch: true}
	var told []string
	tab := tableWith(t, s, []Profile{account("a", "m"), account("b", "m")}, role("r", "a", "b"))
	r := New(tab, Options{Now: c.now, OnThreshold: func(e ThresholdEvent) {
		told = append(told, fmt.Sprintf("%s %s %v", e.Profile, e.Bucket.ID, e.Bucket.RemainingPercent.Value))
	}})
	r.Identify("a", "one")
	r.Identify("b", "one")
	f := func(want string) {
		t.Helper()
		var p Plan
		r.Plan(Query{Role: mustRole(t, tab, "r"), Model: "m"}, &p)
		var got strings.Builder
		for _, n := range p.Nodes {
			got.WriteString(fmt.Sprintf("%s %s;", n.Profile.ID, n.Reason))
		}
		if got.String() != want {
			t.Errorf("got %s, want %s", got.String(), want)
		}
	}
	simulate := func(percent float64) {
		if !r.Simulate("a", quota.Bucket{ID: "a.5h", RemainingPercent: quota.Known(percent)}) {
			t.Error("there is no such account")
		}
	}
	f("a ;b ;")
	simulate(25)
	f("a ;b ;")
	simulate(15)
	f("a quota_threshold;b ;")
	simulate(0)
	f("a quota_exhausted;b ;")
	if !r.StopSimulation("a") || r.StopSimulation("x") || r.Simulate("x", quota.Bucket{}) {
		t.Error("accounts that there are and are not")
	}
	f("a ;b ;")
	if got := strings.Join(told, ", "); got != "a a.5h 15" {
		t.Errorf("told: %s", got)
	}
}
