package proxy

import (
	"context"
	"errors"
	"slices"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// maxRounds is how often one request goes along its accounts: a provider that says "again in 10 ms" for ever is not asked
// for ever.
const maxRounds = 16

// search is what a request has learnt on its way along the accounts, and what it has spent on waiting.
type search struct {
	failed   []router.ChainItem // nodes that are not asked again
	tooSmall int                // the window that was too small for this conversation, 0 = none was
	short    *failure           // the answer that said so
	rounds   int
	queued   time.Duration // waited for slots
	held     time.Duration // waited for accounts to come back
	due      time.Time     // the commit deadline of a stream, else the total one
	trial    *trial        // this request goes first; nil = nobody waits to hear of it
}

// open reports whether a node is still worth asking.
func (s *search) open(n *router.Node) bool {
	return !slices.Contains(s.failed, itemOf(n)) && (s.tooSmall == 0 || larger(n, s.tooSmall))
}

func itemOf(n *router.Node) router.ChainItem {
	return router.ChainItem{Profile: n.Profile.ID, Model: n.Model}
}

// forgive takes back that a node failed when that has closed the account for a time: once the time is over it may be asked
// again. What failed and left the account open, such as a request that is too large for it, would fail again.
func (s *search) forgive(nodes []router.Node) {
	for i := range nodes {
		if n := &nodes[i]; n.Block.State != quota.Ready {
			s.failed = slices.DeleteFunc(s.failed, func(item router.ChainItem) bool { return item == itemOf(n) })
		}
	}
}

// patience is for how long a request may still wait, and for what.
type patience struct {
	queue time.Duration // for a slot: router.lease_wait_seconds less what was spent
	hold  time.Duration // for an account to come back: router.cooldown_wait_seconds less what was spent
	due   time.Duration // until the request's own deadline
}

// patience is none for an aside: whoever makes one goes on without its answer.
func (x *exchange) patience(now time.Time) patience {
	if x.surface.aside {
		return patience{}
	}
	return patience{queue: x.settings.LeaseWait - x.queued, hold: x.settings.CooldownWait - x.held, due: x.due.Sub(now)}
}

// wait is how long it is worth waiting when none of the nodes could be asked at now; 0 is not at all. When an account will
// come back in time that is what is waited for (hold), and a slot of a busy one is welcome meanwhile; else it is for a slot
// alone. A hold that would outlast the request's deadline does not begin: nothing could come of it.
func (p patience) wait(nodes []router.Node, open func(*router.Node) bool, now time.Time) (d time.Duration, hold bool) {
	usable, busy := false, false
	for i := range nodes {
		n := &nodes[i]
		usable = usable || n.Reason == router.Usable && open(n)
		busy = busy || n.Reason == router.ReasonConcurrency && open(n)
	}
	if at, ok := nextInstant(nodes, open); ok && !usable {
		if d := at.Sub(now); d <= p.hold && d < p.due {
			return d, true
		}
	}
	if usable || busy {
		return max(p.queue, 0), false
	}
	return 0, false
}

// nextInstant is when the first of the open nodes that are only out for a time comes back, whether the provider stated it
// or the hub rests the account on its own account. Where only money, a credential or an entitlement helps, the end of a
// block is when to look again and no promise: those are not counted.
func nextInstant(nodes []router.Node, open func(*router.Node) bool) (first time.Time, ok bool) {
	for i := range nodes {
		n := &nodes[i]
		switch n.Reason {
		case router.ReasonQuota, router.ReasonRateLimited, router.ReasonCooldown:
			if until := n.Block.Until; !until.IsZero() && open(n) && (!ok || until.Before(first)) {
				first, ok = until, true
			}
		}
	}
	return first, ok
}

// wait is what a request does when nobody is left to be asked: it plans anew, by what the attempts have taught, and waits
// as far as its patience goes for an account to become free. true: the plan is new and worth another walk. false: the
// exchange is over.
func (x *exchange) wait() bool {
	x.endTrial()
	var after router.Plan
	x.p.router.Plan(x.query(), &after)
	x.forgive(after.Nodes)
	d, hold := x.patience(after.At).wait(after.Nodes, x.open, after.At)
	if x.rounds++; x.rounds >= maxRounds || x.spent() || d == 0 && x.next(&after) == nil {
		x.exhaust(&after)
		return false
	}
	x.plan = after
	if d == 0 {
		return true
	}
	n, lease, err := x.await(d, hold)
	switch {
	case errors.Is(err, router.ErrQueueFull):
		x.refuse(&refusal{code: codeHubUnavailable, message: "too many requests wait for an account of role " + x.role.Role.ID + ": try again", retryAfter: 1}, telemetry.Unavailable)
		return false
	case err != nil:
		x.lapsed()
		return false
	case lease != nil && x.ask(n, lease):
		return false
	}
	x.p.router.Plan(x.query(), &x.plan)
	return !hold || lease != nil || x.takeTurns()
}

// await waits in the router's queue, where the plan is kept up to date.
func (x *exchange) await(d time.Duration, hold bool) (*router.Node, *router.Lease, error) {
	began := time.Now()
	n, lease, err := x.p.router.Wait(x.ctx, &x.plan, router.Want{Holder: x.holder(), Open: x.open, For: d, Stay: hold})
	took := time.Since(began)
	x.told.Waited += took
	if hold {
		x.held += took
	} else {
		x.queued += took
	}
	return n, lease, err
}

// takeTurns lets one of the requests that were held for an account go first. The others hear how it fared and plan by
// that, so that a limit that is still in force is met by one call and not by all. false: the exchange is over.
func (x *exchange) takeTurns() bool {
	for heard := ""; ; {
		n := x.next(&x.plan)
		if n == nil || n.Profile.ID == heard {
			return true
		}
		t, mine := x.p.trials.enter(n.Profile.ID)
		if mine {
			x.trial = t
			return true
		}
		if heard = t.profile; !x.hear(t) {
			return false
		}
	}
}

// hear waits to hear of a trial and makes the plan anew. false: the exchange is over.
func (x *exchange) hear(t *trial) bool {
	began := time.Now()
	enough := time.NewTimer(trialBound)
	defer enough.Stop()
	select {
	case <-t.over:
	case <-enough.C:
	case <-x.ctx.Done():
	}
	x.told.Waited += time.Since(began)
	if x.lapsed() {
		return false
	}
	x.p.router.Plan(x.query(), &x.plan)
	return true
}

// next is the node of a plan that would be asked first, nil when there is none.
func (x *exchange) next(p *router.Plan) *router.Node {
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Reason == router.Usable && x.open(n) {
			return n
		}
	}
	return nil
}

// lapsed ends the exchange when its client left, its own deadline passed or the hub stops. It reports whether it did.
func (x *exchange) lapsed() bool {
	switch cause := context.Cause(x.ctx); {
	case x.gone():
		x.told.Outcome, x.aborted = telemetry.ClientClosed, true
	case cause == nil:
		return false
	case errors.Is(cause, errDrained):
		x.refuse(draining(), telemetry.Unavailable)
	default:
		x.refuse(&refusal{code: codeUpstreamUnavailable, message: cause.Error()}, telemetry.Exhausted)
	}
	return true
}
