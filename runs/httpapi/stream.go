package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"hermes-hub/runs"
)

// ofWhat is what a stream is of.
type ofWhat int

const (
	ofRun ofWhat = iota
	ofSession
	ofResponse
)

// seats are the places of observers: so many streams may be open at a time.
type seats struct {
	most   int64
	all    atomic.Int64
	taken  [3]atomic.Int64
	opened atomic.Int64 // since the start
}

// take takes a place, and leave gives it back.
func (s *seats) take(of ofWhat) (leave func(), ok bool) {
	if s.all.Add(1) > s.most {
		s.all.Add(-1)
		return nil, false
	}
	s.taken[of].Add(1)
	return func() { s.taken[of].Add(-1); s.all.Add(-1) }, true
}

// crowded is the answer when all places are taken.
func (s *seats) crowded() *fault {
	return &fault{code: codeTooManyStreams, message: "too many streams are open: close some, or come back", retryAfter: 5 * time.Second}
}

const (
	pieceSize = 64 << 10 // what a reader must take within one deadline
	keptSize  = 4 << 10  // of a buffer, while its stream is idle
)

// stream is the way to one observer. It is written by one goroutine.
type stream struct {
	w        http.ResponseWriter
	conn     *http.ResponseController
	now      func() time.Time
	deadline time.Duration
	number   int64 // of the streams of this API
	bare     bool  // of events only: whoever reads OpenAI's streams may not expect what else there can be in one
	buffer   []byte
}

// open sends the head of a stream of events. Nothing is an error from here on.
func (a *API) open(q *call) *stream {
	h := q.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	q.w.WriteHeader(http.StatusOK)
	return &stream{w: q.w, conn: http.NewResponseController(q.w), now: a.now, deadline: a.o.WriteDeadline, number: a.seats.opened.Add(1)}
}

// row is an event that a cursor can name. data has no line break.
func (s *stream) row(id string, data []byte) {
	s.buffer = append(append(s.buffer, "id: "...), id...)
	s.buffer = append(append(append(s.buffer, "\ndata: "...), data...), "\n\n"...)
}

// control is a frame that is no row: it leaves the observer's cursor where it is.
func (s *stream) control(event string, v any) {
	data, _ := json.Marshal(v) // of what is handed in here, nothing can fail
	s.named(event, data)
}

// named writes an event under its name. data has no line break.
func (s *stream) named(event string, data []byte) {
	s.buffer = append(append(s.buffer, "event: "...), event...)
	s.buffer = append(append(append(s.buffer, "\ndata: "...), data...), "\n\n"...)
}

// retry tells how long to wait before coming back.
func (s *stream) retry(after time.Duration) {
	s.buffer = append(strconv.AppendInt(append(s.buffer, "retry: "...), after.Milliseconds(), 10), "\n\n"...)
}

// beat says that the stream is there.
func (s *stream) beat() error {
	s.buffer = append(s.buffer, ": heartbeat\n"...)
	if !s.bare { // where it is, an empty line would be an event without data to some
		s.buffer = append(s.buffer, '\n')
	}
	return s.flush()
}

// full reports whether there is enough to be sent.
func (s *stream) full() bool { return len(s.buffer) >= pieceSize }

// flush sends what there is. Its reader may be slow, so long as it takes each piece in time.
func (s *stream) flush() error {
	for piece := range slices.Chunk(s.buffer, pieceSize) {
		_ = s.conn.SetWriteDeadline(s.now().Add(s.deadline)) // a recorder has none
		if _, err := s.w.Write(piece); err != nil {
			return err
		}
	}
	much := len(s.buffer) > pieceSize/2 // there may be more at once
	if s.buffer = s.buffer[:0]; !much && cap(s.buffer) > keptSize {
		s.buffer = nil
	}
	return s.conn.Flush()
}

// done ends a stream that has told everything.
func (s *stream) done() error {
	s.buffer = append(s.buffer, "data: [DONE]\n\n"...)
	return s.flush()
}

// leave ends a stream whose request's context has ended. When it was not the client that went, it is told to come back, and
// not all clients at once.
func (s *stream) leave(ctx context.Context) {
	if s.bare || errors.Is(context.Cause(ctx), context.Canceled) {
		return
	}
	s.retry(time.Second + time.Duration(s.number*61%2000)*time.Millisecond)
	_ = s.flush() // its last words
}

// errLeft is the end of a stream whose reader is gone, or is sent away.
var errLeft = errors.New("the observer has left")

// await waits for something: fetch is called until it has it, with heartbeats in the silence. It returns io.EOF and
// runs.ErrUnknownRun from fetch, errLeft when the stream cannot go on; anything else is trouble with the store, and passes.
func (a *API) await(ctx context.Context, s *stream, fetch func(ctx context.Context) error) error {
	for {
		silence, cancel := context.WithTimeout(ctx, a.o.Heartbeat)
		err := fetch(silence)
		switch {
		case err == nil || errors.Is(err, io.EOF) || errors.Is(err, runs.ErrUnknownRun):
			cancel()
			return err
		case ctx.Err() == nil && silence.Err() == nil:
			a.o.Logger.Debug("an observer waits for the store", "error", err)
			<-silence.Done()
		}
		cancel()
		if ctx.Err() != nil {
			s.leave(ctx)
			return errLeft
		}
		if s.beat() != nil {
			return errLeft
		}
	}
}
