package router

import (
	"maps"
	"strings"
	"sync"
)

// longestSession is how long a session's id may be, in bytes, to be shown.
const longestSession = 256

// lastSessions are the sessions that were bound to an account last, for people to see. They are kept in memory alone: bonds
// hold hashes, and nothing that a client calls itself gets to disk.
type lastSessions struct {
	mu sync.Mutex
	by map[string]string // by role id
}

// note remembers a session. Mostly it is the one before.
func (l *lastSessions) note(role, session string) {
	if len(session) > longestSession {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by[role] == session {
		return
	}
	if l.by == nil {
		l.by = make(map[string]string)
	}
	l.by[role] = strings.Clone(session) // it may be a part of a whole request
}

func (l *lastSessions) all() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.by)
}

// Sessions tells for every role, by its id, which session was bound to an account last, as long as it is. What this process
// has not seen, or is longer than any id has to be, is not among them.
func (r *Router) Sessions() map[string]string {
	all, t, now := r.sessions.all(), r.Snapshot().Table, r.now()
	maps.DeleteFunc(all, func(role, session string) bool {
		known, ok := t.Role(role)
		return !ok || !known.Affinity || r.affinity.find(bondKey{keyOf(session), role}, t.Settings.AffinityTTL, now) == ""
	})
	return all
}
