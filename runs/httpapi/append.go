package httpapi

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"hermes-hub/runs"
)

// mostPosted is how many events one request may append.
const mostPosted = 1000

// outsideFence is the executor's epoch under which a run is handed to the outside: its first. When somebody takes the run
// over, that ends.
const outsideFence = 1

// appended is the answer to events from outside: null when none of them became a row.
type appended struct {
	FirstSeq *int64 `json:"first_seq"`
	LastSeq  *int64 `json:"last_seq"`
}

// post appends events of an outside runtime.
func (a *API) post(q *call) error {
	run, head, err := a.observable(q)
	if err != nil {
		return err
	}
	if err := mayWrite(q.r, run); err != nil {
		return err
	}
	p := runs.Post{RunID: head.RunID, Fence: outsideFence, Content: run.Content}
	if p.Expect, err = expected(q.r, head.RunID); err != nil {
		return err
	}
	body, err := a.readObject(q)
	if err != nil {
		return err
	}
	if p.Events, err = readPosted(body); err != nil {
		return err
	}
	return a.append(q, p)
}

func (a *API) append(q *call, p runs.Post) error {
	first, last, err := a.o.Journal.Post(q.r.Context(), p)
	if err != nil {
		return err
	}
	answer := appended{LastSeq: &last}
	if first > 0 {
		answer.FirstSeq = &first
	}
	return q.answer(http.StatusOK, answer)
}

// mayWrite holds the request's token against what the run was begun with.
func mayWrite(r *http.Request, run runs.Run) error {
	token := r.Header.Get("X-Hub-Writer")
	sum := sha256.Sum256([]byte(token))
	if token == "" || run.WriterHash == "" || subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(run.WriterHash)) == 0 {
		return &fault{code: codeWriterForbidden, message: `X-Hub-Writer must be the writer_token of this run: only what was begun with "runtime": "external" has one`}
	}
	return nil
}

// expected reads If-Match: a seq, in quotes or not, or the id of a row.
func expected(r *http.Request, runID string) (int64, error) {
	text := strings.Trim(strings.TrimPrefix(strings.TrimSpace(r.Header.Get("If-Match")), "W/"), `"`)
	if text == "" || text == "*" {
		return runs.AnySeq, nil
	}
	of, seq, ok := runs.ParseCursor(text)
	if !ok || of != "" && of != runID {
		return 0, &fault{code: codeInvalidRequest, message: "If-Match must be the seq of the run's newest row"}
	}
	return seq, nil
}

// readPosted reads the events of a request.
func readPosted(body *object) ([]runs.Posted, error) {
	list, ok := body.is("events", anArray)
	if !ok {
		body.wrong("events", "events is missing: send an array of {type, payload, idempotency_key?}")
		return nil, body.err
	}
	items := list.Array()
	if len(items) > mostPosted {
		return nil, &fault{code: codeBodyTooLarge, message: "events has more than 1000 events: send them in several requests", param: "events"}
	}
	posted := make([]runs.Posted, len(items))
	for i, item := range items {
		var err error
		if posted[i], err = readEvent(item); err != nil {
			return nil, inEvent(i, err)
		}
	}
	return posted, nil
}

// readEvent reads one event: {type, payload}, or flat as Hermes sends them, with its name in `event`.
func readEvent(item gjson.Result) (runs.Posted, error) {
	if !item.IsObject() {
		return runs.Posted{}, &fault{code: codeInvalidRequest, message: "must be an object, not " + kind(item)}
	}
	e := members(item)
	name := e.text("type")
	if name == "" {
		name = e.text("event")
	}
	payload := e.json("payload", anObj)
	if payload == nil && e.members["event"].Exists() {
		payload = json.RawMessage(item.Raw)
	}
	key := e.text("idempotency_key")
	if key != "" && !keyGrammar.MatchString(key) {
		e.wrong("idempotency_key", "idempotency_key must have 1 to 255 visible ASCII characters")
	}
	if ends, ok := e.is("terminal", aBool); ok && ends.Bool() && name == string(runs.TypeError) {
		payload = ending(payload)
	}
	if e.err != nil {
		return runs.Posted{}, e.err
	}
	raw, err := runs.Told(name, payload)
	return runs.Posted{Payload: raw, Key: key}, err
}

// ending is a payload that says of its error that it ends the run.
func ending(payload json.RawMessage) json.RawMessage {
	ends, _ := sjson.SetBytes(payload, "terminal", true) // fails for empty names only
	return ends
}

// inEvent says which event is wrong.
func inEvent(i int, err error) error {
	at := "events[" + strconv.Itoa(i) + "]"
	if f, ok := errors.AsType[*fault](err); ok {
		param := at
		if f.param != "" {
			param += "." + f.param
		}
		return &fault{code: f.code, message: at + ": " + f.message, param: param}
	}
	return fmt.Errorf("%s: %w", at, err)
}
