// Package fakehermes is a Hermes API server for tests: its routes, statuses and flaws, with an agent that the test writes.
//
//	s := fakehermes.New(fakehermes.Options{Key: "k"}, func(t *fakehermes.Turn) (string, error) {
//		t.Say("Hel")
//		t.Tool("terminal", "ls")
//		t.Say("lo")
//		return "Hello", nil
//	})
//	defer s.Close()
//
// It is served on the loopback interface by Listen, or without a network through Client, whose clock may be a bubble's.
//
// What it is faithful to: one queue of events for each run, which belongs to whoever subscribes, is gone when that one
// leaves, and is dropped when nobody has come for five minutes; status records, which outlive a restart only in a Durable
// server and only for runs that were ordered with an Idempotency-Key; approvals that wait, by id or, in an Old server, in a
// line whose head every answer is for.
package fakehermes

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// Options make a Server. The zero value is a current server without a key.
type Options struct {
	Key     string // that callers must present; "": none
	Old     bool   // as 0.19: approvals without ids, no steering, no idempotency, a stop of an ended run is 404
	Durable bool   // runs with an idempotency key are known after a Restart
	MaxRuns int    // that run at once; 10
	Silent  bool   // GET /v1/capabilities is 404
	Mute    bool   // a taken approval has no event

	// Clarify is where questions are answered: "run", "session", or "" for nowhere.
	Clarify string
	// Chatty has runs take messages, and sessions goals.
	Chatty bool
	// LateNotice has the server see only with the next event that a subscriber has left, as the real one does. That event
	// is lost, and with it the queue of whoever has come since.
	LateNotice bool

	Now            func() time.Time // nil: the system's
	KeepaliveEvery time.Duration    // 30 s
}

// Server is a fake Hermes API server. Its methods may be called from many goroutines.
type Server struct {
	o      Options
	agent  Agent
	mux    *http.ServeMux
	closed chan struct{}
	work   sync.WaitGroup // agents, and handlers in memory

	mu        sync.Mutex
	runs      map[string]*run
	keys      map[string]*run
	calls     []Call
	cutAfter  int // frames that a stream may send before it is cut; -1: all
	down      bool
	cut       chan struct{} // closed to cut every stream
	intercept func(http.ResponseWriter, *http.Request) bool
}

// Call is a request that came in.
type Call struct {
	Method, Path string
	Header       http.Header
	Body         json.RawMessage
}

// New returns a Server whose runs are executed by the agent.
func New(o Options, agent Agent) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxRuns = cmp.Or(o.MaxRuns, 10)
	o.KeepaliveEvery = cmp.Or(o.KeepaliveEvery, 30*time.Second)
	s := &Server{
		o: o, agent: agent, closed: make(chan struct{}), cut: make(chan struct{}),
		runs: map[string]*run{}, keys: map[string]*run{}, cutAfter: -1,
	}
	s.mux = s.routes()
	return s
}

// Close stops every agent and waits until nothing of the server is left.
func (s *Server) Close() {
	close(s.closed)
	s.mu.Lock()
	for _, r := range s.runs {
		r.kill()
	}
	s.cutAll()
	s.mu.Unlock()
	s.work.Wait()
}

// Calls are the requests so far with that method and path.
func (s *Server) Calls(method, path string) (calls []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Method == method && c.Path == path {
			calls = append(calls, c)
		}
	}
	return calls
}

// CutAfter cuts the event streams that begin from now on after so many frames; -1 cuts none.
func (s *Server) CutAfter(frames int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutAfter = frames
}

// Down makes the server break off every connection, those of streams included, or serve again. Its runs go on.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down = down; down {
		s.cutAll()
	}
}

// cutAll cuts every stream. With s.mu held.
func (s *Server) cutAll() {
	close(s.cut)
	s.cut = make(chan struct{})
}

// Intercept has every request go through f first, which may answer it and say so.
func (s *Server) Intercept(f func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// Restart ends the process and starts another: streams break, agents are gone, and what is not durable is forgotten.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutAll()
	for id, r := range s.runs {
		over := r.over()
		r.kill()
		r.queue = nil
		switch {
		case !s.o.Durable || r.key == "" || s.o.Old:
			delete(s.runs, id)
			delete(s.keys, r.key)
		case !over:
			r.set("interrupted", "run.interrupted", nil)
		}
	}
}

// Sweep drops the queues that nobody came for within five minutes, and the records of runs that ended an hour ago.
func (s *Server) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	for id, r := range s.runs {
		if r.subscribers == 0 && now.Sub(r.created) > 5*time.Minute {
			r.queue = nil
		}
		if r.over() && now.Sub(r.updated) > time.Hour {
			delete(s.runs, id)
		}
	}
}
