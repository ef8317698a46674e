package router

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// affinityCap is how many bonds are kept; the one renewed least recently goes first. The Python hub's number.
const affinityCap = 1000

// sessionKey stands for a session id: it takes the same room whatever a client sends, and nothing a client calls itself
// by reaches the state on disk.
type sessionKey [16]byte

func keyOf(session string) sessionKey {
	sum := sha256.Sum256([]byte(session))
	return sessionKey(sum[:16])
}

// bondKey: a session keeps one account per role, so that no role is forced onto another role's account.
type bondKey struct {
	session sessionKey
	role    string // canonical id
}

// bond is the account that answered a session in a role last.
type bond struct {
	bondKey
	profile string
	at      time.Time // of the success that made or renewed it
	toldAt  time.Time // when the peers were told of it last, or told of it
}

// affinity remembers bonds. It owns its lock; nothing else is held while it is.
type affinity struct {
	mu    sync.Mutex
	order *list.List // of bond, the one renewed last in front
	bonds map[bondKey]*list.Element
	last  map[sessionKey]string // the role that a session used last
}

func newAffinity() *affinity {
	return &affinity{
		order: list.New(),
		bonds: make(map[bondKey]*list.Element),
		last:  make(map[sessionKey]string),
	}
}

// bind makes or renews a bond, and reports whether the peers are to hear of it: it is another one than they know of, or a
// quarter of its time has passed since.
func (a *affinity) bind(b bond, ttl time.Duration) (news bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.toldAt = b.at
	if e, ok := a.bonds[b.bondKey]; ok {
		if was := e.Value.(*bond); was.profile == b.profile && (ttl <= 0 || b.at.Sub(was.toldAt) < ttl/4) {
			b.toldAt = was.toldAt
		}
	}
	a.enter(b)
	return b.toldAt.Equal(b.at)
}

// hear makes or renews a bond that a peer made, unless a younger one is known. It reports whether it is another one than
// before.
func (a *affinity) hear(b bond) (news bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	news = true
	if e, ok := a.bonds[b.bondKey]; ok {
		was := e.Value.(*bond)
		if was.at.After(b.at) {
			return false
		}
		news = was.profile != b.profile
	}
	b.toldAt = b.at
	last, ok := a.last[b.session]
	younger := ok && a.bonds[bondKey{b.session, last}].Value.(*bond).at.After(b.at)
	a.enter(b)
	if _, kept := a.bonds[bondKey{b.session, last}]; younger && kept {
		a.last[b.session] = last
	}
	return news
}

// enter runs under mu.
func (a *affinity) enter(b bond) {
	a.last[b.session] = b.role
	if e, ok := a.bonds[b.bondKey]; ok {
		*e.Value.(*bond) = b
		a.order.MoveToFront(e)
		return
	}
	a.bonds[b.bondKey] = a.order.PushFront(&b)
	if len(a.bonds) > affinityCap {
		a.drop(a.order.Back())
	}
}

// find returns the profile bound to k, "" when there is none younger than ttl; a ttl of zero or less never ends.
func (a *affinity) find(k bondKey, ttl time.Duration, now time.Time) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.bonds[k]
	if !ok {
		return ""
	}
	b := e.Value.(*bond)
	if b.expired(ttl, now) {
		a.drop(e)
		return ""
	}
	return b.profile
}

// lastRole returns the role that the session used last, "" when its bond is gone.
func (a *affinity) lastRole(session sessionKey, ttl time.Duration, now time.Time) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	role, ok := a.last[session]
	if !ok {
		return ""
	}
	if e := a.bonds[bondKey{session, role}]; e.Value.(*bond).expired(ttl, now) {
		a.drop(e)
		return ""
	}
	return role
}

// all lists the bonds, the one renewed last at the end: bound again in this order they are as they were.
func (a *affinity) all() []bond {
	a.mu.Lock()
	defer a.mu.Unlock()
	bonds := make([]bond, 0, len(a.bonds))
	for e := a.order.Back(); e != nil; e = e.Prev() {
		bonds = append(bonds, *e.Value.(*bond))
	}
	return bonds
}

// drop runs under mu. The role a session used last is that of its youngest bond, so it is forgotten with that one, when no
// other bond of the session can be left.
func (a *affinity) drop(e *list.Element) {
	b := a.order.Remove(e).(*bond)
	delete(a.bonds, b.bondKey)
	if a.last[b.session] == b.role {
		delete(a.last, b.session)
	}
}

func (b *bond) expired(ttl time.Duration, now time.Time) bool {
	return ttl > 0 && now.Sub(b.at) >= ttl
}
