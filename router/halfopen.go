package router

import (
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/quota"
)

// TrialBound is how long an account that comes back belongs to the one call that tries it. A refusal comes at once: a call
// that is not refused in this time is as good as accepted, and the others go too.
const TrialBound = 3 * time.Second

// trial is the one call at a time that finds out whether an account, or the provider behind several, is good again. It ends
// with the lease of that call; what the call taught was observed before.
type trial struct {
	mu    sync.Mutex
	lease *Lease // nil = none runs

	began atomic.Int64 // Unix nanoseconds; 0 = none runs, accepted = the account took the call; written under mu
}

// accepted is in the place of the beginning of a trial that keeps nobody waiting any more.
const accepted = 1

// enter makes l the trial, or lets it pass beside one that keeps nobody waiting. false: the account belongs to another.
func (t *trial) enter(l *Lease, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease != nil {
		return !exclusive(t.start(), now)
	}
	t.lease = l
	t.began.Store(now.UnixNano())
	return true
}

// accept lets the others go, if l is the trial.
func (t *trial) accept(l *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease == l {
		t.began.Store(accepted)
	}
}

// leave ends the trial, if l is it.
func (t *trial) leave(l *Lease) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease == l {
		t.lease = nil
		t.began.Store(0)
	}
}

// start is when the running trial began; zero = none runs. It never waits.
func (t *trial) start() time.Time {
	if at := t.began.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// exclusive reports whether a trial that began then keeps all others out.
func exclusive(began, now time.Time) bool {
	return !began.IsZero() && now.Before(began.Add(TrialBound))
}

// halfOpen is the verdict on a node whose account may be called as far as is known: Usable, or that another call is trying
// the account or its provider just now. n.Trial says whether a call of it would be the trial.
func (s *Snapshot) halfOpen(n *Node, o *outage, occ Occupancy, now time.Time) {
	hope := s.Standings[n.Index].Unproven(n.Model, n.Family, now)
	alone, all := hope.State != quota.Ready, o.unproven()
	own, shared := occ.Trials(n.Index)
	switch {
	case alone && exclusive(own, now):
		n.Reason, n.Block = ReasonHalfOpen, tried(hope, own)
	case all && exclusive(shared, now):
		n.Reason, n.Block = ReasonHalfOpen, tried(o.rest, shared)
	default:
		n.own, n.shared = alone && own.IsZero(), all && shared.IsZero()
		n.Trial = n.own || n.shared
	}
}

// tried is the block that a trial is about, with when the trial began and when at the latest it is over. The end is not
// what the provider stated.
func tried(b quota.Block, began time.Time) quota.Block {
	b.Since, b.Until, b.Stated = began, began.Add(TrialBound), false
	return b
}
