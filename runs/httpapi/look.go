package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"hermes-hub/runs"
)

// head is the head of a run that the client may see. A run of another key is not there.
func (a *API) head(ctx context.Context, c Client, runID string) (runs.Head, error) {
	if !runs.ValidID(runID) {
		return runs.Head{}, runs.ErrUnknownRun
	}
	h, err := a.o.Journal.Head(ctx, runID)
	if errors.Is(err, runs.ErrUnknownRun) {
		a.o.Await(ctx)
		h, err = a.o.Journal.Head(ctx, runID)
	}
	if err == nil && !c.owns(h) {
		err = runs.ErrUnknownRun
	}
	return h, err
}

// observable is a run whose rows the client may see, and which has some: what its first row tells of it, and its head.
func (a *API) observable(q *call) (runs.Run, runs.Head, error) {
	head, err := a.head(q.r.Context(), q.client, q.args[0])
	if err == nil && head.Expired {
		err = gone(head)
	}
	if err != nil {
		return runs.Run{}, head, err
	}
	run, err := a.begun(q.r.Context(), head)
	return run, head, err
}

func (c Client) owns(h runs.Head) bool { return c.All || c.Owner == h.Owner }

// begun is what a run's first row tells: the words of its observers, and whether it is executed outside. Of a run that has
// lost its rows it is nothing.
func (a *API) begun(ctx context.Context, h runs.Head) (runs.Run, error) {
	e, err := a.o.Journal.First(ctx, h.RunID)
	if errors.Is(err, runs.ErrUnknownRun) {
		return runs.Run{RunID: h.RunID, SessionID: h.SessionID}, nil
	}
	if err != nil {
		return runs.Run{}, err
	}
	var f runs.Fold
	f.Apply(e)
	return f.Run(), nil
}

// runObject is the run as clients get it: what is not known is null, and nothing is left out.
type runObject struct {
	Object            string              `json:"object"`
	RunID             string              `json:"run_id"`
	SessionID         *string             `json:"session_id"`
	Status            runs.Status         `json:"status"`
	LastEventID       *string             `json:"last_event_id"`
	TerminalState     *runs.TerminalState `json:"terminal_state"`
	Output            string              `json:"output"`
	Error             json.RawMessage     `json:"error"`
	Usage             json.RawMessage     `json:"usage"`
	ActiveControls    []string            `json:"active_controls"`
	PendingApprovalID *string             `json:"pending_approval_id"`
	PendingClarifyID  *string             `json:"pending_clarify_id"`
	Runtime           *string             `json:"runtime"`
	Model             *string             `json:"model"`
	Role              *string             `json:"role"`
	Title             *string             `json:"title"`
	CreatedAt         float64             `json:"created_at"`
	Metadata          json.RawMessage     `json:"metadata"`
}

func objectOf(r runs.Run) runObject {
	return runObject{
		Object: "hermes.run", RunID: r.RunID, SessionID: known(r.SessionID), Status: r.Status, LastEventID: known(r.LastEventID),
		TerminalState: known(r.TerminalState), Output: r.Output, Error: r.Error, Usage: r.Usage, ActiveControls: r.ActiveControls,
		PendingApprovalID: known(r.PendingApprovalID), PendingClarifyID: known(r.PendingClarifyID),
		Runtime: known(r.Runtime), Model: known(r.Model), Role: known(r.Role), Title: known(r.Title),
		CreatedAt: r.CreatedAt, Metadata: r.Metadata,
	}
}

// known is nil for "".
func known[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// look answers with one run.
func (a *API) look(q *call) error {
	head, err := a.head(q.r.Context(), q.client, q.args[0])
	if err != nil {
		return err
	}
	run, err := a.run(q.r.Context(), head)
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, objectOf(run))
}

// answer sends a JSON object.
func (q *call) answer(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return &fault{code: codeInternal, message: "the hub failed: its log knows why"}
	}
	h := q.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	q.w.WriteHeader(status)
	_, _ = q.w.Write(append(body, '\n')) // a client that is gone has no use for an error
	return nil
}

// wantsPage reports whether a client wants its events as a JSON page: it says so, and says nothing of a stream.
func wantsPage(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream")
}
