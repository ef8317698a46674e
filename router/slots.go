package router

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// slots are the leases held on one profile. The set is the truth; every number is derived from it, so none can drift.
type slots struct {
	profile  string
	instance string
	peers    PeerSlots
	queue    *queue

	trial trial // the call that tries the account, when it comes back

	mu     sync.Mutex
	held   map[uint64]*Lease // by generation
	asking int               // how many of them the peers have yet to permit

	count   atomic.Int64 // len(held), written under mu, for readers that must not wait
	waiting atomic.Int64 // how many of the queue could be given one of these; written under the queue's lock
}

// take enters l unless limit slots are held already, by all instances together; 0 = unlimited. Where the peers have to
// permit it, it is not one of theirs to count yet.
func (s *slots) take(l *Lease, limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && len(s.held) >= s.peers.Left(limit) {
		return false
	}
	if l.Profile.LeaseMode == LeaseStrict && limit > 0 {
		l.asking = true
		s.asking++
	}
	s.held[l.Generation] = l
	s.changed()
	return true
}

// permitted makes l one that the peers count.
func (s *slots) permitted(l *Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked(l)
	s.changed()
}

// asked runs under mu.
func (s *slots) asked(l *Lease) {
	if l.asking {
		l.asking = false
		s.asking--
	}
}

// remove takes l out, and reports whether it was still in.
func (s *slots) remove(l *Lease) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[l.Generation] != l {
		return false
	}
	delete(s.held, l.Generation)
	s.asked(l)
	s.changed()
	return true
}

// spokenFor hands what is free to those who wait for it, and reports whether some of them still do.
func (s *slots) spokenFor() bool { return s.waiting.Load() > 0 && s.queue.serve(s) }

// changed runs under mu: the peers hear the counts in the order in which they came about.
func (s *slots) changed() {
	n := len(s.held)
	s.count.Store(int64(n))
	s.peers.Changed(n - s.asking)
	s.queue.router.onChange()
}

func (s *slots) list() []*Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make([]*Lease, 0, len(s.held))
	for _, l := range s.held {
		held = append(held, l)
	}
	return held
}

// leases are the slots of every profile there ever was in this process. None is forgotten: a reload must not lose sight of
// a lease that was taken on the eve of it, and an id takes a few words.
type leases struct {
	instance   string
	peers      Peers
	queue      *queue
	generation atomic.Uint64

	mu        sync.Mutex
	byProfile map[string]*slots
	byEgress  map[egress]*trial
}

func newLeases(instance string, peers Peers, q *queue) *leases {
	return &leases{instance: instance, peers: peers, queue: q, byProfile: make(map[string]*slots), byEgress: make(map[egress]*trial)}
}

func (ls *leases) of(profile string) *slots {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	s, ok := ls.byProfile[profile]
	if !ok {
		s = &slots{profile: profile, instance: ls.instance, peers: ls.peers.Slots(profile), queue: ls.queue, held: make(map[uint64]*Lease)}
		ls.byProfile[profile] = s
	}
	return s
}

// sharedTrial is the trial of an egress.
func (ls *leases) sharedTrial(e egress) *trial {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	t, ok := ls.byEgress[e]
	if !ok {
		t = &trial{}
		ls.byEgress[e] = t
	}
	return t
}

// take gives out a slot for n, or says why there is none: all are taken, or another call is to try the account first.
func (ls *leases) take(v *live, n *Node, h Holder, now time.Time) (*Lease, Reason) {
	s := v.slots[n.Index]
	l := &Lease{Profile: n.Profile, Generation: ls.generation.Add(1), Started: now, Holder: h, slots: s}
	if n.own {
		l.trials[0] = &s.trial
	}
	if n.shared {
		l.trials[1] = v.shared[n.Index]
	}
	if !l.enterTrials(now) {
		return nil, ReasonHalfOpen
	}
	if !s.take(l, n.Profile.MaxConcurrency) {
		l.leaveTrials()
		return nil, ReasonConcurrency
	}
	return l, Usable
}

// list is every held lease, the newest last.
func (ls *leases) list() []LeaseInfo {
	ls.mu.Lock()
	all := make([]*slots, 0, len(ls.byProfile))
	for _, s := range ls.byProfile {
		all = append(all, s)
	}
	ls.mu.Unlock()

	var held []*Lease
	for _, s := range all {
		held = append(held, s.list()...)
	}
	slices.SortFunc(held, func(a, b *Lease) int { return cmp.Compare(a.Generation, b.Generation) })
	infos := make([]LeaseInfo, 0, len(held))
	for _, l := range held {
		infos = append(infos, l.info())
	}
	return infos
}

// live is the Occupancy of a running hub: the slots behind the profile indexes of one table.
type live struct {
	slots  []*slots
	shared []*trial // of the egress; nil where an account has its own
}

func (ls *leases) behind(t *Table) *live {
	v := &live{slots: make([]*slots, 0, len(t.Profiles)), shared: make([]*trial, len(t.Profiles))}
	for i, p := range t.Profiles {
		v.slots = append(v.slots, ls.of(p.ID))
		if t.egress[i] >= 0 {
			v.shared[i] = ls.sharedTrial(egressOf(p))
		}
	}
	return v
}

// Trials tells of this instance's calls alone. It never waits.
func (v *live) Trials(i int) (own, shared time.Time) {
	if t := v.shared[i]; t != nil {
		shared = t.start()
	}
	return v.slots[i].trial.start(), shared
}

// Held counts this instance's slots and the others' as last heard of. It never waits.
func (v *live) Held(i int) int {
	s := v.slots[i]
	return int(s.count.Load()) + s.peers.Held()
}

// Full compares this instance's slots with those that the others leave it. It never waits.
func (v *live) Full(i, limit int) bool {
	s := v.slots[i]
	return limit > 0 && int(s.count.Load()) >= s.peers.Left(limit)
}
