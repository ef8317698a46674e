package router

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// judges are Peers that permit what they are told to, and hear how many slots are held.
type judges struct {
	Solo
	permit func(granted func()) bool
	mu     sync.Mutex
	told   int
	left   int
}

func (j *judges) Slots(string) PeerSlots { return j }
func (j *judges) Left(limit int) int     { j.mu.Lock(); defer j.mu.Unlock(); return min(limit, j.left) }
func (j *judges) Changed(n int)          { j.mu.Lock(); defer j.mu.Unlock(); j.told = n }
func (j *judges) Permit(_ int, granted func()) bool {
	return j.permit(granted)
}

func (j *judges) heard() int { j.mu.Lock(); defer j.mu.Unlock(); return j.told }

func strict(slots int) Profile {
	p := limited(slots)
	p.LeaseMode = LeaseStrict
	return p
}

// A strict slot is taken here first, and counted by the peers from the moment on at which they permit it; one that they refuse
// is given back. They are not asked about others.
func TestPermit(t *testing.T) {
	j := &judges{left: 2}
	r := New(table(t, []Profile{strict(2)}, role("r", "a")), Options{Peers: j})
	j.permit = func(granted func()) bool {
		if held, told := r.Snapshot().Occupancy().Held(0), j.heard(); held != told+1 {
			t.Errorf("while it is asked for, %d are held and %d told", held, told)
		}
		granted()
		if held, told := r.Snapshot().Occupancy().Held(0), j.heard(); held != told {
			t.Errorf("once it is granted, %d are held and %d told", held, told)
		}
		return true
	}
	one, _ := r.Acquire(planned(r), Holder{})
	two, _ := r.Acquire(planned(r), Holder{})
	if one == nil || two == nil || j.heard() != 2 {
		t.Fatalf("%v, %v, told %d", one, two, j.heard())
	}
	j.permit = func(func()) bool { t.Error("asked for a slot that is not free"); return false }
	if l, no := r.Acquire(planned(r), Holder{}); l != nil || no.Reason != ReasonConcurrency {
		t.Errorf("a third: %v %+v", l, no)
	}
	two.Release()
	j.permit = func(func()) bool { return false }
	n := planned(r)
	if l, no := r.Acquire(n, Holder{}); l != nil || no.Reason != ReasonConcurrency || n.Reason != ReasonConcurrency {
		t.Errorf("one that is not permitted: %v %+v, node says %q", l, no, n.Reason)
	}
	if held := r.Snapshot().Occupancy().Held(0); held != 1 || j.heard() != 1 {
		t.Errorf("held %d, told %d", held, j.heard())
	}
	one.Release()
	for _, p := range []Profile{limited(1), func() Profile { p := strict(0); return p }()} {
		r.Swap(table(t, []Profile{p}, role("r", "a")))
		l, no := r.Acquire(planned(r), Holder{})
		if l == nil {
			t.Fatalf("%+v", no)
		}
		l.Release()
	}
}

// Who is handed a slot in the queue that the peers then refuse waits on, and gets the next; and gives up when its time is
// over.
func TestPermitInQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &judges{left: 1}
		r := New(table(t, []Profile{strict(1)}, role("r", "a")), Options{Peers: j})
		grant := func(granted func()) bool { granted(); return true }
		j.permit = grant
		lease, _ := r.Acquire(planned(r), Holder{})
		var got *Lease
		done := make(chan struct{})
		wait := func(d time.Duration) {
			defer close(done)
			p := Plan{Query: Query{Role: r.Snapshot().Table.Roles[0], Model: "m"}}
			_, got, _ = r.Wait(t.Context(), &p, Want{Open: anyNode, For: d})
		}
		go wait(time.Minute)
		synctest.Wait()
		j.permit = func(func()) bool { // another instance was quicker
			j.mu.Lock()
			defer j.mu.Unlock()
			j.left = 0
			return false
		}
		lease.Release()
		synctest.Wait()
		j.permit = grant
		j.mu.Lock()
		j.left = 1
		j.mu.Unlock()
		r.Recount()
		if <-done; got == nil || j.heard() != 1 {
			t.Fatalf("nothing was handed over; told %d", j.heard())
		}

		done = make(chan struct{})
		began := time.Now()
		held := got
		go wait(time.Second)
		if <-done; got != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %v", got, time.Since(began))
		}
		held.Release()
		empty(t, r)
	})
}
