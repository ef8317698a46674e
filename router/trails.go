package router

import "sync"

// trailsCap is how many finished requests can be explained afterwards.
const trailsCap = 512

// Trails remembers what became of the last finished requests, for the explain view. The zero value is empty and ready.
// Recording copies plain memory that the ring already owns; rendering waits until somebody asks.
type Trails struct {
	Seq func() uint64 // of the snapshot that people see, at any moment; set before the first Record; nil = trails tell the router's own version

	mu   sync.Mutex
	ring [trailsCap]trail
	next int
	byID map[string]int // index in ring
}

// trail is one request. Its memory is used again by the request that takes its place.
type trail struct {
	id       string
	snapshot Snapshot // its version only: a trail keeps no table and no standing alive
	plan     Plan
	source   RoleSource
	tried    []Tried
}

// Record keeps the story of a finished request: the plan as it stood at the end and everyone who was called. It copies
// what it keeps, so p and tried may be used again at once. A request that was never planned has no story.
func (t *Trails) Record(id string, p *Plan, source RoleSource, tried []Tried) {
	if p.Snapshot == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = make(map[string]int, trailsCap)
	}
	kept := &t.ring[t.next]
	if i, ok := t.byID[kept.id]; ok && i == t.next {
		delete(t.byID, kept.id)
	}
	kept.keep(id, p, source, tried)
	if t.Seq != nil {
		kept.snapshot.Version = t.Seq()
	}
	t.byID[id] = t.next
	t.next = (t.next + 1) % trailsCap
}

func (t *trail) keep(id string, p *Plan, source RoleSource, tried []Tried) {
	nodes := append(t.plan.Nodes[:0], p.Nodes...)
	clear(nodes[len(nodes):cap(nodes)]) // a longer trail before this one must not keep its accounts alive
	t.id, t.source, t.plan = id, source, *p
	t.plan.Nodes = nodes
	t.snapshot.Version = p.Snapshot.Version
	t.plan.Snapshot = &t.snapshot
	if t.tried == nil {
		t.tried = make([]Tried, 0, len(tried)) // not nil: this is what happened
	}
	t.tried = append(t.tried[:0], tried...)
}

// Find explains the request of that id, while it is remembered.
func (t *Trails) Find(id string) (Explanation, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.byID[id]
	if !ok {
		return Explanation{}, false
	}
	kept := &t.ring[i]
	return Explain(&kept.plan, kept.source, kept.tried, kept.id), true
}
