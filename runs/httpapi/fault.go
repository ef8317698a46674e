package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// code is what the routes answer when they do not do what was asked. Closed, but for those of a runtime.
type code string

const (
	codeInvalidRequest   code = "invalid_request_error"
	codeInvalidKey       code = "invalid_idempotency_key"
	codeKeyConflict      code = "idempotency_key_conflict"
	codeReadOnly         code = "read_only"
	codeRoleForbidden    code = "role_forbidden"
	codeWriterForbidden  code = "writer_forbidden"
	codeModelNotFound    code = "model_not_found"
	codeNotFound         code = "not_found"
	codeRunNotFound      code = "run_not_found"
	codeResponseNotFound code = "response_not_found"
	codeMethodNotAllowed code = "method_not_allowed"
	codeBodyTooLarge     code = "request_too_large"
	codeEncoding         code = "unsupported_encoding"
	codeBodyStalled      code = "request_timeout"
	codeNotActive        code = "not_active"
	codeUnsupported      code = "unsupported_control"
	codeRunEnded         code = "run_ended"
	codeFenced           code = "fenced"
	codeStale            code = "precondition_failed"
	codeExpired          code = "run_expired"
	codeTooManyStreams   code = "too_many_streams"
	codeUnavailable      code = "hub_unavailable"
	codeInternal         code = "internal_error"
)

// statuses has a row for every code; a test holds it against the list above.
var statuses = map[code]int{
	codeInvalidRequest:   http.StatusBadRequest,
	codeInvalidKey:       http.StatusBadRequest,
	codeKeyConflict:      http.StatusConflict,
	codeReadOnly:         http.StatusForbidden,
	codeRoleForbidden:    http.StatusForbidden,
	codeWriterForbidden:  http.StatusForbidden,
	codeModelNotFound:    http.StatusNotFound,
	codeNotFound:         http.StatusNotFound,
	codeRunNotFound:      http.StatusNotFound,
	codeResponseNotFound: http.StatusNotFound,
	codeMethodNotAllowed: http.StatusMethodNotAllowed,
	codeBodyTooLarge:     http.StatusRequestEntityTooLarge,
	codeEncoding:         http.StatusUnsupportedMediaType,
	codeBodyStalled:      http.StatusRequestTimeout,
	codeNotActive:        http.StatusConflict,
	codeUnsupported:      http.StatusConflict,
	codeRunEnded:         http.StatusConflict,
	codeFenced:           http.StatusConflict,
	codeStale:            http.StatusPreconditionFailed,
	codeExpired:          http.StatusGone,
	codeTooManyStreams:   http.StatusServiceUnavailable,
	codeUnavailable:      http.StatusServiceUnavailable,
	codeInternal:         http.StatusInternalServerError,
}

// fault is why something was not done, as the client is told.
type fault struct {
	code       code
	status     int // 0 = that of the code
	message    string
	param      string // the member at fault, "" = none
	retryAfter time.Duration
	allow      string     // Allow, of a 405
	expired    *runs.Head // of the tombstone, of a 410
}

func (f *fault) Error() string { return string(f.code) + ": " + f.message }

// fail answers with an error. A client that is gone gets none.
func (a *API) fail(q *call, err error) {
	if q.r.Context().Err() != nil && errors.Is(context.Cause(q.r.Context()), context.Canceled) {
		return
	}
	f := understand(err)
	if f.code == codeInternal || f.code == codeUnavailable {
		a.o.Logger.Warn("a route of runs failed", "method", q.r.Method, "error", err)
	}
	status := cmp.Or(f.status, statuses[f.code])
	h := q.w.Header()
	h.Set("Cache-Control", "no-store")
	if f.allow != "" {
		h.Set("Allow", f.allow)
	}
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((f.retryAfter+time.Second-1)/time.Second)))
	}
	kind, body := "application/json", f.envelope(status)
	if q.client.All {
		kind, body = "application/problem+json", f.problem(status)
	}
	h.Set("Content-Type", kind)
	q.w.WriteHeader(status)
	_ = json.NewEncoder(q.w).Encode(body) // a client that is gone has no use for an error
}

// understand is what a client is told of an error.
func understand(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if r, ok := errors.AsType[*runtime.Refused](err); ok {
		return &fault{code: cmp.Or(code(r.Code), codeUnavailable), status: cmp.Or(r.Status, http.StatusBadGateway), message: r.Message, retryAfter: r.RetryAfter}
	}
	if r, ok := errors.AsType[*runs.Refusal](err); ok {
		return refusal(r)
	}
	const soon = time.Second
	for _, own := range []error{runs.ErrBadPayload, runs.ErrUnknownWord} {
		if errors.Is(err, own) {
			return &fault{code: codeInvalidRequest, message: err.Error(), param: "events"}
		}
	}
	for _, known := range []struct {
		err  error
		code code
		wait time.Duration
	}{
		{runs.ErrUnknownRun, codeRunNotFound, 0},
		{runs.ErrRunFull, codeBodyTooLarge, 0},
		{runtime.ErrNotActive, codeNotActive, 0},
		{runtime.ErrGone, codeNotActive, 0},
		{runtime.ErrUnsupported, codeUnsupported, 0},
		{runtime.ErrKeyConflict, codeKeyConflict, 0},
		{runtime.ErrNoRuntime, codeInvalidRequest, 0},
		{runtime.ErrElsewhere, codeUnavailable, soon},
		{runtime.ErrStopping, codeUnavailable, soon},
		{ErrUnknownRole, codeModelNotFound, 0},
		{ErrRoleForbidden, codeRoleForbidden, 0},
	} {
		if errors.Is(err, known.err) { // in its own words: what it is wrapped in may tell more than a client should know
			return &fault{code: known.code, message: known.err.Error(), retryAfter: known.wait}
		}
	}
	return &fault{code: codeUnavailable, message: "the journal of runs cannot be used at the moment", retryAfter: soon}
}

// refusal is what a store's refusal is to a client.
func refusal(r *runs.Refusal) *fault {
	switch r.Outcome {
	case runs.Unknown:
		return &fault{code: codeRunNotFound, message: runs.ErrUnknownRun.Error()}
	case runs.Fenced:
		return &fault{code: codeFenced, message: "another has taken the run over: stop working on it"}
	case runs.Ended, runs.Sealed:
		return &fault{code: codeRunEnded, message: "the run has ended, and only a title, the final usage and run.closed may follow, in this order"}
	case runs.Unended:
		return &fault{code: codeInvalidRequest, message: "run.closed comes after the event that ends the run", param: "events"}
	case runs.Stale:
		return &fault{code: codeStale, message: "the run's last seq is " + strconv.FormatInt(r.Last, 10) + ", not what If-Match says"}
	default:
		return &fault{code: codeUnavailable, message: r.Error(), retryAfter: time.Second}
	}
}

func readOnly() *fault { return &fault{code: codeReadOnly, message: "this client may look only"} }

// gone is the answer about the rows of a tombstone.
func gone(h runs.Head) *fault {
	return &fault{code: codeExpired, message: "the run has ended long ago, and its events are not kept any more", expired: &h}
}

// envelope is the fault in OpenAI's words.
func (f *fault) envelope(status int) any {
	type inner struct {
		Message       string              `json:"message"`
		Type          string              `json:"type"`
		Param         *string             `json:"param"`
		Code          code                `json:"code"`
		TerminalState *runs.TerminalState `json:"terminal_state,omitempty"`
	}
	e := inner{Message: f.message, Type: "invalid_request_error", Code: f.code}
	if f.param != "" {
		e.Param = &f.param
	}
	if status >= http.StatusInternalServerError {
		e.Type = "server_error"
	}
	if f.expired == nil {
		return struct {
			Error inner `json:"error"`
		}{e}
	}
	e.TerminalState = &f.expired.End
	return struct {
		Error         inner              `json:"error"`
		RunID         string             `json:"run_id"`
		Status        runs.Status        `json:"status"`
		TerminalState runs.TerminalState `json:"terminal_state"`
	}{e, f.expired.RunID, runs.Expired, f.expired.End}
}

// problem is the fault as RFC 9457 has it.
func (f *fault) problem(status int) any {
	p := struct {
		Type          string             `json:"type"`
		Title         string             `json:"title"`
		Status        int                `json:"status"`
		Detail        string             `json:"detail"`
		Code          code               `json:"code"`
		TerminalState runs.TerminalState `json:"terminal_state,omitempty"`
	}{Type: "urn:hermes-hub:problem:" + string(f.code), Title: http.StatusText(status), Status: status, Detail: f.message, Code: f.code}
	if f.expired != nil {
		p.TerminalState = f.expired.End
	}
	return p
}
