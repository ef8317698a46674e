package admin

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"hermes-hub/admin/hub"
)

const (
	heartbeat    = 4 * time.Second  // the longest silence of a stream of events
	writesWithin = 20 * time.Second // how long a reader may take for what it is sent at once
)

// followEvents is the event bus as a stream of server-sent events, from now on, or, with Last-Event-ID, from the event after
// that one: `event`, `data` and `id`, in this order. Who missed some is sent RESYNC, and reads the snapshot again. A browser
// that opens its stream anew with another ticket names the last event in the query.
func (a *Admin) followEvents(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, "last_event_id")
	if err != nil {
		return err
	}
	ctx, leave := a.streams.enter(r.Context())
	defer leave()
	events := a.picture.Store.Bus().Subscribe(cmp.Or(r.Header.Get("Last-Event-ID"), q.Get("last_event_id")))
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	s := stream{w, http.NewResponseController(w), a.now}
	for err = s.beat(); err == nil; {
		err = s.next(ctx, events)
	}
	return nil // its reader has gone, or the hub has closed its doors
}

// stream is the way to one reader.
type stream struct {
	w    http.ResponseWriter
	conn *http.ResponseController
	now  func() time.Time
}

// next sends what comes next, or a heartbeat when nothing does.
func (s stream) next(ctx context.Context, from *hub.Subscription) error {
	waiting, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	events, err := from.Next(waiting)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return s.beat()
	case err != nil:
		return err
	}
	return s.send(events)
}

func (s stream) send(events []hub.Event) error {
	s.extend()
	for _, e := range events {
		for _, piece := range [...]string{"event: ", string(e.Name), "\ndata: ", e.Data, "\nid: ", e.ID, "\n\n"} {
			if _, err := io.WriteString(s.w, piece); err != nil {
				return err
			}
		}
	}
	return s.conn.Flush()
}

// beat says that the stream is there.
func (s stream) beat() error {
	s.extend()
	if _, err := io.WriteString(s.w, ": heartbeat\n\n"); err != nil {
		return err
	}
	return s.conn.Flush()
}

// extend gives the reader time for the next write.
func (s stream) extend() {
	_ = s.conn.SetWriteDeadline(s.now().Add(writesWithin)) // a recorder has none
}

// visits are the requests that stay until something happens. Close ends them all.
type visits struct {
	mu     sync.Mutex
	closed bool
	last   uint64
	open   map[uint64]context.CancelFunc
}

// enter is the context of a visit, and what ends it. After Close it has ended before it began.
func (v *visits) enter(ctx context.Context) (visit context.Context, leave func()) {
	visit, cancel := context.WithCancel(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		cancel()
		return visit, cancel
	}
	if v.open == nil {
		v.open = make(map[uint64]context.CancelFunc)
	}
	v.last++
	number := v.last
	v.open[number] = cancel
	return visit, func() {
		cancel()
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.open, number)
	}
}

// count is how many there are.
func (v *visits) count() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.open)
}

func (v *visits) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	for _, cancel := range v.open {
		cancel()
	}
}
