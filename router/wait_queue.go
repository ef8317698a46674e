package router

import (
	"slices"
	"sync"
)

// queue are the requests that wait for slots. It has no goroutine: whoever gives a slot back hands it over, and whoever
// changes what may be called looks through the queue.
//
// The lock comes before that of any slots, and nothing is awaited under it. No wake-up is lost: a request enrolls at the
// slots before it looks whether one is free, and a slot is free before the one who frees it looks who is enrolled.
type queue struct {
	router *Router

	mu       sync.Mutex
	lines    []*sessionLine          // the one whose turn is next first; none is empty once the lock is given back
	sessions map[string]*sessionLine // by session id, where there is one
	waiting  map[string]int          // by role id
}

// sessionLine are the waiting requests of one session, the one that came first in front.
type sessionLine struct {
	session string
	waiters []*waiter
}

// waiter is one request in the queue. Until over is closed it belongs to the queue, its plan included.
type waiter struct {
	plan *Plan
	want Want
	line *sessionLine
	at   []*slots      // where it is enrolled: those it could be given, now or once one is free
	over chan struct{} // closed when it has left the queue

	node  *Node // what it was given, nil = nothing
	lease *Lease
}

func newQueue(r *Router) *queue {
	return &queue{router: r, sessions: make(map[string]*sessionLine), waiting: make(map[string]int)}
}

// join puts w at the end of its session's line, and gives it a slot if one is free that is nobody else's turn. It reports
// false when the queue is full.
func (q *queue) join(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	role := w.plan.Query.Role.ID
	if q.waiting[role] >= maxWaiting {
		return false
	}
	q.waiting[role]++
	w.line = q.lineOf(w.plan.Query.Session)
	w.line.waiters = append(w.line.waiters, w)
	if q.look(w); w.idle() {
		q.end(w)
		q.tidy()
		return true
	}
	for _, s := range slices.Clone(w.at) {
		q.hand(s)
		if w.left() {
			break
		}
	}
	return true
}

// lineOf is the line of a session, a new one at the end when none of its requests waits.
func (q *queue) lineOf(session string) *sessionLine {
	if l, ok := q.sessions[session]; ok {
		return l
	}
	l := &sessionLine{session: session}
	q.lines = append(q.lines, l)
	if session != "" {
		q.sessions[session] = l
	}
	return l
}

// leave takes w out, if nobody has yet.
func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !w.left() {
		q.end(w)
		q.tidy()
	}
}

// serve hands the free slots of s to those who wait for them. It reports whether somebody who could use one goes on
// waiting: nobody else may take one then.
func (q *queue) serve(s *slots) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.hand(s)
}

// serveAll hands over whatever may be handed over now: what accounts may be called has changed.
func (q *queue) serveAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hand(nil)
}

// hand goes through the lines in turn, and ends when the slots of s are taken or nobody is left who could use one. A
// session that was given one waits for its next turn behind all others. With s nil it is about every account's slots.
func (q *queue) hand(s *slots) (wanted bool) {
	defer q.tidy()
	for i := 0; i < len(q.lines); {
		l := q.lines[i]
		given, full := q.handOne(l, s)
		if full {
			return true
		}
		if given {
			q.lines = append(slices.Delete(q.lines, i, i+1), l)
		} else {
			i++
		}
	}
	return false
}

// handOne gives the first of a line who can use a slot one. Those for whom waiting has become idle leave on the way. full
// means that one could use a slot of s and there is none.
func (q *queue) handOne(l *sessionLine, s *slots) (given, full bool) {
	for i := 0; i < len(l.waiters); {
		w := l.waiters[i]
		if s != nil && !slices.Contains(w.at, s) {
			i++
			continue
		}
		q.look(w)
		switch {
		case w.idle():
			q.end(w)
		case q.give(w, s):
			return true, false
		case s != nil && slices.Contains(w.at, s):
			return false, true
		default:
			i++
		}
	}
	return false, false
}

// look makes w's plan anew and enrolls w at the slots it could be given. A slot at which it was not enrolled before may
// have become free unheard before it was: it looks again.
func (q *queue) look(w *waiter) {
	for again := true; again; {
		q.router.Plan(w.plan.Query, w.plan)
		again = w.enroll()
	}
}

// enroll reports whether w is enrolled anywhere where it was not.
func (w *waiter) enroll() (more bool) {
	at := make([]*slots, 0, len(w.at))
	for i := range w.plan.Nodes {
		n := &w.plan.Nodes[i]
		s := w.plan.slotsOf(n)
		if !slotted(n) || !w.want.Open(n) || slices.Contains(at, s) {
			continue
		}
		at = append(at, s)
		s.waiting.Add(1)
		more = more || !slices.Contains(w.at, s)
	}
	w.unenroll() // after, so that no count falls to zero in between
	w.at = at
	return more
}

func (w *waiter) unenroll() {
	for _, s := range w.at {
		s.waiting.Add(-1)
	}
	w.at = nil
}

// slotted reports whether all that a node needs is one of the slots of which its account has so many, or its turn to try
// the account.
func slotted(n *Node) bool {
	switch n.Reason {
	case ReasonConcurrency, ReasonHalfOpen:
		return true
	default:
		return n.Reason == Usable && (n.Profile.MaxConcurrency > 0 || n.Trial)
	}
}

// slotsOf are the slots of a node's account.
func (p *Plan) slotsOf(n *Node) *slots { return p.Snapshot.live.slots[n.Index] }

// idle reports whether waiting on is of no use: there is an account that needs no queueing, or none to queue for.
func (w *waiter) idle() bool {
	for i := range w.plan.Nodes {
		if n := &w.plan.Nodes[i]; n.Reason == Usable && !slotted(n) && w.want.Open(n) {
			return true
		}
	}
	return len(w.at) == 0 && !w.want.Stay
}

// give gives w the first slot in the order of its plan, of s or, when s is nil, of any account. It reports whether there
// was one.
func (q *queue) give(w *waiter, s *slots) bool {
	now := q.router.now()
	for i := range w.plan.Nodes {
		n := &w.plan.Nodes[i]
		if n.Reason != Usable || !w.want.Open(n) || s != nil && w.plan.slotsOf(n) != s {
			continue
		}
		if lease, _ := q.router.leases.take(w.plan.Snapshot.live, n, w.want.Holder, now); lease != nil {
			w.node, w.lease = n, lease
			q.end(w)
			return true
		}
	}
	return false
}

// end takes w out of its line. Whoever calls it tidies up afterwards.
func (q *queue) end(w *waiter) {
	w.unenroll()
	i := slices.Index(w.line.waiters, w)
	w.line.waiters = slices.Delete(w.line.waiters, i, i+1)
	role := w.plan.Query.Role.ID
	if q.waiting[role]--; q.waiting[role] == 0 {
		delete(q.waiting, role)
	}
	close(w.over)
}

// left reports whether w has left the queue.
func (w *waiter) left() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// tidy takes away the lines in which nobody stands any more.
func (q *queue) tidy() {
	q.lines = slices.DeleteFunc(q.lines, func(l *sessionLine) bool {
		if len(l.waiters) > 0 {
			return false
		}
		delete(q.sessions, l.session) // a line without a session is not in there
		return true
	})
}
