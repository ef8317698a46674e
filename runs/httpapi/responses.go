package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// responseSource is RunStarted.Source of a run that is a response.
const responseSource = "responses"

// StartResponse serves POST /v1/responses with background: true, whose body the plane has read: the response is made
// whether its client stays or not. With stream: true its events are sent as they come.
func (a *API) StartResponse(w http.ResponseWriter, r *http.Request, c Client, body []byte) {
	q := &call{w: w, r: r, client: c}
	if err := a.startResponse(q, body); err != nil {
		a.fail(q, err)
	}
}

func (a *API) startResponse(q *call, body []byte) error {
	if q.client.ReadOnly {
		return readOnly()
	}
	asked, err := parseObject(body)
	if err != nil {
		return err
	}
	o := runtime.Order{
		Owner: q.client.Owner, Role: q.client.Role, Model: asked.name("model", longestName), Body: asked.raw, Surface: runtime.ResponsesAPI,
		Content: a.o.Content, Started: runs.RunStarted{Source: responseSource, Metadata: asked.json("metadata", anObj)},
	}
	if kept, there := asked.is("store", aBool); there && !kept.Bool() {
		asked.wrong("store", "store cannot be false with background: true: nobody could fetch the response later")
	}
	streamed, _ := asked.is("stream", aBool)
	if asked.err == nil {
		asked.err = a.fromHeaders(q, asked, &o)
	}
	if asked.err != nil {
		return asked.err
	}
	// A session of its own, under which it can be removed alone.
	if o.SessionID = runs.NewID(); o.Key != "" {
		sum := sha256.Sum256([]byte(o.Key))
		o.SessionID = "key_" + hex.EncodeToString(sum[:16])
	}
	s, err := a.o.Executor.Start(q.r.Context(), o)
	if err != nil {
		return err
	}
	q.w.Header().Set("X-Hub-Run-Id", s.RunID)
	if s.Replayed {
		q.w.Header().Set("Idempotency-Replayed", "true")
	}
	if streamed.Bool() {
		return a.streamResponse(q, s.RunID, -1)
	}
	return a.answerResponse(q, s.RunID)
}

// ServeResponse serves GET and DELETE /v1/responses/{id} and POST /v1/responses/{id}/cancel.
func (a *API) ServeResponse(w http.ResponseWriter, r *http.Request, c Client) {
	q := &call{w: w, r: r, client: c}
	if err := a.serveResponse(q); err != nil {
		a.fail(q, err)
	}
}

func (a *API) serveResponse(q *call) error {
	serve, args, err := find(q.r, responseRoutes())
	if err != nil {
		return err
	}
	q.args = args
	if q.client.ReadOnly && q.r.Method != http.MethodGet {
		return readOnly()
	}
	err = serve(a, q)
	if errors.Is(err, runs.ErrUnknownRun) {
		err = &fault{code: codeResponseNotFound, message: fmt.Sprintf("Response with id '%.64s' not found.", q.args[0])}
	}
	return err
}

// responseHead is the head of the run behind a response that the client may see.
func (a *API) responseHead(q *call) (runs.Head, error) {
	id, ok := runtime.ResponseRun(q.args[0])
	if !ok {
		return runs.Head{}, runs.ErrUnknownRun
	}
	head, err := a.head(q.r.Context(), q.client, id)
	if err != nil {
		return head, err
	}
	first, err := a.o.Journal.First(q.r.Context(), id) // of a tombstone there is none
	if err == nil && gjson.GetBytes(first.Payload, "source").Str != responseSource {
		err = runs.ErrUnknownRun
	}
	return head, err
}

// getResponse answers with a response, or with its events after a sequence number.
func (a *API) getResponse(q *call) error {
	head, err := a.responseHead(q)
	if err != nil {
		return err
	}
	query := q.r.URL.Query()
	if s := query.Get("stream"); s != "true" && s != "1" {
		return a.answerResponse(q, head.RunID)
	}
	after := int64(-1)
	if text := query.Get("starting_after"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return badQuery("starting_after", text, "the sequence_number of the last event that you have")
		}
		after = n
	}
	return a.streamResponse(q, head.RunID, after)
}

// cancelResponse ends a response, and answers with what there is of it. One that has ended stays as it is.
func (a *API) cancelResponse(q *call) error {
	head, err := a.responseHead(q)
	if err != nil {
		return err
	}
	if err := a.cancelAndWait(q.r.Context(), head); err != nil {
		return err
	}
	return a.answerResponse(q, head.RunID)
}

// cancelAndWait asks a run to end and waits for it a little.
func (a *API) cancelAndWait(ctx context.Context, head runs.Head) error {
	patience, cancel := context.WithTimeout(ctx, endIn)
	defer cancel()
	_, err := a.o.Executor.Control(patience, head.RunID, runtime.Control{Verb: runtime.Cancel})
	if err != nil && !errors.Is(err, runtime.ErrNotActive) && !errors.Is(err, runtime.ErrGone) {
		return err
	}
	a.awaitEnd(patience, head)
	return nil
}

// deleteResponse removes a response, wherever it is.
func (a *API) deleteResponse(q *call) error {
	head, err := a.responseHead(q)
	if err != nil {
		return err
	}
	owner := q.client
	owner.Owner, owner.All = head.Owner, false
	if _, err := a.remove(q.r.Context(), owner, head.SessionID); err != nil {
		return err
	}
	return q.answer(http.StatusOK, struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Deleted bool   `json:"deleted"`
	}{q.args[0], "response", true})
}

// answerResponse answers with the response object as it is now.
func (a *API) answerResponse(q *call, runID string) error {
	sub, _, err := a.o.Journal.Subscribe(q.r.Context(), runID, "")
	if err != nil {
		return err
	}
	if sub == nil {
		return runs.ErrUnknownRun
	}
	defer sub.Close()
	var f runtime.ResponseFold
	for caughtUp := false; !caughtUp; {
		d, err := sub.Next(q.r.Context())
		if err != nil {
			return err
		}
		for _, e := range d.Rows {
			f.Apply(e)
		}
		caughtUp = d.CaughtUp
	}
	return q.answer(http.StatusOK, f.Object())
}

// streamResponse sends a response's events after a sequence number, and ends with the last of them, as OpenAI does.
func (a *API) streamResponse(q *call, runID string, after int64) error {
	leave, ok := a.seats.take(ofResponse)
	if !ok {
		return a.seats.crowded()
	}
	defer leave()
	ctx := q.r.Context()
	sub, _, err := a.o.Journal.Subscribe(ctx, runID, "")
	if err != nil {
		return err
	}
	if sub == nil {
		return runs.ErrUnknownRun
	}
	defer sub.Close()
	o := &observer{a: a, s: a.open(q), sub: sub}
	o.s.bare = true
	if o.s.flush() != nil {
		return nil
	}
	o.followResponse(ctx, after)
	return nil
}

func (o *observer) followResponse(ctx context.Context, after int64) {
	var f runtime.ResponseFold
	for {
		if err := o.fetch(ctx); err != nil {
			return
		}
		if o.next.Reset != "" { // rows were lost: what comes now is told from the start, but not what was sent
			f = runtime.ResponseFold{}
		}
		for _, e := range o.next.Rows {
			event, seq, ok := f.Apply(e)
			if ok && seq > after {
				o.s.named(eventName(event), event)
				after = seq
			}
			if e.Terminal {
				_ = o.s.flush() // an observer that is gone has no use for an error
				return
			}
			if o.s.full() && o.s.flush() != nil {
				return
			}
		}
		if o.s.flush() != nil {
			return
		}
	}
}

// eventName is the name of an event of an account's, as far as it can stand in a line.
func eventName(event []byte) string {
	if name := gjson.GetBytes(event, "type").Str; printable(name, longestName) {
		return name
	}
	return "message"
}
