package redisstore_test

import (
	"io"
	"net"
	"sync"
	"testing"
)

// wire is a connection between programs that a test can cut, and lead elsewhere.
type wire struct {
	addr string
	l    net.Listener

	mu    sync.Mutex
	to    string // "": cut
	ends  map[net.Conn]bool
	ended sync.WaitGroup
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: l.Addr().String(), l: l, to: to, ends: map[net.Conn]bool{}}
	w.ended.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close() // nothing is left to be lost
		w.lead("")
		w.ended.Wait()
	})
	return w
}

// lead cuts what is connected, and leads whoever connects from now on to another place; "": nowhere.
func (w *wire) lead(to string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
	for c := range w.ends {
		_ = c.Close() // it is meant to be lost
	}
	clear(w.ends)
}

func (w *wire) accept() {
	for {
		near, err := w.l.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		far, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = near.Close() // as one that cannot be reached
		} else {
			w.ends[near], w.ends[far] = true, true
			w.ended.Go(func() { w.carry(near, far) })
			w.ended.Go(func() { w.carry(far, near) })
		}
		w.mu.Unlock()
	}
}

func (w *wire) carry(to, from net.Conn) {
	_, _ = io.Copy(to, from) // until either end is closed
	_ = to.Close()
	_ = from.Close()
}
