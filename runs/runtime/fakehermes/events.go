package fakehermes

import (
	"io"
	"net/http"
	"time"
)

// events is GET /v1/runs/{id}/events.
func (s *Server) events(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	r, cut, left := s.runs[req.PathValue("id")], s.cut, s.cutAfter
	if r == nil || r.queue == nil {
		s.mu.Unlock()
		refuse(w, http.StatusNotFound, "run_not_found", "Run not found: "+req.PathValue("id"))
		return
	}
	q := r.queue
	r.subscribers++
	s.mu.Unlock()
	defer s.unsubscribe(r)

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	send(w, "")
	for {
		frame, ok, over, bell := q.pop()
		switch {
		case ok && (left == 0 || req.Context().Err() != nil):
			panic(http.ErrAbortHandler)
		case ok:
			left--
			send(w, frame)
			continue
		case over:
			send(w, ": stream closed\n\n")
			return
		}
		if !s.wait(w, req, bell, cut) {
			return
		}
	}
}

// wait waits for news, and keeps the stream alive meanwhile. It reports whether the subscriber is still there.
func (s *Server) wait(w http.ResponseWriter, req *http.Request, bell, cut <-chan struct{}) bool {
	left := req.Context().Done()
	if s.o.LateNotice {
		left = nil
	}
	keepalive := time.NewTimer(s.o.KeepaliveEvery)
	defer keepalive.Stop()
	for {
		select {
		case <-bell:
			return true
		case <-keepalive.C:
			if req.Context().Err() != nil {
				return false
			}
			send(w, ": keepalive\n\n")
			keepalive.Reset(s.o.KeepaliveEvery)
		case <-cut:
			panic(http.ErrAbortHandler)
		case <-left:
			return false
		case <-s.closed:
			return false
		}
	}
}

// unsubscribe takes the queue away: later events are lost. Without a queue nothing is left to take.
func (s *Server) unsubscribe(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.subscribers = max(r.subscribers-1, 0)
	r.queue = nil
}

func send(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text) // a caller that has gone is noticed by its context
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
