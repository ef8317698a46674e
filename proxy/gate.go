package proxy

import (
	"context"
	"sync"
)

// gate lets requests in until it is closed, and knows who is inside.
type gate struct {
	mu     sync.Mutex
	inside map[*exchange]struct{}
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

func newGate() *gate {
	return &gate{inside: map[*exchange]struct{}{}, empty: make(chan struct{})}
}

// enter lets x in, unless the gate is closed. Whoever was let in leaves.
func (g *gate) enter(x *exchange) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside[x] = struct{}{}
	return true
}

func (g *gate) leave(x *exchange) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, x)
	g.settle()
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

// drain closes the gate and waits until everyone has left. When ctx ends first, those still inside are told to stop, and
// waited for no longer.
func (g *gate) drain(ctx context.Context) (cut int) {
	g.mu.Lock()
	g.closed = true
	g.settle()
	g.mu.Unlock()
	select {
	case <-g.empty:
		return 0
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for x := range g.inside {
		x.cancel(errDrained)
	}
	return len(g.inside)
}
