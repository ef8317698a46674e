package router

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// planned is the first node of a fresh plan of the only role.
func planned(r *Router) *Node {
	var p Plan
	r.Plan(Query{Role: r.Snapshot().Table.Roles[0], Model: "m"}, &p)
	return &p.Nodes[0]
}

func limited(slots int) Profile {
	p := account("a", "m")
	p.MaxConcurrency = slots
	return p
}

// L01: one slot and a running call, so the second call is refused for concurrency, by Acquire and by the next plan.
func TestAcquireFull(t *testing.T) {
	r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
	first, second := planned(r), planned(r)
	lease, no := r.Acquire(first, Holder{})
	if no != (Refusal{}) {
		t.Fatalf("refused: %+v", no)
	}
	if l, no := r.Acquire(second, Holder{}); l != nil || no.Reason != ReasonConcurrency || second.Reason != ReasonConcurrency {
		t.Errorf("second: %v %+v, node says %q", l, no, second.Reason)
	}
	if n := planned(r); n.Reason != ReasonConcurrency {
		t.Errorf("plan says %q", n.Reason)
	}
	lease.Release()
	if l, no := r.Acquire(second, Holder{}); l == nil || second.Reason != Usable {
		t.Errorf("after release: %+v", no)
	}
}

// L03, L04: in the Python hub a second release of one call took the slot away from another (A2-8), and a panic between
// taking and giving back lost one for good. A slot is given back by the lease that holds it, once.
func TestReleaseTwiceStealsNothing(t *testing.T) {
	r := New(table(t, []Profile{limited(2)}, role("r", "a")), Options{})
	one, _ := r.Acquire(planned(r), Holder{})
	two, _ := r.Acquire(planned(r), Holder{})
	one.Release()
	one.Release()
	if got := len(r.Leases()); got != 1 {
		t.Fatalf("%d leases held, want that of the other call", got)
	}
	three, no := r.Acquire(planned(r), Holder{})
	if three == nil {
		t.Fatalf("third: %+v", no)
	}
	if l, _ := r.Acquire(planned(r), Holder{}); l != nil {
		t.Fatal("three slots of two")
	}
	one.Release()
	two.Release()
	three.Release()
	if got := r.Snapshot().Occupancy().Held(0); got != 0 {
		t.Errorf("%d slots held at the end", got)
	}
}

// L02: 200 calls at once on five slots never hold more than five, and none is left behind; run under the race detector.
// Each releases twice, some panic on the way.
func TestAcquireExactUnderLoad(t *testing.T) {
	const slots, calls, rounds = 5, 200, 20
	r := New(table(t, []Profile{limited(slots)}, role("r", "a")), Options{})
	var running, most, served atomic.Int64
	call := func(i int) {
		defer func() { _ = recover() }()
		lease, _ := r.Acquire(planned(r), Holder{Session: "s"})
		if lease == nil {
			return
		}
		defer lease.Release()
		defer lease.Release()
		served.Add(1)
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		if i%7 == 0 {
			panic("upstream broke")
		}
	}
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			for range rounds {
				call(i)
				r.Leases()
			}
		})
	}
	wg.Wait()
	if most.Load() > slots || served.Load() == 0 {
		t.Errorf("%d held at once, %d served", most.Load(), served.Load())
	}
	if got := len(r.Leases()); got != 0 || r.Snapshot().Occupancy().Held(0) != 0 {
		t.Errorf("%d leases left", got)
	}
}

// Leases outlive a reload: they stay counted under the new limit, even of an account that is gone for a while.
func TestLeasesSurviveSwap(t *testing.T) {
	with := table(t, []Profile{limited(2), account("b", "m")}, role("r", "a"))
	without := table(t, []Profile{account("b", "m")}, role("r", "b"))
	r := New(with, Options{})
	one, _ := r.Acquire(planned(r), Holder{})
	stale := planned(r)
	r.Swap(without)
	if l, no := r.Acquire(stale, Holder{}); l != nil || no.Reason != ReasonDisabled {
		t.Errorf("an account that is gone: %v %+v", l, no)
	}
	if len(r.Leases()) != 1 {
		t.Error("the lease is lost")
	}
	off := limited(2)
	off.Enabled = false
	r.Swap(table(t, []Profile{off}, role("r", "a")))
	if l, no := r.Acquire(stale, Holder{}); l != nil || no.Reason != ReasonDisabled {
		t.Errorf("an account that was switched off: %v %+v", l, no)
	}
	r.Swap(table(t, []Profile{account("b", "m"), limited(1)}, role("r", "a")))
	if l, no := r.Acquire(stale, Holder{}); l != nil || no.Reason != ReasonConcurrency {
		t.Errorf("lowered limit: %v %+v", l, no)
	}
	one.Release()
	if l, no := r.Acquire(stale, Holder{}); l == nil || stale.Index != 1 || l.Profile != r.Snapshot().Table.Profiles[1] {
		t.Errorf("after release: %+v, node %+v", no, stale)
	}
}

func TestLeasesList(t *testing.T) {
	c := &clock{noon}
	r := New(table(t, []Profile{account("a", "m")}, role("r", "a")), Options{Now: c.now, Instance: "hub-1"})
	if data, err := json.Marshal(r.Leases()); err != nil || string(data) != "[]" {
		t.Errorf("no leases: %s %v", data, err)
	}
	_, _ = r.Acquire(planned(r), Holder{Session: "s", Role: "r", RunID: "run_1"})
	c.t = at(t, "12:01")
	_, _ = r.Acquire(planned(r), Holder{Role: "r"})
	data, err := json.MarshalIndent(r.Leases(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	equalText(t, string(data), `
		[
		{
		"profile_id": "a",
		"lease_id": "lease_hub-1_1",
		"run_id": "run_1",
		"session": "s",
		"role": "r",
		"started_at": "2026-03-01T12:00:00Z",
		"instance": "hub-1"
		},
		{
		"profile_id": "a",
		"lease_id": "lease_hub-1_2",
		"run_id": null,
		"session": null,
		"role": "r",
		"started_at": "2026-03-01T12:01:00Z",
		"instance": "hub-1"
		}
		]`)
}

// others are Peers that hold a fixed number of slots and write down what they hear.
type others struct {
	Solo
	profile string
	held    int
	heard   []string
}

func (o *others) Slots(profile string) PeerSlots {
	o.profile = profile
	return o
}
func (o *others) Held() int          { return o.held }
func (o *others) Left(limit int) int { return limit - o.held }
func (o *others) Changed(n int)      { o.heard = append(o.heard, o.profile+strings.Repeat("|", n)) }

// The others' slots count against the limit, and they hear every change as an absolute count.
func TestPeers(t *testing.T) {
	peers := &others{held: 1}
	r := New(table(t, []Profile{limited(3)}, role("r", "a")), Options{Peers: peers})
	one, _ := r.Acquire(planned(r), Holder{})
	two, _ := r.Acquire(planned(r), Holder{})
	if l, no := r.Acquire(planned(r), Holder{}); l != nil || no.Reason != ReasonConcurrency {
		t.Errorf("third: %v %+v", l, no)
	}
	if got := r.Snapshot().Occupancy().Held(0); got != 3 {
		t.Errorf("held: %d, want 2 of ours and 1 of theirs", got)
	}
	one.Release()
	one.Release()
	two.Release()
	if got, want := strings.Join(peers.heard, " "), "a| a|| a| a"; got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}
