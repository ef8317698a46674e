package fakehermes

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/tidwall/gjson"
)

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/capabilities", s.capabilities)
	mux.HandleFunc("POST /v1/runs", s.order)
	mux.HandleFunc("GET /v1/runs/{id}", s.status)
	mux.HandleFunc("GET /v1/runs/{id}/events", s.events)
	mux.HandleFunc("POST /v1/runs/{id}/stop", s.stop)
	mux.HandleFunc("POST /v1/runs/{id}/approval", s.approval)
	if !s.o.Old {
		mux.HandleFunc("POST /v1/runs/{id}/steer", s.steer)
	}
	switch s.o.Clarify {
	case "run":
		mux.HandleFunc("POST /v1/runs/{id}/clarify", s.clarify)
	case "session":
		mux.HandleFunc("POST /api/sessions/{session}/clarify", s.clarify)
	}
	if s.o.Chatty {
		mux.HandleFunc("POST /v1/runs/{id}/messages", s.take)
		mux.HandleFunc("POST /api/sessions/{session}/goal", s.take)
	}
	return mux
}

// maxBody is Hermes' limit of a request's body.
const maxBody = 10 << 20

// ServeHTTP serves the API.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return // the caller has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.mu.Lock()
	s.calls = append(s.calls, Call{r.Method, r.URL.Path, r.Header.Clone(), body})
	down, intercept := s.down, s.intercept
	s.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case intercept != nil && intercept(w, r):
	case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+s.o.Key)) != 1 && s.o.Key != "":
		refuse(w, http.StatusUnauthorized, "gateway_auth_failed", "Invalid API key")
	case len(body) > maxBody:
		refuse(w, http.StatusRequestEntityTooLarge, "request_too_large", "Request body too large")
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// answer writes a JSON answer.
func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the caller has gone
}

// refuse writes an error in Hermes' shape.
func refuse(w http.ResponseWriter, status int, code, message string) {
	e := map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if code != "" {
		e["code"] = code
	}
	answer(w, status, map[string]any{"error": e})
}

// order is POST /v1/runs.
func (s *Server) order(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // it is in memory
	input := gjson.GetBytes(body, "input")
	if !gjson.ValidBytes(body) {
		refuse(w, http.StatusBadRequest, "", "Invalid JSON")
		return
	}
	if input.Str == "" && len(input.Array()) == 0 {
		refuse(w, http.StatusBadRequest, "", "Missing 'input' field")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := req.Header.Get("Idempotency-Key")
	if s.o.Old {
		key = ""
	}
	if r := s.keys[key]; key != "" && r != nil {
		if sha256.Sum256(r.body) != sha256.Sum256(body) {
			refuse(w, http.StatusConflict, "idempotency_key_conflict", "The idempotency key was used for another request")
			return
		}
		w.Header().Set("Idempotency-Replayed", "true")
		answer(w, http.StatusAccepted, map[string]any{"run_id": r.id, "status": r.status, "replayed": true})
		return
	}
	if s.running() >= s.o.MaxRuns {
		refuse(w, http.StatusTooManyRequests, "rate_limit_exceeded", fmt.Sprintf("Too many concurrent runs (max %d)", s.o.MaxRuns))
		return
	}
	r := s.begin(key, body)
	accepted := map[string]any{"run_id": r.id, "status": "started"}
	if !s.o.Old {
		accepted["replayed"] = false
	}
	answer(w, http.StatusAccepted, accepted)
	s.start(r)
}

func (s *Server) running() (n int) {
	for _, r := range s.runs {
		if !r.over() {
			n++
		}
	}
	return n
}

// begin makes a run that is queued.
func (s *Server) begin(key string, body []byte) *run {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	r := &run{
		s: s, id: "run_" + hex.EncodeToString(random[:]), key: key, body: body,
		created: s.o.Now(), queue: newQueue(), stop: make(chan struct{}), killed: make(chan struct{}),
	}
	if r.session = gjson.GetBytes(body, "session_id").Str; r.session == "" {
		r.session = r.id
	}
	r.set("queued", "", nil)
	s.runs[r.id] = r
	if key != "" {
		s.keys[key] = r
	}
	return r
}

// status is GET /v1/runs/{id}.
func (s *Server) status(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(w, req); r != nil {
		answer(w, http.StatusOK, r.record())
	}
}

// find is the run that a request is about, nil when it was answered that there is none. With s.mu held.
func (s *Server) find(w http.ResponseWriter, req *http.Request) *run {
	id := req.PathValue("id")
	for _, r := range s.runs {
		if session := req.PathValue("session"); session != "" && r.session == session && !r.over() {
			return r
		}
	}
	r := s.runs[id]
	if r == nil {
		refuse(w, http.StatusNotFound, "run_not_found", "Run not found: "+id)
	}
	return r
}
