package proxy

import (
	"context"
	"sync"
)

// gate lets requests in until it is closed, and knows who is inside.
type gate struct {
	mu     sync.Mutex
	inside map[*visit]struct{}
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

// visit is one request's stay inside.
type visit struct {
	cancel context.CancelCauseFunc
	// watches says that it only reads what others do, for as long as they do it. Who drains does not wait for it: it ends
	// at once, and can go on elsewhere from where it was.
	watches bool
}

func newGate() *gate {
	return &gate{inside: map[*visit]struct{}{}, empty: make(chan struct{})}
}

// enter lets a request in, unless the gate is closed. Whoever was let in leaves.
func (g *gate) enter(v *visit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside[v] = struct{}{}
	return true
}

func (g *gate) leave(v *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, v)
	g.settle()
}

// watch says of a request that is inside that from here on it only watches.
func (g *gate) watch(v *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	v.watches = true
	if g.closed {
		v.cancel(ErrStopping)
	}
}

// settle says when the last one has left a closed gate.
func (g *gate) settle() {
	if !g.closed || len(g.inside) > 0 {
		return
	}
	select {
	case <-g.empty:
	default:
		close(g.empty)
	}
}

// drain closes the gate, sends away who only watches, and waits until everyone has left. When ctx ends first, those still
// inside are told to stop, and waited for no longer.
func (g *gate) drain(ctx context.Context) (cut int) {
	g.mu.Lock()
	g.closed = true
	for v := range g.inside {
		if v.watches {
			v.cancel(ErrStopping)
		}
	}
	g.settle()
	g.mu.Unlock()
	select {
	case <-g.empty:
		return 0
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for v := range g.inside {
		v.cancel(ErrStopping)
	}
	return len(g.inside)
}
