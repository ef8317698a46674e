package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// background is an order of POST /v1/responses in the background.
func background() runtime.Order {
	return runtime.Order{
		Owner: "me", Surface: runtime.ResponsesAPI, Model: "m", RunID: "run_" + strings.Repeat("0a", 16),
		Body: json.RawMessage(`{"model":"m","input":"x","background":true,"store":true,"stream":true,"tools":[{"type":"function","name":"f"}]}`),
	}
}

const ourID = "resp_0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

// upstreamEvents are those of an account: numbered, and with the account's own id of the response.
func upstreamEvents(kinds ...string) []string {
	var events []string
	for i, kind := range kinds {
		kind, more, _ := strings.Cut(kind, " ")
		events = append(events, fmt.Sprintf(`{"type":"response.%s","sequence_number":%d%s}`, kind, i, more))
	}
	return events
}

const (
	created = `created ,"response":{"id":"up","object":"response","created_at":5,"status":"in_progress","model":"m2","output":[],"usage":null,"error":null}`
	item    = `{"id":"i","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi there","annotations":[]}]}`
	added   = `output_item.added ,"output_index":0,"item":{"id":"i","type":"message"}`
	hiDelta = `output_text.delta ,"item_id":"i","output_index":0,"content_index":0,"delta":"Hi "`
	there   = `output_text.delta ,"item_id":"i","output_index":0,"content_index":0,"delta":"there"`
	itemEnd = `output_item.done ,"output_index":0,"item":` + item
	whole   = `completed ,"response":{"id":"up","object":"response","created_at":5,"status":"completed","model":"m2","output":[` + item + `],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7},"error":null}`
)

// replayed is what a client is sent that resumes behind a sequence number, and the object that it may ask for.
func replayed(t *testing.T, rows []runs.Event, after int64) (events []string, object string) {
	t.Helper()
	var f runtime.ResponseFold
	for _, e := range rows {
		for range 2 { // a row that is seen twice changes nothing
			if event, seq, ok := f.Apply(e); ok && seq > after {
				if !json.Valid(event) {
					t.Errorf("no JSON: %s", event)
				}
				events = append(events, string(event))
			}
		}
	}
	return events, string(f.Object())
}

// same compares JSON.
func same(t *testing.T, what, got, wanted string) {
	t.Helper()
	var g, w any
	if json.Unmarshal([]byte(got), &g) != nil || json.Unmarshal([]byte(wanted), &w) != nil {
		t.Fatalf("%s: no JSON: %s", what, got)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("%s:\n%s", what, diff)
	}
}

// mine is an event of an account as the hub tells it.
func mine(event string) string {
	event = strings.Replace(event, `"id":"up"`, `"id":"`+ourID+`"`, 1)
	return strings.Replace(event, `"object":"response"`, `"object":"response","background":true,"store":true`, 1)
}

// A background response keeps its account's events under the hub's id: whoever resumes behind one of them gets all the others
// under their own numbers, and the object is the account's.
func TestBackgroundResponse(t *testing.T) {
	events := upstreamEvents(created, "in_progress", `reasoning_summary_text.delta ,"item_id":"r","delta":"hm"`, added, hiDelta, there, itemEnd, whole)
	var call runtime.Call
	c := route(func(_ context.Context, c runtime.Call) (*http.Response, error) {
		call = c
		return answers(200, "X-Hub-Profile: p", strings.NewReader(chunks(events...))), nil
	})
	performs(t, c, background(), func(h *hub, run, log string) {
		same(t, "call", string(call.Body), `{"model":"m","input":"x","stream":true,"tools":[{"type":"function","name":"f"}]}`)
		want(t, "path", call.Path, "/v1/responses")
		want(t, "log", log, "run.started status=running progress=route status status reasoning.delta=hm status token.delta=Hi  token.delta=there status done usage.final run.closed")
		rows := rowsOf(t, h.store, run)
		got, object := replayed(t, rows, -1)
		want(t, "events", len(got), len(events))
		for i := range got {
			same(t, events[i], got[i], mine(events[i]))
		}
		later, _ := replayed(t, rows, 5)
		want(t, "resumed", len(later), 2)
		same(t, "object", object, strings.Replace(mine(events[7]), `{"type":"response.completed","sequence_number":7,"response":`, "", 1)[:len(object)])
		r := h.look(run)
		want(t, "run", []any{r.Output, r.Status}, []any{"Hi there", runs.Completed})
		want(t, "usage", string(r.Usage), `{"input_tokens":3,"output_tokens":4,"total_tokens":7,"model":"m2","profile":"p"}`)
		if id, ok := runtime.ResponseRun(ourID); id != run || !ok || runtime.ResponseID(run) != ourID {
			t.Error(id, ok)
		}
	})
}

// What a client sees of a response that goes on, fails, is cancelled or is left by its hub.
func TestBackgroundStatus(t *testing.T) {
	head := upstreamEvents(created, added, hiDelta)
	const partial = `[{"type":"message","role":"assistant","status":"incomplete","content":[{"type":"output_text","annotations":[],"text":"Hi "}],"id":"i"}]`
	f := func(what, tail, wantEvent, wantObject string) {
		t.Helper()
		performs(t, plain(chunks(append(head[:3:3], tail)...)), background(), func(h *hub, run, _ string) {
			events, object := replayed(t, rowsOf(t, h.store, run), 2)
			want(t, what+" events", len(events), 1)
			if wantEvent != "" {
				same(t, what, events[0], strings.ReplaceAll(wantEvent, "OBJECT", object))
			}
			same(t, what+" object", object, `{"id":"`+ourID+`","object":"response","background":true,"store":true,"created_at":5,"model":"m2",`+wantObject+`}`)
		})
	}
	f("incomplete", `{"type":"response.incomplete","sequence_number":3,"response":{"id":"up","created_at":5,"status":"incomplete","model":"m2","output":[1],"usage":null,"error":null}}`,
		"", `"status":"incomplete","output":[1],"usage":null,"error":null`)
	f("failed", `{"type":"response.failed","sequence_number":3,"response":{"id":"up","created_at":5,"status":"failed","model":"m2","output":[],"usage":null,"error":{"code":"server_error","message":"no"}}}`,
		"", `"status":"failed","output":`+partial+`,"usage":null,"error":{"code":"server_error","message":"no"}`)
	f("an error", `{"type":"error","sequence_number":3,"code":"oh","message":"no","param":null}`,
		`{"type":"error","sequence_number":3,"code":"oh","message":"no","param":null}`, `"status":"failed","output":`+partial+`,"usage":null,"error":{"code":"oh","message":"no"}`)
	f("broken off", `{`, `{"type":"response.failed","sequence_number":3,"response":OBJECT}`,
		`"status":"failed","output":`+partial+`,"usage":null,"error":{"code":"upstream_interrupted","message":"The answer broke off before its end."}`)

	bubble(t, func(t *testing.T) {
		release := make(chan struct{})
		h := calling(t, nil, route(func(ctx context.Context, _ runtime.Call) (*http.Response, error) {
			<-release
			return answers(200, "", &until{ctx, strings.NewReader(chunks(head...))}), nil
		}))
		s := h.start(background())
		object := func() string {
			settle()
			_, object := replayed(t, rowsOf(t, h.store, s.RunID), -1)
			return object
		}
		now := fmt.Sprint(time.Now().Unix())
		same(t, "begun", object(), `{"id":"`+ourID+`","object":"response","background":true,"store":true,"created_at":`+now+`,"model":"m","status":"in_progress","output":[],"error":null,"incomplete_details":null,"usage":null}`)
		close(release)
		const live = `{"id":"` + ourID + `","object":"response","background":true,"store":true,"created_at":5,"model":"m2","error":null,"usage":null,"output":` + partial
		same(t, "going on", object(), live+`,"status":"in_progress"}`)
		h.control(s.RunID, stopIt)
		same(t, "cancelled", object(), live+`,"status":"cancelled"}`)
		events, _ := replayed(t, rowsOf(t, h.store, s.RunID), -1)
		want(t, "events", len(events), 3)
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// until is a body that goes on until its call is ended.
type until struct {
	ctx context.Context
	r   *strings.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if u.r.Len() > 0 {
		return u.r.Read(p)
	}
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

// An end that is over the journal's cap is put together again from the items; events without a number, or with one that
// goes back, get the next.
func TestBackgroundLimits(t *testing.T) {
	long := strings.Repeat("x", 150<<10)
	big := strings.ReplaceAll(item, "Hi there", long)
	two := strings.ReplaceAll(big, `"id":"i"`, `"id":"j"`)
	events := upstreamEvents(
		created, `output_item.done ,"output_index":1,"item":`+two, `output_item.done ,"output_index":0,"item":`+big,
		`completed ,"response":{"id":"up","status":"completed","output":[`+big+`,`+two+`],"usage":{"input_tokens":3}}`,
	)
	performs(t, plain(chunks(events...)), background(), func(h *hub, run, _ string) {
		got, object := replayed(t, rowsOf(t, h.store, run), 2)
		var o struct {
			Status string
			Output []struct {
				ID      string
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(object), &o); err != nil {
			t.Fatal(err)
		}
		want(t, "items", []any{o.Status, len(o.Output), o.Output[0].ID, o.Output[1].ID}, []any{"completed", 2, "i", "j"})
		want(t, "text", o.Output[0].Content[0].Text == long && o.Output[1].Content[0].Text == long, true)
		same(t, "event", got[0], `{"type":"response.completed","sequence_number":3,"response":`+object+`}`)
	})
	numbers := []string{`{"type":"response.created","response":{}}`, `{"type":"response.x","sequence_number":0}`, `{"type":"response.x","sequence_number":9}`, `{"type":"response.completed","response":{"status":"completed"}}`}
	performs(t, plain(chunks(numbers...)), background(), func(h *hub, run, _ string) {
		var seqs []int64
		for _, e := range rowsOf(t, h.store, run) {
			if _, seq, ok := runtime.ResponseEvent(e); ok {
				seqs = append(seqs, seq)
			}
		}
		want(t, "numbers", seqs, []int64{0, 1, 9, 10})
	})
}

// A response that is refused, or does not stream, is one all the same.
func TestBackgroundWhole(t *testing.T) {
	f := func(status int, body, wantLog, wantObject string) {
		t.Helper()
		c := route(func(context.Context, runtime.Call) (*http.Response, error) {
			return answers(status, "Content-Type: application/json", strings.NewReader(body)), nil
		})
		performs(t, c, background(), func(h *hub, run, log string) {
			want(t, body, log, "run.started status=running "+wantLog+" run.closed")
			_, object := replayed(t, rowsOf(t, h.store, run), -1)
			want(t, body, strings.Contains(object, wantObject), true)
		})
	}
	f(200, `{"id":"up","status":"completed","output":[7]}`, "done", `"output":[7]`)
	f(200, `{"id":"up","status":"failed","error":{"code":"c","message":"no"}}`, "error=c", `"error":{"code":"c","message":"no"}`)
	f(200, `{"id":"up","status":"queued"}`, "error=upstream_error", `"status":"failed"`)
	f(200, `no`, "error=upstream_interrupted", `"status":"failed"`)
	f(503, `{"error":{"code":"upstream_unavailable","message":"All are out."}}`, "error=upstream_unavailable", `"message":"All are out."`)
}

func TestResponseRun(t *testing.T) {
	for _, id := range []string{"", "resp_", "resp_" + strings.Repeat("g", 32), "resp_" + strings.Repeat("0", 31), "run_" + strings.Repeat("0", 32), ourID + "0", "resp_../../../../../../../../../../..a"} {
		if run, ok := runtime.ResponseRun(id); ok {
			t.Errorf("%q is %s", id, run)
		}
	}
}

// FuzzAnswers holds that whatever comes back from a call, in either protocol, the run has one end, and what is told of it is
// JSON.
func FuzzAnswers(f *testing.F) {
	f.Add(chunks(saying(`{"content":"x","reasoning":"y"}`), stops, done), true)
	f.Add(chunks(upstreamEvents(created, added, hiDelta, itemEnd, whole)...), false)
	f.Add("data: {\"error\":1}\n\n", true)
	f.Add("data: {\"type\":\"error\"}\r\ndata: \r\n\r\n:x\n", false)
	f.Fuzz(func(t *testing.T, body string, chat bool) {
		store := new(memstore.Store)
		j := runs.New(runs.Options{Store: store})
		o := background()
		if chat {
			o.Surface = runtime.RunsAPI
		}
		w, _, err := j.Create(t.Context(), "r", runs.Origin{}, runs.Redacted, runs.RunStarted{})
		if err != nil {
			t.Fatal(err)
		}
		x, err := runtime.NewCompletion(plain(body), j).Start(t.Context(), "r", o)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Follow(t.Context(), w); err != nil || !w.Ended() {
			t.Fatalf("ended %v: %v", w.Ended(), err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := j.Run(ctx); err != nil {
			t.Fatal(err)
		}
		_, object := replayed(t, rowsOf(t, store, "r"), -1)
		if !json.Valid([]byte(object)) {
			t.Fatalf("no JSON: %s", object)
		}
	})
}
