package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"hermes-hub/router"
)

// ExplainQuery asks which node would serve a call, or which one served a call of the past.
type ExplainQuery struct {
	Role      string // id or alias; may be empty with RequestID only
	Model     string // "" = not named
	Session   string // "" = none
	At        time.Time
	RequestID string // "" = a call at At; else the call that had this id, and At is when it was made or zero
}

// Explainer answers an ExplainQuery. Its errors are a *router.UnknownRoleError, ErrUnknownRequest, or a failure.
type Explainer interface {
	Explain(ctx context.Context, q ExplainQuery) (router.Explanation, error)
}

// ErrUnknownRequest means that nobody remembers a request of that id.
var ErrUnknownRequest = errors.New("no request of that id is remembered")

func (a *Admin) explain(w http.ResponseWriter, r *http.Request) error {
	q, err := a.readExplainQuery(r)
	if err != nil {
		return err
	}
	answer, err := a.explainer.Explain(r.Context(), q)
	if unknown, ok := errors.AsType[*router.UnknownRoleError](err); ok {
		return newProblem(http.StatusNotFound, "unknown-role", fmt.Sprintf("There is no role %q.", unknown.Name))
	}
	if errors.Is(err, ErrUnknownRequest) {
		return newProblem(http.StatusNotFound, "unknown-request", fmt.Sprintf("No request %q is remembered.", q.RequestID))
	}
	if err != nil {
		return fmt.Errorf("explain role %q: %w", q.Role, err)
	}
	if answer.Candidates == nil {
		answer.Candidates = []router.Candidate{}
	}
	return writeJSON(w, http.StatusOK, answer)
}

// readExplainQuery takes the body as strictly as a form: a member that is not known would be a wish that is not granted.
func (a *Admin) readExplainQuery(r *http.Request) (ExplainQuery, error) {
	var body struct {
		Role      string  `json:"role"`
		Model     string  `json:"model"`
		Session   string  `json:"session"`
		At        *string `json:"at"`
		RequestID string  `json:"request_id"`
	}
	if err := readJSON(r, &body); err != nil {
		return ExplainQuery{}, err
	}
	if body.Role == "" && body.RequestID == "" {
		return ExplainQuery{}, invalid("role is missing")
	}
	q := ExplainQuery{Role: body.Role, Model: body.Model, Session: body.Session, RequestID: body.RequestID}
	switch {
	case body.At != nil:
		at, err := time.Parse(time.RFC3339, *body.At)
		if err != nil {
			return ExplainQuery{}, invalid(fmt.Sprintf("at is %q, which is no RFC 3339 time as in 2026-01-31T15:04:05Z", *body.At))
		}
		q.At = at
	case body.RequestID == "":
		q.At = a.now()
	}
	return q, nil
}

// readJSON reads the whole body into v: one JSON value whose members v all knows. The error is a problem.
func readJSON(r *http.Request, v any) error {
	if given := r.Header.Get("Content-Type"); given != "" {
		if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
			return newProblem(http.StatusUnsupportedMediaType, "not-json", "Send the body as Content-Type: application/json.")
		}
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(v)
	if err == nil {
		if _, more := decoder.Token(); more == io.EOF {
			return nil
		}
		err = errors.New("something follows the value")
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large)
	}
	return invalid("the body is no such JSON: " + strings.TrimPrefix(err.Error(), "json: "))
}

func invalid(detail string) error {
	return newProblem(http.StatusBadRequest, "invalid-request", detail)
}
