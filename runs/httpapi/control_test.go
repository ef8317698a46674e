package httpapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// Each control's path and body, in the words of both kinds of client, is one wish; the answer is the run object and what
// the clients read beside it.
func TestControls(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		f := func(path, body, wish string) {
			t.Helper()
			r.exec.controls = nil
			answer := r.ask("POST /v1/" + path + "\n\n" + body)
			if got := strings.Join(r.exec.controls, "; "); got != wish {
				t.Errorf("%s %s: %s, want %s", path, body, got, wish)
			}
			a := gjson.Parse(strings.TrimPrefix(answer, "200 "))
			if a.Get("run_id").Str != "r" || !a.Get("ok").Bool() || !a.Get("status").Exists() || a.Get("message").Str == "" || !a.Get("active_controls").IsArray() {
				t.Errorf("%s: %s", path, answer)
			}
		}
		f("runs/r/approval", `{"choice":"once","approval_id":"p1"}`, "approval p1 once")
		f("runs/r/approval", `{"choice":"deny","request_id":"p2"}`, "approval p2 deny")
		f("runs/r/approval", `{"choice":"once"}`, "approval  once")
		f("runs/r/clarify", `{"clarify_id":"c1","response":"yes"}`, "clarify c1 yes")
		f("runs/r/clarifications/c%2F1/respond", `{"response":""}`, "clarify c/1")
		f("runs/r/messages", `{"message":"more","mode":"queue"}`, "continue  more queue")
		f("runs/r/messages", `{"message":"more"}`, "continue  more queue")
		f("runs/r/steer", `{"input":"left"}`, "steer  left")
		f("runs/r/steer", `{"message":"left"}`, "steer  left")
		f("runs/r/steer", `{"text":"left"}`, "steer  left")
		f("runs/r/goal", `{"action":"set","text":"win"}`, "goal  win set")
		f("runs/r/goal", `{"text":"win"}`, "goal  win set")
		f("runs/r/goal", `{"action":"status"}`, "goal   status")
		f("sessions/s/goal", `{"action":"pause"}`, "goal   pause")
		f("runs/r/cancel", `{}`, "cancel")
		f("runs/r/stop", ``, "cancel") // an ended run: 200 with the run object (C02)
		f("runs/r/stop", `not even JSON`, "cancel")
		if got := r.ask("POST /v1/runs/r/stop"); gjson.Get(got[4:], "terminal_state").Str != string(runs.EndInterruptedByUser) || gjson.Get(got[4:], "status").Str != "cancelled" {
			t.Error(got)
		}
		if got := short(r.ask("POST /v1/sessions/s/goal\n\n{\"action\":\"pause\"}")); !strings.HasPrefix(got, "409") || !strings.Contains(got, "not_active") {
			t.Error(got)
		}
	})
}

// What is no wish, or cannot be fulfilled, is answered so that a client knows why (C07, C09).
func TestControlsRefused(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		f := func(path, body, want string) {
			t.Helper()
			if got := short(r.ask("POST /v1/" + path + "\n\n" + body)); got != want {
				t.Errorf("%s %s: %s, want %s", path, body, got, want)
			}
		}
		f("runs/r/approval", `{"approval_id":"p"}`, `400 "choice is missing: send one of the choices that the approval offers","param":"choice","code":"invalid_request_error"`)
		f("runs/r/approval", `{"choice":"once","approval_id":7}`, `400 "approval_id must be a string, not a number","param":"approval_id","code":"invalid_request_error"`)
		f("runs/r/clarify", `{"clarify_id":"c"}`, `400 "response is missing: send the answer to the question","param":"response","code":"invalid_request_error"`)
		f("runs/r/messages", `{}`, `400 "message is missing: say what is to follow","param":"message","code":"invalid_request_error"`)
		f("runs/r/steer", `{}`, `400 "input is missing: say what is to change","param":"input","code":"invalid_request_error"`)
		f("runs/r/goal", `{}`, `400 "action is missing: set, status, pause, resume, clear or edit","param":"action","code":"invalid_request_error"`)
		f("runs/nobody/stop", ``, `404 "no such run","param":null,"code":"run_not_found"`)
		const choice = `{"choice":"once","approval_id":"p"}`
		for err, want := range map[error]string{
			runtime.ErrNotActive:   `409 "that is not pending, or the run has ended","param":null,"code":"not_active"`,
			runtime.ErrUnsupported: `409 "this run's runtime has no such control","param":null,"code":"unsupported_control"`,
			&runtime.Refused{Status: 400, Code: "invalid_approval_choice", Message: "no"}: `400 "no","param":null,"code":"invalid_approval_choice"`,
			runtime.ErrElsewhere: `503 "the run is executed by another hub, which is not here","type":"server_error","param":null,"code":"hub_unavailable"`,
			errors.New("x"):      `503 "the journal of runs cannot be used at the moment","type":"server_error","param":null,"code":"hub_unavailable"`,
		} {
			r.exec.refuse = err
			f("runs/r/approval", choice, want)
		}
		r.exec.refuse = runtime.ErrNotActive // of a run that goes on all the same
		f("runs/r/stop", ``, `409 "that is not pending, or the run has ended","param":null,"code":"not_active"`)
		r.exec.refuse = nil
		r.who = httpapi.Client{Owner: "other"}
		f("runs/r/approval", choice, `404 "no such run","param":null,"code":"run_not_found"`)
		r.who = httpapi.Client{All: true, ReadOnly: true}
		if got := r.ask("POST /admin/v1/runs/r/stop"); got != `403 {"type":"urn:hermes-hub:problem:read_only","title":"Forbidden","status":403,"detail":"this client may look only","code":"read_only"}` {
			t.Error(got)
		}
	})
}

// The run object of a run that goes on, waits, and has ended (J31, J32).
func TestRunObject(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{Started: runs.RunStarted{Model: "m", Role: "coder", Metadata: []byte(`{"project":"p"}`)}})
		f := func(want string) {
			t.Helper()
			if got := r.ask("GET /v1/runs/r"); got != "200 "+want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		f(`{"object":"hermes.run","run_id":"r","session_id":"s","status":"running","last_event_id":"r:1","terminal_state":null,"output":"","error":null,"usage":null,` +
			`"active_controls":["cancel"],"pending_approval_id":null,"pending_clarify_id":null,"runtime":"completion","model":"m","role":"coder","title":null,"created_at":946684800,"metadata":{"project":"p"}}`)
		r.add(w, delta("a"), runs.ApprovalRequested{ApprovalID: "p"}, runs.ClarifyRequested{ClarifyID: "c"}, runs.TitleUpdated{Title: "T"})
		f(`{"object":"hermes.run","run_id":"r","session_id":"s","status":"awaiting_approval","last_event_id":"r:5","terminal_state":null,"output":"a","error":null,"usage":null,` +
			`"active_controls":["cancel"],"pending_approval_id":"p","pending_clarify_id":"c","runtime":"completion","model":"m","role":"coder","title":"T","created_at":946684800,"metadata":{"project":"p"}}`)
		r.add(w, runs.ErrorRaised{Reason: "rate_limit", Message: "no", Ends: true})
		f(`{"object":"hermes.run","run_id":"r","session_id":"s","status":"failed","last_event_id":"r:6","terminal_state":"errored","output":"a","error":{"type":"rate_limit","message":"no","terminal":true},"usage":null,` +
			`"active_controls":[],"pending_approval_id":null,"pending_clarify_id":null,"runtime":"completion","model":"m","role":"coder","title":"T","created_at":946684800,"metadata":{"project":"p"}}`)
	})
}
