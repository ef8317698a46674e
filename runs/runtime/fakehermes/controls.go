package fakehermes

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// stop is POST /v1/runs/{id}/stop.
func (s *Server) stop(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(w, req)
	switch {
	case r == nil:
	case r.over() && s.o.Old:
		refuse(w, http.StatusNotFound, "run_not_found", "Run not found: "+r.id)
	case r.over():
		answer(w, http.StatusOK, r.record())
	default:
		if !r.stopping {
			r.stopping = true
			r.set("stopping", "run.stopping", nil)
			close(r.stop)
		}
		answer(w, http.StatusOK, map[string]any{"run_id": r.id, "status": "stopping"})
	}
}

// choices are the choices of an approval, by what they are called.
var choices = map[string]string{
	"approve": "once", "approved": "once", "allow": "once", "once": "once", "session": "session", "always": "always", "deny": "deny",
}

// approval is POST /v1/runs/{id}/approval.
func (s *Server) approval(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // it is in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(w, req)
	if r == nil {
		return
	}
	choice := choices[strings.ToLower(gjson.GetBytes(body, "choice").Str)]
	id := cmp.Or(gjson.GetBytes(body, "request_id").Str, gjson.GetBytes(body, "approval_id").Str)
	switch {
	case choice == "":
		refuse(w, http.StatusBadRequest, "invalid_approval_choice", "Invalid approval choice; expected one of: once, session, always, deny")
		return
	case r.over():
		refuse(w, http.StatusConflict, "approval_not_active", "Run has no active approval session: "+r.id)
		return
	case !s.o.Old && id == "" && len(r.approvals) > 1:
		refuse(w, http.StatusBadRequest, "approval_request_required", "Several approvals are pending")
		return
	}
	i := slices.IndexFunc(r.approvals, func(a *ask) bool { return s.o.Old || id == "" || a.id == id })
	if i < 0 {
		refuse(w, http.StatusConflict, "approval_not_pending", "Run has no pending approval: "+r.id)
		return
	}
	a := r.approvals[i]
	r.approvals = slices.Delete(r.approvals, i, i+1)
	taken := map[string]any{"choice": choice, "resolved": 1}
	if !s.o.Old {
		taken["request_id"] = a.id
	}
	r.set("running", "approval.responded", nil)
	if !s.o.Mute {
		r.emit("approval.responded", taken)
	}
	a.answer <- choice
	taken = maps.Clone(taken)
	taken["object"], taken["run_id"] = "hermes.run.approval_response", r.id
	answer(w, http.StatusOK, taken)
}

// clarify answers a question.
func (s *Server) clarify(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // it is in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(w, req)
	if r == nil {
		return
	}
	id := gjson.GetBytes(body, "clarify_id").Str
	i := slices.IndexFunc(r.clarifies, func(a *ask) bool { return a.id == id })
	if i < 0 {
		refuse(w, http.StatusConflict, "clarify_not_pending", "No such question is pending")
		return
	}
	a := r.clarifies[i]
	r.clarifies = slices.Delete(r.clarifies, i, i+1)
	r.set("running", "clarify.responded", nil)
	r.emit("clarify.responded", map[string]any{"clarify_id": a.id})
	a.answer <- gjson.GetBytes(body, "response").Str
	answer(w, http.StatusOK, map[string]any{"object": "hermes.session.clarify", "session_id": r.session, "clarify_id": a.id})
}

// steer is POST /v1/runs/{id}/steer.
func (s *Server) steer(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // it is in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(w, req)
	text := cmp.Or(gjson.GetBytes(body, "input").Str, gjson.GetBytes(body, "message").Str, gjson.GetBytes(body, "text").Str)
	switch {
	case r == nil:
	case text == "":
		refuse(w, http.StatusBadRequest, "invalid_steer_input", "Nothing to steer with")
	case r.over() || r.stopping:
		refuse(w, http.StatusConflict, "run_not_accepting_steer", "The run does not accept steering now")
	default:
		r.steered = append(r.steered, text)
		r.emit("run.steered", map[string]any{"accepted": true})
		answer(w, http.StatusOK, map[string]any{"object": "hermes.run.steer", "run_id": r.id, "accepted": true})
	}
}

// take takes a message or a goal.
func (s *Server) take(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body) // it is in memory
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(w, req); r != nil {
		r.taken = append(r.taken, json.RawMessage(body))
		answer(w, http.StatusOK, map[string]any{"ok": true})
	}
}
