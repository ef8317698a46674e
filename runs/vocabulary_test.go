package runs_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// everyPayload has one event of each family, with something in every member.
func everyPayload() []runs.Payload {
	usage, code := runs.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7, Model: "m"}, 1
	object := json.RawMessage(`{"k":"v"}`)
	return []runs.Payload{
		runs.RunStarted{Status: runs.Running, Controls: []string{"cancel"}, Runtime: "hermes", Model: "m", Role: "main", Workspace: "/home/me/w", Source: "voice", Metadata: object},
		runs.StatusChanged{Status: runs.Paused, Reason: "why"},
		runs.TokenDelta{MessageID: "m1", Delta: "Hi\n"},
		runs.ReasoningDelta{BlockID: "b1", Delta: "hm"},
		runs.ReasoningDone{BlockID: "b1", Text: "hm."},
		runs.Progress{Phase: "p", Text: "going on"},
		runs.ToolStarted{ToolCallID: "c1", Name: "shell", Preview: "ls", Args: object},
		runs.ToolUpdated{ToolCallID: "c1", Stdout: "a"},
		runs.ToolDone{ToolCallID: "c1", Name: "shell", Preview: "ls", Result: object, ExitCode: &code, Duration: 1.5, IsError: true},
		runs.ApprovalRequested{ApprovalID: "a1", Tool: "shell", Command: "rm", Description: "d", Choices: []string{"once", "deny"}, AllowSession: true},
		runs.ApprovalResolved{ApprovalID: "a1", Choice: "once"},
		runs.ClarifyRequested{ClarifyID: "q1", Question: "Which?", Choices: []string{"x"}},
		runs.ClarifyResolved{ClarifyID: "q1", Response: "x"},
		runs.TitleUpdated{Title: "T"},
		runs.UsageUpdated{Usage: usage},
		runs.UsageFinal{Usage: usage},
		runs.ErrorRaised{Reason: "rate_limit", Message: "slow down", Hint: "wait"},
		runs.ErrorRaised{Reason: "rate_limit", Message: "slow down", Hint: "wait", Ends: true},
		runs.RunDone{Output: "Hi", Usage: &usage},
		runs.RunCancelled{Message: "stopped"},
		runs.RunClosed{},
		runs.Truncated{Reason: "max_rows"},
		runs.GapMarked{Reason: "overload", Dropped: 2},
	}
}

func eventOf(t *testing.T, p runs.Payload) runs.Event {
	t.Helper()
	body, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	terminal := p.Type() == runs.TypeDone || p.Type() == runs.TypeCancelled || p.Type() == runs.TypeError && gjson.GetBytes(body, "terminal").Bool()
	return runs.Event{RunID: "run", SessionID: "s", Seq: 7, Type: p.Type(), CreatedAt: time.UnixMicro(1778750000500000).UTC(), Terminal: terminal, Payload: body}
}

// J33: every family is in the table, and what a dialect has a word for comes back as the same family with the same members.
func TestVocabularyRoundTrips(t *testing.T) {
	names := [2][]string{}
	for _, p := range everyPayload() {
		e := eventOf(t, p)
		for _, d := range []runs.Dialect{runs.Hermes, runs.WebUI} {
			name := d.Name(e)
			line, err := d.Frame(e)
			if err != nil || !json.Valid(line) || strings.ContainsAny(string(line), "\r\n") {
				t.Errorf("%s in dialect %d: %s, %v", e.Type, d, line, err)
			}
			frame := gjson.ParseBytes(line)
			if frame.Get("event").String() != name || frame.Get("type").Str != string(e.Type) || frame.Get("event_id").Str != "run:7" {
				t.Errorf("%s in dialect %d is %s", e.Type, d, line)
			}
			if name == "" {
				continue
			}
			names[d] = append(names[d], name)
			_, object, _ := strings.Cut(string(line), `"event":`) // the dialect's own members, flat
			object = `{"event":` + object
			if d == runs.WebUI {
				object = frame.Get("payload").Raw
			}
			back, err := d.Read(name, []byte(object))
			if err != nil || back.Type() != e.Type {
				t.Errorf("%s by the name of %q came back as %s, %v", e.Type, name, back.Type(), err)
			}
			told := gjson.ParseBytes(back.Object)
			for member, value := range gjson.ParseBytes(e.Payload).Map() {
				if v := told.Get(member); v.Exists() && v.Raw != value.Raw && member != "tool" {
					t.Errorf("%s by the name of %q: %s came back as %s, was %s", e.Type, name, member, v.Raw, value.Raw)
				}
			}
		}
	}
	f := func(d runs.Dialect, want string) {
		t.Helper()
		if got := strings.Join(names[d], " "); got != want {
			t.Errorf("dialect %d has the words\n%s, want\n%s", d, got, want)
		}
	}
	f(runs.Hermes, "message.delta reasoning.delta reasoning.available tool.started tool.completed approval.request approval.responded "+
		"clarify.request clarify.responded run.failed run.completed run.cancelled")
	f(runs.WebUI, "token reasoning tool tool_complete approval clarify title metering warning apperror done cancel stream_end")
}

// The frames that clients of Hermes and the WebUI were seen to read. None is named error (E09).
func TestFrames(t *testing.T) {
	f := func(d runs.Dialect, p runs.Payload, want string) {
		t.Helper()
		line, err := d.Frame(eventOf(t, p))
		if !strings.HasSuffix(string(line), want) || err != nil {
			t.Errorf("frame is\n%s (%v), want the end\n%s", line, err, want)
		}
	}
	f(runs.Hermes, runs.TokenDelta{Delta: "Hi"}, `"payload":{"delta":"Hi"},"event":"message.delta","timestamp":1778750000.500000,"delta":"Hi"}`)
	f(runs.Hermes, runs.ToolDone{Name: "shell", Duration: 2}, `"event":"tool.completed","timestamp":1778750000.500000,"duration":2,"tool":"shell","error":false}`)
	f(runs.Hermes, runs.ApprovalRequested{ApprovalID: "a"}, `"event":"approval.request","timestamp":1778750000.500000,"approval_id":"a","request_id":"a"}`)
	f(runs.Hermes, runs.ErrorRaised{Message: "no", Ends: true}, `"event":"run.failed","timestamp":1778750000.500000,"error":"no"}`)
	f(runs.Hermes, runs.ErrorRaised{Message: "no"}, `"event":null}`)
	f(runs.Hermes, runs.RunClosed{}, `"payload":{},"event":null}`)
	f(runs.WebUI, runs.TokenDelta{Delta: "Hi"}, `"payload":{"delta":"Hi","text":"Hi"},"event":"token"}`)
	f(runs.WebUI, runs.ToolStarted{ToolCallID: "c", Name: "ls"}, `"payload":{"tool_call_id":"c","name":"ls","tid":"c"},"event":"tool"}`)
	f(runs.WebUI, runs.ErrorRaised{Reason: "auth", Message: "no", Ends: true}, `"payload":{"type":"auth","message":"no","terminal":true},"event":"apperror"}`)
}

// What Hermes sends is kept member by member beside ours.
func TestDialectRead(t *testing.T) {
	f := func(d runs.Dialect, name, object, want string) {
		t.Helper()
		got, err := d.Read(name, []byte(object))
		if text := string(got.Family) + " " + string(got.Object); text != want || err != nil {
			t.Errorf("%s became %s, %v, want %s", name, text, err, want)
		}
	}
	f(runs.Hermes, "message.delta", `{"event":"message.delta","delta":"x"}`, `token.delta {"event":"message.delta","delta":"x"}`)
	f(runs.Hermes, "tool.completed", `{"tool":"ls","error":true,"extra":[1]}`, `tool.done {"tool":"ls","error":true,"extra":[1],"name":"ls","is_error":true}`)
	f(runs.Hermes, "approval.request", `{"request_id":"r"}`, `approval.requested {"request_id":"r","approval_id":"r"}`)
	f(runs.Hermes, "run.failed", `{"error":"no"}`, `error {"error":"no","message":"no","terminal":true}`)
	f(runs.Hermes, "subagent.start", `{"goal":"g"}`, `progress {"goal":"g"}`)
	f(runs.WebUI, "token", `{"text":"x"}`, `token.delta {"text":"x","delta":"x"}`)
	f(runs.WebUI, "warning", `{"message":"m"}`, `error {"message":"m","terminal":false}`)

	for _, bad := range []string{``, `[]`, `{`, `"x"`, `{"a":1}{`} {
		if _, err := runs.Hermes.Read("message.delta", []byte(bad)); !errors.Is(err, runs.ErrBadPayload) {
			t.Errorf("%q was read: %v", bad, err)
		}
	}
	for _, name := range []string{"", "nonsense", "token"} {
		if _, err := runs.Hermes.Read(name, []byte(`{}`)); !errors.Is(err, runs.ErrUnknownWord) {
			t.Errorf("%q was read: %v", name, err)
		}
	}
}
