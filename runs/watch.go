package runs

import (
	"context"
	"sync"
	"time"
)

// arrivals are the bells of sessions: each rings when a run of its session begins.
type arrivals struct {
	mu        sync.Mutex
	bySession map[string]*arrival
}

type arrival struct {
	watches int
	heard   chan struct{} // closed and replaced when a run begins
}

// Watch waits for the runs of a session to begin. It belongs to one goroutine.
type Watch struct {
	j       *Journal
	session string
	heard   <-chan struct{}
}

// Watch begins to listen: no run that begins from now on, in this process, is missed between two waits. Close must be
// called.
func (j *Journal) Watch(sessionID string) *Watch {
	a := &j.rooms.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	bell := a.bySession[sessionID]
	if bell == nil {
		bell = &arrival{heard: make(chan struct{})}
		if a.bySession == nil {
			a.bySession = map[string]*arrival{}
		}
		a.bySession[sessionID] = bell
	}
	bell.watches++
	return &Watch{j, sessionID, bell.heard}
}

// Close ends the watch.
func (w *Watch) Close() {
	a := &w.j.rooms.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	if bell := a.bySession[w.session]; bell.watches > 1 {
		bell.watches--
	} else {
		delete(a.bySession, w.session)
	}
}

// Wait returns nil when a run of the session may have begun since the watch was made or the last Wait returned nil: here,
// or, where others write to the store too, perhaps elsewhere.
func (w *Watch) Wait(ctx context.Context) error {
	var poll <-chan time.Time
	if w.j.o.Poll > 0 {
		timer := time.NewTimer(w.j.o.Poll)
		defer timer.Stop()
		poll = timer.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-poll:
	case <-w.heard:
	}
	a := &w.j.rooms.arrivals
	a.mu.Lock()
	defer a.mu.Unlock()
	w.heard = a.bySession[w.session].heard
	return nil
}

// ring says that a run of the session has begun, if the batch has begun one.
func (a *arrivals) ring(begin *Origin) {
	if begin == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if bell := a.bySession[begin.SessionID]; bell != nil {
		close(bell.heard)
		bell.heard = make(chan struct{})
	}
}
