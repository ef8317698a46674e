package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy"
	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/redact"
	"hermes-hub/telemetry"
)

// recorderRig is a recorder over a journal in memory.
type recorderRig struct {
	*callRecorder
	t     *testing.T
	store runs.Store
}

func newRecorderRig(t *testing.T, secrets ...string) recorderRig {
	t.Helper()
	r, store := redact.New(secrets), &memstore.Store{}
	j := runs.New(runs.Options{
		Store: store, Instance: "test",
		Redact: func(_ runs.Type, payload json.RawMessage) json.RawMessage { return r.JSON(payload) },
	})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- j.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return recorderRig{newCallRecorder(j, r.Text, slog.New(slog.DiscardHandler)), t, store}
}

// rows are the run that was recorded, its head first, a line each.
func (r recorderRig) rows(c proxy.Recording, id string) []string {
	r.t.Helper()
	if _, err := c.(*callRecording).w.Sync(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	page, err := r.store.Read(r.t.Context(), id, 0, 1000, 1<<20)
	if err != nil {
		r.t.Fatal(err)
	}
	lines := []string{fmt.Sprintf("of %q session %q end %q closed %t", page.Head.Owner, page.Head.SessionID, page.Head.End, page.Head.Closed)}
	for _, e := range page.Rows {
		lines = append(lines, fmt.Sprintf("%s %s", e.Type, e.Payload))
	}
	return lines
}

func (r recorderRig) want(got []string, want ...string) {
	r.t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

const recordedRun = "run_0123456789abcdef0123456789abcdef"

func recordedCall() *proxy.Recorded {
	return &proxy.Recorded{
		RunID: recordedRun, RequestID: "req_1", Endpoint: "/v1/chat/completions", Key: "laptop", Session: "s-1",
		Role: "coder", RoleSource: "explicit", Model: "auto", Stream: true,
	}
}

// Each end of a call is the one terminal row of its run, in the journal's words; what accounts have used and which of them
// failed is told before it.
func TestRecorderEnds(t *testing.T) {
	const (
		head    = `of "laptop" session "s-1" end `
		started = `run.started {"status":"running","controls":[],"runtime":"call","model":"auto","role":"coder","metadata":{"endpoint":"/v1/chat/completions","request_id":"req_1","role_source":"explicit","stream":true}}`
		used    = `{"input_tokens":100,"output_tokens":7,"total_tokens":107,"cache_read_tokens":40,"cost":0.5,"model":"gpt-5.5","provider":"openai","duration":2}`
	)
	good := telemetry.Attempt{
		Profile: "b", Provider: "openai", Model: "gpt-5.5", Outcome: "ok",
		Usage: telemetry.Usage{Input: 100, Output: 7, CacheRead: 40, Known: true}, Cost: telemetry.Cost{USD: 0.5, Known: true},
	}
	bad := telemetry.Attempt{Profile: "a", Provider: "openai", Model: "gpt-5.5", Outcome: "quota_exhausted", Reason: "x"}
	cut := good
	cut.Outcome = "server_error"
	f := func(x telemetry.Exchange, want ...string) {
		t.Helper()
		r := newRecorderRig(t)
		c := r.Record(recordedCall())
		x.Total = 2 * time.Second
		c.End(&x)
		if len(r.open) != 0 {
			t.Errorf("%s: the run is still held", x.Outcome)
		}
		r.want(r.rows(c, recordedRun), append(append([]string{head + want[0] + " closed true", started}, want[1:]...), "run.closed {}")...)
	}
	failed := `progress {"phase":"attempt_failed","text":"a: quota_exhausted"}`
	f(telemetry.Exchange{Outcome: telemetry.Success, Attempts: []telemetry.Attempt{bad, good}},
		`"completed"`, failed, `done {"usage":`+used+`}`)
	f(telemetry.Exchange{Outcome: telemetry.Success, Attempts: []telemetry.Attempt{{Profile: "b", Outcome: "ok"}}}, `"completed"`, `done {}`)
	f(telemetry.Exchange{Outcome: telemetry.Exhausted, Attempts: []telemetry.Attempt{bad}, Err: "role \"coder\" is out of quota"},
		`"errored"`, failed, `error {"type":"exhausted","code":"quota_exhausted","message":"role \"coder\" is out of quota","terminal":true}`)
	f(telemetry.Exchange{Outcome: telemetry.Interrupted, Attempts: []telemetry.Attempt{cut}, Err: "connection_reset"},
		`"errored"`, `progress {"phase":"attempt_failed","text":"b: server_error"}`, `usage.final {"usage":`+used+`}`,
		`error {"type":"upstream_interrupted","code":"server_error","message":"The upstream broke off in the middle of its answer.","terminal":true}`)
	f(telemetry.Exchange{Outcome: telemetry.ClientClosed, Attempts: []telemetry.Attempt{{Outcome: "client_closed"}}, Err: "write tcp 10.0.0.1:7400->10.0.0.2:5: broken pipe"},
		`"interrupted-by-user"`, `cancelled {"message":"The client went away."}`)
	f(telemetry.Exchange{Outcome: telemetry.InvalidCall, Err: "model is missing"}, `"errored"`, `error {"type":"invalid_request","message":"model is missing","terminal":true}`)
	f(telemetry.Exchange{Outcome: telemetry.Refused, Err: "this key may not use role \"x\""}, `"errored"`, `error {"type":"refused","message":"this key may not use role \"x\"","terminal":true}`)
	f(telemetry.Exchange{Outcome: telemetry.Unavailable, Err: "the hub is restarting: try again"},
		`"errored"`, `error {"type":"hub_unavailable","message":"the hub is restarting: try again","terminal":true}`)
	f(telemetry.Exchange{Outcome: telemetry.InternalError}, `"errored"`, `error {"type":"internal_error","message":"Internal error of the hub; its log has the details.","terminal":true}`)
}

// What Hermes tells of its call is metadata of the run, as it was sent; with words, what was asked and answered is there.
func TestRecorderWords(t *testing.T) {
	r := newRecorderRig(t)
	call := recordedCall()
	call.Fields = json.RawMessage(`{"task_id":"t","turn_id":"u","api_request_id":"q","session_id":"s","platform":"cli","provider":"p","base_url":"http://h/v1","api_mode":"chat","api_call_count":3}`)
	call.Input = "Read <it>."
	c := r.Record(call)
	if len(r.open) != 1 {
		t.Error("the run is not held")
	}
	c.Reasoning("Hm.")
	c.Text("I read ")
	c.Left(3)
	c.Text("it.")
	c.Tool(proxy.ToolCall{ID: "call_1", Name: "read", Arguments: `{"path":"/home/me/a.go"}`})
	c.Tool(proxy.ToolCall{ID: "call_2", Name: "read", Arguments: `{"path":`})
	c.End(&telemetry.Exchange{Outcome: telemetry.Success})
	r.want(r.rows(c, recordedRun), `of "laptop" session "s-1" end "completed" closed true`,
		`run.started {"status":"running","controls":[],"runtime":"call","model":"auto","role":"coder","input":"Read \u003cit\u003e.",`+
			`"metadata":{"endpoint":"/v1/chat/completions","request_id":"req_1","role_source":"explicit","stream":true,`+
			`"task_id":"t","turn_id":"u","api_request_id":"q","session_id":"s","platform":"cli","provider":"p","base_url":"http://h/v1","api_mode":"chat","api_call_count":3}}`,
		`reasoning.delta {"delta":"Hm."}`, `token.delta {"delta":"I read "}`, `journal.gap {"reason":"overload","dropped":3}`, `token.delta {"delta":"it."}`,
		`tool.started {"tool_call_id":"call_1","name":"read","args":{"path":"/home/me/a.go"}}`, `tool.started {"tool_call_id":"call_2","name":"read","args":"{\"path\":"}`,
		`done {}`, `run.closed {}`)
}

// P26, I12: no secret of a client, an account or a person is in a row or a head: not where it was said, asked, told of the
// call, or put into its session. What is no secret stays.
func TestRecorderKeepsNoSecrets(t *testing.T) {
	canaries := []string{"configured-canary-1", "sk-proj-Canary2Canary2Canary2Canary2Canary2", "canary3@example.com", "Canary4Canary4Canary4", "canary5:canary5pass"}
	r := newRecorderRig(t, canaries[0])
	all := fmt.Sprintf("key %s or %s of %s, Authorization: Bearer %s at https://%s@host/", canaries[0], canaries[1], canaries[2], canaries[3], canaries[4])
	call := recordedCall()
	call.Session, call.Model, call.Input = canaries[2], all, all
	call.Fields = encoded(map[string]string{"task_id": canaries[1], "turn_id": canaries[0], "platform": canaries[2], "base_url": "https://" + canaries[4] + "@host/v1"})
	c := r.Record(call)
	c.Text(all)
	c.Reasoning(all)
	c.Tool(proxy.ToolCall{ID: "call_1", Name: "read", Arguments: string(encoded(map[string]string{"path": "/home/me/repo", "key": all}))})
	c.End(&telemetry.Exchange{Outcome: telemetry.InvalidCall, Err: all})
	rows := strings.Join(r.rows(c, recordedRun), "\n")
	for _, canary := range canaries {
		if strings.Contains(rows, canary) {
			t.Errorf("%s is in\n%s", canary, rows)
		}
	}
	if !strings.Contains(rows, "/home/me/repo") {
		t.Error("the path is gone")
	}
}

// A session has the name that its client gave it, where that is a name; one that is not kept stands for itself alone.
func TestRecorderSessions(t *testing.T) {
	r := newRecorderRig(t)
	for _, name := range []string{"", "s-1", "20260514_101112_ab12cd", "сессия 1", strings.Repeat("x", longestSession)} {
		if got := r.session(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
	seen := map[string]bool{}
	for _, name := range []string{"me@example.com", "you@example.com", "a\nb", strings.Repeat("x", longestSession+1)} {
		got := r.session(name)
		if !strings.HasPrefix(got, "session_") || seen[got] || r.session(name) != got {
			t.Errorf("%q became %q", name, got)
		}
		seen[got] = true
	}
}

// A call that goes on for long is shown to be alive, so that no other hub ends its run.
func TestRecorderHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorderRig(t)
		c := r.Record(recordedCall())
		ctx, stop := context.WithCancel(t.Context())
		held := make(chan struct{})
		go func() { defer close(held); r.hold(ctx, 10*time.Second) }()
		heldAt := func() time.Time {
			page, err := r.store.Read(t.Context(), recordedRun, 0, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			return page.Head.HeldAt
		}
		time.Sleep(time.Minute + time.Second)
		if since := time.Since(heldAt()); since > 10*time.Second {
			t.Errorf("held %s ago", since)
		}
		c.End(&telemetry.Exchange{Outcome: telemetry.Success})
		time.Sleep(time.Minute)
		if since := time.Since(heldAt()); since < time.Minute {
			t.Errorf("held %s ago, though the call is over", since)
		}
		stop()
		<-held
	})
}
