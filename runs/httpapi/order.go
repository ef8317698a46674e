package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/tidwall/sjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// longestName is that of an id or a name, in bytes.
const longestName = 256

// keyGrammar is that of an idempotency key: visible ASCII.
var keyGrammar = regexp.MustCompile(`^[!-~]{1,255}$`)

// callFields are what a run's metadata tells of the call that began it, wherever its body has them.
var callFields = []string{"task_id", "turn_id", "api_request_id", "platform", "provider", "base_url", "api_mode", "api_call_count"}

// started is the answer to a run that was begun. What stands after Replayed is the runner dialect's and the outside's.
type started struct {
	RunID     string  `json:"run_id"`
	Status    string  `json:"status"`
	SessionID *string `json:"session_id"`
	Replayed  bool    `json:"replayed"`

	StreamID    string `json:"stream_id,omitempty"`
	Cursor      string `json:"cursor,omitempty"`
	WriterToken string `json:"writer_token,omitempty"`
}

// start begins a run.
func (a *API) start(q *call) error {
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	o, err := a.order(q, body)
	if err != nil {
		return err
	}
	var s runtime.Started
	var token string
	if o.Runtime == runtime.External {
		s, token, err = a.o.Executor.StartExternal(q.r.Context(), o)
	} else {
		s, err = a.o.Executor.Start(q.r.Context(), o)
	}
	if errors.Is(err, runtime.ErrNoRuntime) {
		return &fault{code: codeInvalidRequest, message: fmt.Sprintf("runtime %.40q is not configured", o.Runtime), param: "runtime"}
	}
	if err != nil {
		return err
	}
	answer := started{RunID: s.RunID, Status: "started", SessionID: known(s.SessionID), Replayed: s.Replayed, WriterToken: token}
	if o.Dialect == runs.WebUI {
		answer.StreamID, answer.Cursor = s.RunID, "0"
	}
	h := q.w.Header()
	h.Set("X-Hub-Run-Id", s.RunID)
	if s.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	return q.answer(http.StatusAccepted, answer)
}

// order reads what is to be run.
func (a *API) order(q *call, body *object) (runtime.Order, error) {
	o := runtime.Order{
		Owner: q.client.Owner, Role: q.client.Role, Body: body.raw, Surface: runtime.RunsAPI,
		Runtime: body.name("runtime", longestName), Model: body.name("model", longestName), SessionID: body.name("session_id", longestName),
		Content: a.o.Content,
	}
	var input json.RawMessage
	if o.Dialect, input = said(body); input == nil && o.Runtime != runtime.External {
		body.wrong("input", "Missing 'input' field: say what is to be done, as a string or as messages of which the last is the user's")
	}
	body.text("instructions")
	body.json("conversation_history", anArray)
	if off, ok := body.is("store", aBool); ok && !off.Bool() || strings.Contains(strings.ToLower(q.r.Header.Get("Cache-Control")), "no-store") {
		o.Content = runs.Metadata
	}
	o.Started.Workspace = body.text("workspace")
	o.Started.Profile = body.name("profile", longestName)
	o.Started.Provider = body.name("provider", longestName)
	o.Started.Toolsets = body.texts("toolsets")
	o.Started.Attachments = body.json("attachments", anArray)
	o.Started.Source = body.name("source", longestName)
	o.Started.Input = input
	o.Started.Metadata = metadata(body)
	if body.err != nil {
		return o, body.err
	}
	return o, a.fromHeaders(q, body, &o)
}

// said is what the user said, and the dialect that the body is in: the WebUI's runner client sends a message, everybody
// else an input.
func said(body *object) (runs.Dialect, json.RawMessage) {
	if input, ok := body.is("input", aString, anArray); ok {
		if input.Raw == `""` || input.IsArray() && len(input.Array()) == 0 {
			return runs.Hermes, nil
		}
		return runs.Hermes, json.RawMessage(input.Raw)
	}
	if message, ok := body.is("message", aString, anArray, anObj); ok {
		return runs.WebUI, json.RawMessage(message.Raw)
	}
	return runs.Hermes, nil
}

// metadata is the client's own, and the call's fields that stand beside it.
func metadata(body *object) json.RawMessage {
	m := body.json("metadata", anObj)
	for _, name := range callFields {
		v, ok := body.get(name)
		if !ok || body.members["metadata"].Get(name).Exists() {
			continue
		}
		m, _ = sjson.SetRawBytes(m, name, []byte(v.Raw)) // fails for empty names only
	}
	return m
}

// fromHeaders adds to an order what the request's headers say: session, role, idempotency key, memory scope.
func (a *API) fromHeaders(q *call, body *object, o *runtime.Order) error {
	h := q.r.Header
	for _, name := range a.o.SessionHeaders {
		if o.SessionID == "" {
			o.SessionID = h.Get(name)
		}
	}
	if !printable(o.SessionID, longestName) {
		return badHeader("the session's id", longestName)
	}
	if key := h.Get("X-Hermes-Session-Key"); key != "" {
		if !printable(key, longestName) {
			return badHeader("X-Hermes-Session-Key", longestName)
		}
		o.Header = http.Header{"X-Hermes-Session-Key": {key}}
	}
	if keys := h.Values("Idempotency-Key"); len(keys) > 0 {
		if len(keys) > 1 || !keyGrammar.MatchString(keys[0]) {
			return &fault{code: codeInvalidKey, message: "Idempotency-Key must be one key of 1 to 255 visible ASCII characters"}
		}
		o.Key = keys[0]
	}
	if q.client.Role != "" {
		return nil
	}
	named := cmp.Or(h.Get("X-Hub-Role"), body.members["metadata"].Get("role").Str)
	byModel, isRole := strings.CutPrefix(o.Model, "role:")
	if named == "" && isRole {
		_, err := q.client.role(byModel) // the model stays what it is: whoever executes the run reads it again
		return err
	}
	if named == "" {
		return q.client.mayUse(o.Model)
	}
	var err error
	o.Role, err = q.client.role(named)
	return err
}

// mayUse is an error when a model is the bare name of a role that the client may not use. Most models are no roles.
func (c Client) mayUse(model string) error {
	if model == "" || c.Roles == nil {
		return nil
	}
	if _, err := c.Roles(model); !errors.Is(err, ErrRoleForbidden) {
		return nil
	}
	_, err := c.role(model)
	return err
}

// role is the id of a role that the client named.
func (c Client) role(name string) (string, error) {
	if name == "" || c.Roles == nil {
		return name, nil
	}
	id, err := c.Roles(name)
	switch {
	case errors.Is(err, ErrUnknownRole):
		return "", &fault{code: codeModelNotFound, message: fmt.Sprintf("role %.40q is not configured", name)}
	case errors.Is(err, ErrRoleForbidden):
		return "", &fault{code: codeRoleForbidden, message: fmt.Sprintf("this key may not use role %.40q", name)}
	}
	return id, err
}

func badHeader(what string, longest int) *fault {
	return &fault{code: codeInvalidRequest, message: fmt.Sprintf("%s must have at most %d bytes that can be printed", what, longest)}
}
