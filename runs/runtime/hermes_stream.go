package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// hermesStream is a run's event stream while it is attached. Close ends it and waits for its goroutine.
type hermesStream struct {
	frames chan sseFrame // closed when the stream has ended
	why    error         // then: io.EOF, or what broke it

	cancel  context.CancelCauseFunc
	reading sync.WaitGroup
}

var (
	errHermesSilent  = errors.New("the runtime's event stream has fallen silent")
	errHermesNoQueue = errors.New("the runtime has no event stream of the run") // which says nothing about the run
)

// attach opens the run's event stream. The server keeps one queue of events for it, which is gone when a subscriber leaves:
// errHermesNoQueue.
func (h *Hermes) attach(ctx context.Context, id string) (*hermesStream, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(hermesCallIn, func() { cancel(errHermesSilent) })
	resp, err := h.wire.send(ctx, http.MethodGet, "/v1/runs/"+url.PathEscape(id)+"/events", nil, http.Header{"Accept": {"text/event-stream"}})
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close() // nothing more is wanted of it
		err = fmt.Errorf("attach to the runtime's event stream: status %d", resp.StatusCode)
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
			err = errHermesNoQueue
		}
	}
	if err != nil {
		silence.Stop()
		cancel(err)
		return nil, err
	}
	s := &hermesStream{frames: make(chan sseFrame), cancel: cancel}
	s.reading.Go(func() {
		defer close(s.frames)
		defer resp.Body.Close()
		defer silence.Stop()
		s.why = s.read(ctx, newSSEFrames(hermesHeard{resp.Body, silence, h.o.SilentAfter}))
	})
	return s, nil
}

// read hands the frames over, until the stream ends or nobody wants them any more.
func (s *hermesStream) read(ctx context.Context, frames *sseFrames) error {
	for {
		frame, err := frames.next()
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		select {
		case s.frames <- frame:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close leaves the stream.
func (s *hermesStream) Close() {
	s.cancel(context.Canceled)
	s.reading.Wait()
}

// hermesHeard puts the alarm off with everything that is heard, keepalives included.
type hermesHeard struct {
	io.Reader
	alarm *time.Timer
	after time.Duration
}

func (r hermesHeard) Read(p []byte) (int, error) {
	r.alarm.Reset(r.after)
	return r.Reader.Read(p)
}
