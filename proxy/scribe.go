package proxy

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"hermes-hub/telemetry"
)

const (
	// newsEvery is how long news wait for other news: what is told at once is stored at once, and a commit costs more than a
	// call's rows.
	newsEvery = 250 * time.Millisecond

	mostOpen = 1 << 14  // calls that are being recorded; more leave nothing
	mostHeld = 64 << 20 // bytes of bodies whose last words the recorder was not told yet
)

// scribe tells the recorder of calls, beside them: whatever a recorder does, no request waits for it. Its goroutine is there
// only while there is something to tell.
type scribe struct {
	recorder Recorder
	logger   *slog.Logger
	hurry    chan struct{} // of one: somebody waits to have everything told

	mu    sync.Mutex      // guards records too
	due   []*record       // with news, each once
	open  int             // records that were not told to their end
	held  int             // bytes of their bodies
	full  bool            // calls leave nothing, for too many are open
	works bool            // the goroutine is there
	waits []chan struct{} // of those who wait for what was due when they came
}

func newScribe(r Recorder, logger *slog.Logger) *scribe {
	return &scribe{recorder: r, logger: logger, hurry: make(chan struct{}, 1)}
}

// admit begins a record, and reports whether there is room for it.
func (s *scribe) admit(r *record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := s.open >= mostOpen || s.full && s.open > mostOpen/2
	if full != s.full {
		s.full = full
		s.logger.Warn("calls leave no run while the journal does not keep up", "left_out", full, "open", s.open)
	}
	if full {
		return false
	}
	s.open++
	if s.held+len(r.body) > mostHeld {
		r.body = nil
	}
	s.held += len(r.body)
	s.queue(r)
	return true
}

// say adds what has been said since the last time.
func (s *scribe) say(r *record, pieces []saying) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, piece := range pieces {
		size := piece.size()
		if r.untold+size <= mostUntold {
			r.untold += size
			r.said = append(r.said, piece)
			continue
		}
		if n := len(r.said); n == 0 || r.said[n-1].kind != saidLess {
			r.said = append(r.said, saying{kind: saidLess})
		}
		r.said[len(r.said)-1].left++
	}
	s.queue(r)
}

// end tells how the call ended.
func (s *scribe) end(r *record, story *telemetry.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.story, r.ended = *story, true
	s.queue(r)
}

// queue says that there is news. It runs under mu.
func (s *scribe) queue(r *record) {
	if !r.queued {
		r.queued = true
		s.due = append(s.due, r)
	}
	if !s.works {
		s.works = true
		go s.work()
	}
}

// work tells what there is to tell, now and then, until there is nothing.
func (s *scribe) work() {
	pause := time.NewTimer(newsEvery)
	defer pause.Stop()
	var due []*record
	for {
		select {
		case <-pause.C:
		case <-s.hurry:
		}
		pause.Reset(newsEvery)
		s.mu.Lock()
		due, s.due = s.due, due[:0]
		waits := s.waits
		s.waits = nil
		s.mu.Unlock()
		for i, r := range due {
			s.tell(r)
			due[i] = nil
		}
		for _, told := range waits {
			close(told)
		}
		s.mu.Lock()
		s.works = len(s.due)+len(s.waits) > 0
		done := !s.works
		s.mu.Unlock()
		if done {
			return
		}
	}
}

// tell tells the news of one call.
func (s *scribe) tell(r *record) {
	s.mu.Lock()
	pieces, ended := r.said, r.ended
	r.said, r.untold, r.queued = nil, 0, false
	s.mu.Unlock()
	s.telling(r, pieces, ended)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held -= len(r.body)
	r.body = nil
	if ended {
		s.open--
	}
}

// telling calls the recorder. A recorder that panics hears no more of this call.
func (s *scribe) telling(r *record, pieces []saying, ended bool) {
	defer func() {
		if cause := recover(); cause != nil {
			r.recording = nil
			s.logger.Error("panic while recording a call", "request", r.facts.RequestID, "panic", cause, "stack", string(debug.Stack()))
		}
	}()
	if !r.begun {
		r.begun = true
		if r.body != nil {
			r.facts.Input = lastWords(r.body)
		}
		r.recording = s.recorder.Record(&r.facts)
	}
	if r.recording == nil {
		return
	}
	for i := range pieces {
		pieces[i].tell(r.recording)
	}
	if ended {
		r.recording.End(&r.story)
	}
}

// settle waits until everything is told that there was to tell when it was called.
func (s *scribe) settle(ctx context.Context) error {
	s.mu.Lock()
	if !s.works {
		s.mu.Unlock()
		return nil
	}
	told := make(chan struct{})
	s.waits = append(s.waits, told)
	s.mu.Unlock()
	select {
	case s.hurry <- struct{}{}:
	default:
	}
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
