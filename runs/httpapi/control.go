package httpapi

import (
	"cmp"
	"errors"
	"net/http"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// controlled is the answer to a wish about a run: the run, and what the WebUI's runner client and Hermes' clients read.
type controlled struct {
	runObject
	OK       bool   `json:"ok"`
	Message  string `json:"message"`
	Accepted bool   `json:"accepted"`

	Choice     string `json:"choice,omitempty"`
	ApprovalID string `json:"approval_id,omitempty"`
	RequestID  string `json:"request_id,omitempty"` // what Hermes calls it
	ClarifyID  string `json:"clarify_id,omitempty"`
	Resolved   int    `json:"resolved,omitempty"`
}

// wish carries out a wish about a run.
func (a *API) wish(q *call, runID string, c runtime.Control) error {
	head, err := a.head(q.r.Context(), q.client, runID)
	if err != nil {
		return err
	}
	run, err := a.o.Executor.Control(q.r.Context(), head.RunID, c)
	if c.Verb == runtime.Cancel && (errors.Is(err, runtime.ErrNotActive) || errors.Is(err, runtime.ErrGone)) {
		// Nothing is left to be stopped: that is what was wanted.
		if run, err = a.o.Journal.Look(q.r.Context(), head.RunID); err == nil && run.TerminalState == "" {
			err = runtime.ErrNotActive
		}
	}
	if err != nil {
		return err
	}
	answer := controlled{runObject: objectOf(run), OK: true, Accepted: true, Message: "The run was told."}
	switch c.Verb {
	case runtime.Cancel:
		answer.Message = "The run is being stopped."
		if run.TerminalState != "" {
			answer.Message = "The run has ended."
		}
	case runtime.Approval:
		answer.Choice, answer.ApprovalID, answer.RequestID, answer.Resolved = c.Text, c.ID, c.ID, 1
	case runtime.Clarify:
		answer.ClarifyID, answer.Resolved = c.ID, 1
	}
	return q.answer(http.StatusOK, answer)
}

// stop asks a run to end. What the request's body says does not matter.
func (a *API) stop(q *call) error {
	return a.wish(q, q.args[0], runtime.Control{Verb: runtime.Cancel})
}

// approve answers a pending approval.
func (a *API) approve(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	c := runtime.Control{
		Verb: runtime.Approval, Body: body.raw, Text: body.name("choice", longestName),
		ID: cmp.Or(body.name("approval_id", longestName), body.name("request_id", longestName)),
	}
	if c.Text == "" {
		body.wrong("choice", "choice is missing: send one of the choices that the approval offers")
	}
	return a.wishFor(q, body, c)
}

// clarify answers a pending question, whose id is in the path or in the body.
func (a *API) clarify(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	c := runtime.Control{Verb: runtime.Clarify, Body: body.raw, ID: body.name("clarify_id", longestName), Text: body.text("response")}
	if len(q.args) > 1 {
		c.ID = q.args[1]
	}
	if _, there := body.get("response"); !there {
		body.wrong("response", "response is missing: send the answer to the question")
	}
	return a.wishFor(q, body, c)
}

// message queues more input.
func (a *API) message(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	c := runtime.Control{Verb: runtime.Continue, Body: body.raw, Text: body.text("message"), Mode: cmp.Or(body.name("mode", longestName), "queue")}
	if c.Text == "" {
		body.wrong("message", "message is missing: say what is to follow")
	}
	return a.wishFor(q, body, c)
}

// steer changes what a run is doing.
func (a *API) steer(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	c := runtime.Control{Verb: runtime.Steer, Body: body.raw, Text: cmp.Or(body.text("input"), body.text("message"), body.text("text"))}
	if c.Text == "" {
		body.wrong("input", "input is missing: say what is to change")
	}
	return a.wishFor(q, body, c)
}

// goal is about the goal of the run's session.
func (a *API) goal(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	c := runtime.Control{Verb: runtime.Goal, Body: body.raw, Mode: body.name("action", longestName), Text: body.text("text")}
	if c.Mode == "" && c.Text != "" {
		c.Mode = "set"
	}
	if c.Mode == "" {
		body.wrong("action", "action is missing: set, status, pause, resume, clear or edit")
	}
	return a.wishFor(q, body, c)
}

// wishFor carries out a wish that was read from a body, if there was nothing wrong with it.
func (a *API) wishFor(q *call, body *object, c runtime.Control) error {
	if body.err != nil {
		return body.err
	}
	return a.wish(q, q.args[0], c)
}

// sessionGoal is about a session's goal, which is the business of the runtime that works in it now.
func (a *API) sessionGoal(q *call) error {
	active, _, err := a.heads(q.r.Context(), q.client, runs.Filter{SessionID: q.args[0], Active: true}, 1, nil)
	if err != nil {
		return err
	}
	if len(active) == 0 {
		return runtime.ErrNotActive
	}
	q.args = []string{active[0].RunID}
	return a.goal(q)
}
