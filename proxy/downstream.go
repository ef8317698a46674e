package proxy

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// writeStall is how long one write to the client may block before the client counts as gone.
	writeStall = 20 * time.Second
	// heartbeatEvery is how long a committed stream may be silent. The contract allows 15 seconds.
	heartbeatEvery = 10 * time.Second
)

// pieceSize is how much is written at a time: what a client must take within writeStall.
const pieceSize = 64 << 10

// writeOut writes b. Its client may be as slow as it likes, as long as it goes on reading. The last deadline stays on the
// connection for what its server has still buffered; with the request the server takes it off.
func writeOut(w http.ResponseWriter, conn *http.ResponseController, b []byte) error {
	for piece := range slices.Chunk(b, pieceSize) {
		_ = conn.SetWriteDeadline(time.Now().Add(writeStall)) // a recorder has none
		if _, err := w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// downstream is the way to the client of a committed stream: whole events from the relay, heartbeats in its silence. One
// timer serves a whole stream: a write only stamps, and the timer looks at the stamp when it fires.
type downstream struct {
	w         http.ResponseWriter
	conn      *http.ResponseController
	heartbeat []byte
	gone      func(error) // told once, of a client that a heartbeat found gone

	mu      sync.Mutex // not held while bytes go out: that may take as long as writeStall
	free    sync.Cond  // of mu: writing is over
	writing bool
	last    time.Time
	torn    bool // part of an event is out: a comment would break it
	done    bool
	timer   *time.Timer
}

// open begins the heartbeats. close ends them.
func (d *downstream) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free.L = &d.mu
	d.last = time.Now()
	d.timer = time.AfterFunc(heartbeatEvery, d.beat)
}

// close returns when no heartbeat is being written and none will be.
func (d *downstream) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.await()
	d.done = true
	if d.timer != nil {
		d.timer.Stop()
		_ = d.conn.SetWriteDeadline(time.Now().Add(writeStall)) // for the last chunk, which the server writes
	}
}

// send writes b and pushes it out. torn says that b ends inside an event.
func (d *downstream) send(b []byte, torn bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.await()
	d.torn = torn
	return d.write(b)
}

// await waits until nobody writes. It runs under mu.
func (d *downstream) await() {
	for d.writing {
		d.free.Wait()
	}
}

// write begins and ends under mu, and lets it go while the bytes go out.
func (d *downstream) write(b []byte) error {
	d.last, d.writing = time.Now(), true
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		d.writing = false
		d.free.Signal()
	}()
	if err := writeOut(d.w, d.conn, b); err != nil {
		return err
	}
	if err := d.conn.Flush(); err != nil {
		return err
	}
	if d.torn { // no heartbeat renews it, and HTTP/2 ends the stream at its deadline, whether bytes are waiting or not
		_ = d.conn.SetWriteDeadline(time.Time{})
	}
	return nil
}

func (d *downstream) beat() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	if left := heartbeatEvery - time.Since(d.last); left > 0 || d.torn || d.writing {
		d.timer.Reset(max(left, heartbeatEvery/2))
		return
	}
	if err := d.write(d.heartbeat); err != nil {
		d.done = true
		d.gone(err)
		return
	}
	d.timer.Reset(heartbeatEvery)
}
