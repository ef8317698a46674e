package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// asking is a runtime whose runs ask for an approval, and go on to their end when they have it.
type asking struct{}

func (asking) Controls() []runtime.Verb { return []runtime.Verb{runtime.Cancel, runtime.Approval} }

func (asking) Start(context.Context, string, runtime.Order) (runtime.Execution, error) {
	return &asked{answer: make(chan string, 1)}, nil
}

func (asking) Resume(context.Context, runs.Run) (runtime.Execution, error) {
	return nil, runtime.ErrGone
}

type asked struct{ answer chan string }

func (x *asked) Follow(ctx context.Context, w *runs.Writer) error {
	_ = w.Append(delta("a"))
	_ = w.Append(runs.ApprovalRequested{ApprovalID: "p", Command: "rm"})
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case choice := <-x.answer:
		if choice == "" {
			return w.Append(runs.RunCancelled{})
		}
		_ = w.Append(runs.ApprovalResolved{ApprovalID: "p", Choice: choice})
		return w.Append(runs.RunDone{Output: "a"})
	}
}

func (x *asked) Control(_ context.Context, c runtime.Control) error {
	x.answer <- c.Text
	return nil
}

// executed runs a test against the executor itself.
func executed(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	var e *runtime.Executor
	rigged(t, func(o *httpapi.Options) {
		e = runtime.New(runtime.Options{Journal: o.Journal, Runtimes: map[string]runtime.Runtime{"asking": asking{}}, Default: "asking", Instance: "here"})
		o.Executor = e
	}, func(t *testing.T, r *rig) {
		life, end := context.WithCancel(t.Context())
		r.wg.Go(func() { _ = e.Run(life) })
		defer end()
		f(t, r)
	})
}

// Over the executor itself: a run waits for an approval, is answered once, by its id (C07, C08), and ends; another is
// cancelled, twice (C01, C02), by a row of its own (J06); what the runtime does not have is said (C09).
func TestOverExecutor(t *testing.T) {
	executed(t, func(t *testing.T, r *rig) {
		begin := func() string {
			a := r.ask("POST /v1/runs\n\n" + `{"input":"hi","session_id":"s"}`)
			return gjson.Get(strings.TrimPrefix(a, "202 "), "run_id").Str
		}
		code := func(request string) string {
			a := r.ask(request)
			return a[:4] + gjson.Get(a[4:], "error.code").Str + gjson.Get(a[4:], "status").Str
		}
		f := func(request, want string) {
			t.Helper()
			if got := code(request); got != want {
				t.Errorf("%s: %s, want %s", request, got, want)
			}
		}
		run := begin()
		s := r.observe("GET /v1/runs/" + run + "/events")
		s.until("+journal.caught_up")
		time.Sleep(time.Second)
		at := "POST /v1/runs/" + run + "/"
		f("GET /v1/runs/"+run, "200 awaiting_approval")
		f(at+"approval\n\n"+`{"choice":"once","approval_id":"stale"}`, "409 not_active")
		f(at+"steer\n\n"+`{"input":"left"}`, "409 unsupported_control")
		f(at+"clarify\n\n"+`{"clarify_id":"c","response":"x"}`, "409 unsupported_control")
		f(at+"approval\n\n"+`{"choice":"once","approval_id":"p"}`, "200 awaiting_approval")
		f(at+"approval\n\n"+`{"choice":"once","approval_id":"p"}`, "409 not_active")
		if got := s.until("EOF"); !strings.HasSuffix(got, "DONE EOF") {
			t.Error(got)
		}
		f(at+"stop", "200 completed")
		f(at+"approval\n\n"+`{"choice":"once","approval_id":"p"}`, "409 not_active")
		page := pageOf(r.ask("GET /v1/runs/" + run + "/events" + asPage))
		if strings.Count(page, "approval.responded") != 1 || !strings.Contains(page, "closed=true terminal_state=completed") {
			t.Error(page)
		}

		run = begin()
		at = "POST /v1/runs/" + run + "/"
		time.Sleep(time.Second)
		f("POST /v1/sessions/s/goal\n\n"+`{"action":"status"}`, "409 unsupported_control")
		if got := code(at + "cancel\n\n{}"); got != "200 cancelling" && got != "200 cancelled" { // it may have ended by then
			t.Error(got)
		}
		time.Sleep(time.Minute)
		f(at+"cancel\n\n{}", "200 cancelled")
		f("POST /v1/sessions/s/goal\n\n"+`{"action":"status"}`, "409 not_active")
		if page := pageOf(r.ask("GET /v1/runs/" + run + "/events" + asPage)); strings.Count(page, "run.cancelled") != 1 || !strings.Contains(page, "message.delta") {
			t.Error(page)
		}
	})
}

// A run that is executed outside: the token that the start answers with is the one to append with, and stopping the run
// shuts the outside out.
func TestExternalOverExecutor(t *testing.T) {
	executed(t, func(t *testing.T, r *rig) {
		begun := gjson.Parse(strings.TrimPrefix(r.ask("POST /v1/runs\nIdempotency-Key: k\n\n"+`{"runtime":"external"}`), "202 "))
		run, token := begun.Get("run_id").Str, begun.Get("writer_token").Str
		post := func(events string) string {
			return short(r.ask("POST /v1/runs/" + run + "/events\nX-Hub-Writer: " + token + "\n\n" + `{"events":[` + events + `]}`))
		}
		if got := post(`{"type":"token.delta","payload":{"delta":"a"},"idempotency_key":"1"}`); got != `200 {"first_seq":2,"last_seq":2}` {
			t.Fatal(got)
		}
		if again := gjson.Parse(strings.TrimPrefix(r.ask("POST /v1/runs\nIdempotency-Key: k\n\n"+`{ "runtime" : "external" }`), "202 ")); again.Get("run_id").Str != run || again.Get("writer_token").Exists() {
			t.Error(again)
		}
		if got := r.ask("POST /v1/runs\nIdempotency-Key: k\n\n" + `{"runtime":"external","x":1}`); !strings.HasPrefix(got, "409") || !strings.Contains(got, "idempotency_key_conflict") {
			t.Error(got)
		}
		if got := r.ask("POST /v1/runs/" + run + "/stop"); gjson.Get(got[4:], "status").Str != "cancelled" || gjson.Get(got[4:], "output").Str != "a" {
			t.Error(got)
		}
		if got := post(`{"type":"done"}`); !strings.Contains(got, `"fenced"`) {
			t.Error(got)
		}
	})
}
