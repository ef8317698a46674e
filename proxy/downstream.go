package proxy

import (
	"net/http"
	"sync"
	"time"
)

const (
	// writeStall is how long one write to the client may block before the client counts as gone.
	writeStall = 20 * time.Second
	// heartbeatEvery is how long a committed stream may be silent. The contract allows 15 seconds.
	heartbeatEvery = 10 * time.Second
)

// heartbeat is one comment line with one newline: with two, a decoder that dispatches on blank lines stumbles (measured
// with openai-python). It joins the event that follows it.
var heartbeat = []byte(": hub\n")

// downstream is the way to the client of a committed stream: whole events from the relay, heartbeats in its silence. One
// timer serves a whole stream: a write only stamps, and the timer looks at the stamp when it fires.
type downstream struct {
	w    http.ResponseWriter
	conn *http.ResponseController
	gone func(error) // told once, of a client that a heartbeat found gone

	mu    sync.Mutex
	last  time.Time
	torn  bool // part of an event is out: a comment would break it
	done  bool
	timer *time.Timer
}

// open begins the heartbeats. close ends them.
func (d *downstream) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = time.Now()
	d.timer = time.AfterFunc(heartbeatEvery, d.beat)
}

// close returns when no heartbeat is being written and none will be.
func (d *downstream) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	if d.timer != nil {
		d.timer.Stop()
		_ = d.conn.SetWriteDeadline(time.Time{}) // the connection's next request has its own
	}
}

// send writes b and pushes it out. torn says that b ends inside an event.
func (d *downstream) send(b []byte, torn bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.torn = torn
	return d.write(b)
}

func (d *downstream) write(b []byte) error {
	d.last = time.Now()
	_ = d.conn.SetWriteDeadline(d.last.Add(writeStall)) // a recorder has none
	if _, err := d.w.Write(b); err != nil {
		return err
	}
	return d.conn.Flush()
}

func (d *downstream) beat() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	if left := heartbeatEvery - time.Since(d.last); left > 0 || d.torn {
		d.timer.Reset(max(left, heartbeatEvery/2))
		return
	}
	if err := d.write(heartbeat); err != nil {
		d.done = true
		d.gone(err)
		return
	}
	d.timer.Reset(heartbeatEvery)
}
