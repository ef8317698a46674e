package httpapi_test

import (
	"strings"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// external begins a run that is executed outside.
func (r *rig) external(id string) {
	r.t.Helper()
	if _, _, err := r.exec.StartExternal(r.t.Context(), runtime.Order{RunID: id, SessionID: "s", Owner: "me", Content: runs.Redacted, Runtime: "external"}); err != nil {
		r.t.Fatal(err)
	}
}

// short is an error in short: status, message, param, code.
func short(answer string) string {
	return strings.NewReplacer(`{"error":{"message":`, "", `"type":"invalid_request_error",`, "", "}}", "").Replace(answer)
}

// An outside runtime appends with its token and nobody else does; what is refused leaves the log as it was.
func TestAppend(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.external("r")
		f := func(headers, body, want, log string) {
			t.Helper()
			if got := short(r.ask("POST /v1/runs/r/events\nX-Hub-Writer: the-token" + headers + "\n\n" + body)); got != want {
				t.Errorf("%.80s: %s, want %s", body, got, want)
			}
			page := pageOf(r.ask("GET /v1/runs/r/events" + asPage))
			if got := page[1:strings.Index(page, "]")]; got != log {
				t.Errorf("after %.80s the log is %s, want %s", body, got, log)
			}
		}
		log := "1:"
		f("", `{"events":[]}`, `200 {"first_seq":null,"last_seq":1}`, log)
		log += " 2:message.delta 3:message.delta 4:tool.started"
		f("", `{"events":[{"type":"token.delta","payload":{"delta":"a"}},{"type":"message.delta","payload":{"delta":"b"}},{"event":"tool.started","tool":"x","run_id":"u"}]}`, `200 {"first_seq":2,"last_seq":4}`, log)
		log += " 5:approval.request"
		for range 2 {
			f("", `{"events":[{"type":"approval.requested","payload":{"approval_id":"p"},"idempotency_key":"k"}]}`, `200 {"first_seq":5,"last_seq":5}`, log)
		}
		f("\nIf-Match: \"4\"", `{"events":[{"type":"progress"}]}`, `412 "the run's last seq is 5, not what If-Match says","param":null,"code":"precondition_failed"`, log)
		f("\nIf-Match: r:4", `{"events":[{"type":"progress"}]}`, `412 "the run's last seq is 5, not what If-Match says","param":null,"code":"precondition_failed"`, log)
		f("\nIf-Match: other:5", `{"events":[]}`, `400 "If-Match must be the seq of the run's newest row","param":null,"code":"invalid_request_error"`, log)
		f("\nIf-Match: -1", `{"events":[]}`, `400 "If-Match must be the seq of the run's newest row","param":null,"code":"invalid_request_error"`, log)
		log += " 6:"
		f("\nIf-Match: W/\"5\"", `{"events":[{"type":"progress"}]}`, `200 {"first_seq":6,"last_seq":6}`, log)

		f("", `{"events":[{"type":"progress"},{"type":"nonsense"}]}`, `400 "events[1]: no family has this name: \"nonsense\"","param":"events","code":"invalid_request_error"`, log)
		f("", `{"events":[{"type":"journal.gap"}]}`, `400 "events[0]: no family has this name: journal.gap is the journal's own","param":"events","code":"invalid_request_error"`, log)
		f("", `{"events":[{"type":"progress","payload":[]}]}`, `400 "events[0]: payload must be an object, not an array","param":"events[0].payload","code":"invalid_request_error"`, log)
		f("", `{"events":[{"type":"progress","type":"done"}]}`, `400 "events[0]: type is there twice: send it once","param":"events[0].type","code":"invalid_request_error"`, log)
		f("", `{"events":[7]}`, `400 "events[0]: must be an object, not a number","param":"events[0]","code":"invalid_request_error"`, log)
		f("", `{"events":[{"type":"progress","idempotency_key":"a b"}]}`, `400 "events[0]: idempotency_key must have 1 to 255 visible ASCII characters","param":"events[0].idempotency_key","code":"invalid_request_error"`, log)
		f("", `{}`, `400 "events is missing: send an array of {type, payload, idempotency_key?}","param":"events","code":"invalid_request_error"`, log)
		f("", `{"events":[`+strings.Repeat(`{"type":"progress"},`, 1000)+`{"type":"progress"}]}`, `413 "events has more than 1000 events: send them in several requests","param":"events","code":"request_too_large"`, log)
		f("", `{"events":[{"type":"done"},{"type":"progress"}]}`, `409 "the run has ended, and only a title, the final usage and run.closed may follow, in this order","param":null,"code":"run_ended"`, log)
		f("", `{"events":[{"type":"run.closed"}]}`, `400 "run.closed comes after the event that ends the run","param":"events","code":"invalid_request_error"`, log)
		log += " 7:"
		f("", `{"events":[{"type":"tool.updated","payload":{"stdout":"`+strings.Repeat("x", 5<<20)+"\xff"+`"}}]}`, `200 {"first_seq":7,"last_seq":7}`, log)

		log += " 8:run.failed 9:"
		f("", `{"events":[{"type":"error","terminal":true,"payload":{"type":"tool_limit_reached","message":"no"}},{"type":"run.closed"}]}`, `200 {"first_seq":8,"last_seq":9}`, log)
		f("", `{"events":[{"type":"progress"}]}`, `409 "the run has ended, and only a title, the final usage and run.closed may follow, in this order","param":null,"code":"run_ended"`, log)
		f("", `{"events":[{"type":"approval.requested","payload":{},"idempotency_key":"k"}]}`, `200 {"first_seq":5,"last_seq":5}`, log)
		if run, _ := r.j.Look(t.Context(), "r"); run.TerminalState != runs.EndToolLimit || run.Status != runs.Completed { // J19
			t.Errorf("%+v", run)
		}
	})
}

// Only the run's own outside runtime appends, and not after somebody took the run over.
func TestAppendForbidden(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.external("r")
		r.begin("inside", runtime.Order{})
		f := func(run, token, want string) {
			t.Helper()
			if got := short(r.ask("POST /v1/runs/" + run + "/events" + token + "\n\n" + `{"events":[{"type":"progress"}]}`)); got != want {
				t.Errorf("%s %s: %s, want %s", run, token, got, want)
			}
		}
		const no = `403 "X-Hub-Writer must be the writer_token of this run: only what was begun with \"runtime\": \"external\" has one","param":null,"code":"writer_forbidden"`
		const mine = "\nX-Hub-Writer: the-token"
		f("r", "", no)
		f("r", "\nX-Hub-Writer: the-tokem", no)
		f("inside", mine, no)
		f("nobody", mine, `404 "no such run","param":null,"code":"run_not_found"`)
		r.who.Owner = "other"
		f("r", mine, `404 "no such run","param":null,"code":"run_not_found"`)
		r.who.Owner = "me"
		if err := r.j.Interrupt(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		f("r", mine, `409 "another has taken the run over: stop working on it","param":null,"code":"fenced"`)
	})
}
