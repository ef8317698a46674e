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
	trying   *router.Lease // of the last attempt
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

// awaited is what a request waits for.
type awaited uint8

const (
	aSlot   awaited = iota // of a busy account
	aReturn                // an account that is out comes back
	aTrial                 // another request is trying an account that has come back
)

func (x *exchange) patience(now time.Time) patience {
	return patience{queue: x.settings.LeaseWait - x.queued, hold: x.settings.CooldownWait - x.held, due: x.due.Sub(now)}
}

// wait is how long it is worth waiting when none of the nodes could be asked at now, and for what; 0 is not at all. A trial
// is waited for whatever the settings say: it is over in no time, and without it the request would have been the trial
// itself. When an account will come back in time that is what is waited for, and a slot of a busy one is welcome meanwhile;
// else it is for a slot alone. A hold that would outlast the request's deadline does not begin: nothing could come of it.
func (p patience) wait(nodes []router.Node, open func(*router.Node) bool, now time.Time) (time.Duration, awaited) {
	usable, busy := false, false
	var trial time.Time
	for i := range nodes {
		n := &nodes[i]
		switch {
		case !open(n):
		case n.Reason == router.Usable:
			usable = true
		case n.Reason == router.ReasonConcurrency:
			busy = true
		case n.Reason == router.ReasonHalfOpen && (trial.IsZero() || n.Block.Until.Before(trial)):
			trial = n.Block.Until
		}
	}
	if usable {
		return max(p.queue, 0), aSlot
	}
	back, ok := nextInstant(nodes, open)
	ok = ok && back.Sub(now) <= p.hold && back.Sub(now) < p.due
	switch {
	case !trial.IsZero() && !(ok && back.Before(trial)):
		return max(min(trial.Sub(now), p.due), 0), aTrial
	case ok:
		return back.Sub(now), aReturn
	case busy:
		return max(p.queue, 0), aSlot
	}
	return 0, aSlot
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
	var after router.Plan
	x.p.router.Plan(x.query(), &after)
	x.forgive(after.Nodes)
	d, what := x.patience(after.At).wait(after.Nodes, x.open, after.At)
	if what != aTrial {
		x.rounds++
	}
	if x.rounds >= maxRounds || x.spent() || d == 0 && x.next(&after) == nil {
		x.exhaust(&after)
		return false
	}
	x.plan = after
	if d == 0 {
		return true
	}
	n, lease, err := x.await(d, what)
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
	return true
}

// await waits in the router's queue, where the plan is kept up to date.
func (x *exchange) await(d time.Duration, what awaited) (*router.Node, *router.Lease, error) {
	began := time.Now()
	n, lease, err := x.p.router.Wait(x.ctx, &x.plan, router.Want{Holder: x.holder(), Open: x.open, For: d, Stay: what == aReturn})
	took := time.Since(began)
	x.told.Waited += took
	switch what {
	case aReturn:
		x.held += took
	case aSlot:
		x.queued += took
	}
	return n, lease, err
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
	case errors.Is(cause, ErrStopping):
		x.refuse(draining(), telemetry.Unavailable)
	default:
		x.refuse(&refusal{code: codeUpstreamUnavailable, message: cause.Error()}, telemetry.Exhausted)
	}
	return true
}
