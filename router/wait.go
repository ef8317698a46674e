package router

import (
	"context"
	"errors"
	"time"
)

// maxWaiting is how many requests of one role may wait at once. Each keeps its body in memory; who comes when so many
// wait would not be served in time anyway.
const maxWaiting = 1000

// ErrQueueFull means that as many requests of the role wait as may.
var ErrQueueFull = errors.New("too many requests of this role wait already")

// Want is what a request waits for, and how.
type Want struct {
	Holder Holder
	// Open reports whether the request would take the node. While it waits others call it, one at a time, and the
	// request itself must leave alone what it looks at.
	Open func(*Node) bool
	For  time.Duration // at most so long
	// Stay means that the end of For is what is waited for: the wait goes on when no account is busy any more.
	Stay bool
}

// Wait queues for a slot of any account of p's query that w is open for, and makes p anew while it does. It returns the
// lease that it was given and its node, which is one of p's; whoever holds the lease releases it. Or it returns neither,
// and it is time to plan anew: For is over, an account has become usable that needs no queueing, or none is left to queue
// for. The error is ErrQueueFull or the cause for which ctx was cancelled; then nothing is held and nobody queues.
//
// Turns go round among the sessions, and within a session whoever came first is served first; a request without a session
// is a session of its own. Whoever comes later gets no slot that one of those who wait could use. The first account of
// which a slot becomes free serves, and of several the first in the order of the plan.
//
// The queue is this instance's own, and so is its fairness. A slot is handed over by local truth and the peers' counts as
// last heard of, exactly as Acquire takes one; what else a shared mode asks of a lease is asked by the one who gets it,
// here and in Acquire, when no lock is held.
//
// Who is handed a slot that the others do not permit waits on, in a new turn.
func (r *Router) Wait(ctx context.Context, p *Plan, want Want) (*Node, *Lease, error) {
	late := make(chan struct{})
	timer := time.AfterFunc(want.For, func() { close(late) })
	defer timer.Stop()
	for {
		w := &waiter{plan: p, want: want, over: make(chan struct{})}
		if !r.queue.join(w) {
			return nil, nil, ErrQueueFull
		}
		select {
		case <-w.over:
		case <-late:
		case <-ctx.Done():
		}
		r.queue.leave(w)
		if err := context.Cause(ctx); err != nil {
			if w.lease != nil { // handed over at the moment of giving up: it goes to the next
				w.lease.Release()
			}
			return nil, nil, err
		}
		if w.lease == nil || w.lease.permit() {
			return w.node, w.lease, nil
		}
	}
}
