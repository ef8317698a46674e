// Package router decides who may serve a role now, in what order, and who holds a slot.
//
//	configuration ── NewTable ──► Table ──┐
//	                                      ├──► Snapshot ── Choose(query, bound, occupancy, now) ──► Plan ──► Explain
//	an answer ── Observe ──► Standings ───┘                          │
//	                                                                 ├──► Acquire(node) ──► Lease ── Release
//	                                                                 └──► Wait ── in turn ───┘
//
// A Table is the configuration, cross-checked once. A Snapshot is a Table with what was learnt of each account; it is
// immutable and stands behind one atomic pointer. Choose is pure and gives every node of a role its verdict, so explain
// and the router cannot disagree. Acquire is where a choice becomes binding: it looks at the newest health and takes a
// slot, or says why not. Wait is for those who found every slot taken: they are given one in turn.
//
// What comes back is tried by one call at a time (halfopen.go); what several accounts share rests as a whole
// (correlated.go); profiles of one account know the same of its quota (twins.go); what is left of an account moves it only
// where the owner gave no order, or wants it so (headroom.go, threshold.go). Several instances of the hub tell one another of
// slots, blocks and bonds (peers.go, hear.go; redisshare carries it).
//
// Who owns what: Router.mu the writers of the snapshot pointer; queue.mu who waits and in what order; slots.mu the leases
// of one profile; trial.mu who tries an account or a provider; affinity.mu the bonds; Router.Run, the one goroutine, the
// calls to the StateStore. Locks are taken in this order.
package router

import (
	"cmp"
	"crypto/rand"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/quota"
)

// Options are what a Router needs from outside. The zero value works: one process alone, nothing kept.
type Options struct {
	Now      func() time.Time // nil = time.Now
	Store    StateStore       // nil = nothing survives the process
	Peers    Peers            // nil = Solo
	Logger   *slog.Logger     // nil = silence
	Instance string           // names this process among its peers; "" = a random name

	// OnThreshold is told of a bucket that falls below the threshold. It is called on the goroutine that brought the news,
	// with no lock held, and must not block. nil = only the log is.
	OnThreshold func(ThresholdEvent)
	// OnChange tells that the snapshot, a lease or a bond is another than before. It is called often, on the hot path and partly
	// under a lock: it does not block and does not call the router. nil = nobody wants to know.
	OnChange func()
}

// Router holds the snapshot, the leases and the affinity. Its methods may be called from any goroutine.
type Router struct {
	now      func() time.Time
	store    StateStore
	logger   *slog.Logger
	leases   *leases
	peers    Peers
	queue    *queue
	affinity *affinity
	changed  chan struct{} // holds one: there is something to save

	onThreshold func(ThresholdEvent)
	onChange    func()
	sessions    lastSessions

	snapshot atomic.Pointer[Snapshot]
	mu       sync.Mutex // writers of snapshot
}

// New is a router of t that knows nothing of its accounts yet. Restore gives it what the last run knew; Run keeps it.
func New(t *Table, o Options) *Router {
	r := &Router{
		now:      o.Now,
		store:    o.Store,
		logger:   cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		affinity: newAffinity(),
		changed:  make(chan struct{}, 1),

		onThreshold: o.OnThreshold,
		onChange:    o.OnChange,
	}
	if r.onChange == nil {
		r.onChange = func() {}
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.peers = o.Peers; r.peers == nil {
		r.peers = Solo{}
	}
	r.queue = newQueue(r)
	r.leases = newLeases(cmp.Or(o.Instance, strings.ToLower(rand.Text()[:8])), r.peers, r.queue)
	s := NewSnapshot(t)
	s.live = r.leases.behind(t)
	r.snapshot.Store(s)
	return r
}

// Snapshot is the present state. A request loads it once and keeps it.
func (r *Router) Snapshot() *Snapshot { return r.snapshot.Load() }

// Plan fills into with the role's nodes as of now, by one snapshot.
func (r *Router) Plan(q Query, into *Plan) { r.PlanAt(q, r.now(), into) }

// PlanAt is Plan as it would be at another time, if nothing else happened until then.
func (r *Router) PlanAt(q Query, at time.Time, into *Plan) {
	s := r.Snapshot()
	Choose(s, q, r.bound(s, q, at), s.Occupancy(), at, into)
}

// bound is the index of the profile that affinity prefers for q, -1 for none.
func (r *Router) bound(s *Snapshot, q Query, at time.Time) int {
	if q.Session == "" || q.Role == nil || !q.Role.Affinity {
		return -1
	}
	profile := r.affinity.find(bondKey{keyOf(q.Session), q.Role.ID}, s.Table.Settings.AffinityTTL, at)
	if i, ok := s.Table.ProfileIndex(profile); ok {
		return i
	}
	return -1
}

// Bind makes profileID the account that the session prefers in the role. It is called after a success, and by nothing else.
func (r *Router) Bind(session, role, profileID string) {
	known, ok := r.Snapshot().Table.Role(role)
	if session == "" || !ok || !known.Affinity {
		return
	}
	b := bond{bondKey: bondKey{keyOf(session), known.ID}, profile: profileID, at: r.now()}
	if r.affinity.bind(b, r.Snapshot().Table.Settings.AffinityTTL) {
		r.peers.Bound(b.told())
	}
	r.sessions.note(known.ID, session)
	r.touch()
}

// SessionRole is the role that the session used last, "" when there is none.
func (r *Router) SessionRole(session string) string {
	if session == "" {
		return ""
	}
	return r.affinity.lastRole(keyOf(session), r.Snapshot().Table.Settings.AffinityTTL, r.now())
}

// Leases lists every lease this instance holds, the newest last.
func (r *Router) Leases() []LeaseInfo { return r.leases.list() }

// touch tells the keeper that there is something to save, and whoever else wants to know of changes.
func (r *Router) touch() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
	r.onChange()
}

// Refusal is why Acquire gave out no lease. The zero Refusal is a grant.
type Refusal struct {
	Reason Reason
	Block  quota.Block // what Reason rests on, where it rests on health
}

// Acquire takes a slot for n, and looks once more at the account as it is now: between the plan and the call another
// request may have found it spent, or a reload may have changed it. It never overtakes those who Wait. On refusal n says
// why, so that the trail does. On success n.Profile and the lease's are the account as it is now; whoever holds the lease
// releases it.
func (r *Router) Acquire(n *Node, h Holder) (*Lease, Refusal) {
	s, now := r.Snapshot(), r.now()
	no := s.admit(n, now)
	if no.Reason == Usable {
		lease, why := (*Lease)(nil), ReasonConcurrency
		if !s.live.slots[n.Index].spokenFor() {
			lease, why = r.leases.take(s.live, n, h, now)
		}
		if lease != nil {
			if lease.permit() {
				return lease, no
			}
			why = ReasonConcurrency
		}
		if no = s.admit(n, now); no.Reason == Usable { // it was not a moment ago
			no.Reason = why
		}
	}
	n.Reason, n.Block = no.Reason, no.Block
	return nil, no
}

// admit is what stands against a node now. The node becomes that of s. That a threshold holds it back is for the plan to
// weigh, which knows the alternatives.
func (s *Snapshot) admit(n *Node, now time.Time) Refusal {
	i, ok := s.Table.ProfileIndex(n.Profile.ID)
	if !ok {
		return Refusal{Reason: ReasonDisabled}
	}
	n.Index, n.Profile = i, s.Table.Profiles[i]
	if why := s.Table.unfit(n.Profile, nil); why != Usable {
		return Refusal{Reason: why}
	}
	if n.Model == "" {
		return Refusal{Reason: ReasonModel}
	}
	n.Reason, n.Block, n.Trial, n.own, n.shared = Usable, quota.Block{}, false, false, false
	if !s.blocked(n, now) {
		s.admissible(n, s.Occupancy(), now)
	}
	return Refusal{n.Reason, n.Block}
}
