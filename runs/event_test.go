package runs_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/runs"
)

// J02: a row has every member of the envelope, and comes back as it was.
func TestEnvelope(t *testing.T) {
	e := runs.Event{
		RunID: "run_1", SessionID: "s", Seq: 42, Epoch: 1, Type: runs.TypeTokenDelta,
		CreatedAt: time.UnixMicro(1778750000123456).UTC(), Payload: json.RawMessage(`{"delta":"<x>\u2028"}`),
	}
	body, err := json.Marshal(e)
	want := `{"event_id":"run_1:42","seq":42,"epoch":1,"run_id":"run_1","session_id":"s","type":"token.delta",` +
		`"created_at":1778750000.123456,"terminal":false,"payload":{"delta":"\u003cx\u003e\u2028"}}`
	if string(body) != want || err != nil {
		t.Fatalf("envelope is\n%s (%v), want\n%s", body, err, want)
	}
	var back runs.Event
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatal(err)
	}
	e.Payload = json.RawMessage(`{"delta":"\u003cx\u003e\u2028"}`)
	if diff := cmp.Diff(e, back); diff != "" {
		t.Error(diff)
	}
	for _, damaged := range []string{`[]`, strings.Replace(want, ":42\"", ":41\"", 1), strings.Replace(want, "1778750000.123456", "1e999", 1)} {
		if err := json.Unmarshal([]byte(damaged), &back); err == nil {
			t.Errorf("%s was read", damaged)
		}
	}
}

// J19: how a run ended, and the status that goes with it.
func TestEndState(t *testing.T) {
	f := func(typ runs.Type, payload, want string, status runs.Status) {
		t.Helper()
		e := runs.Event{Type: typ, Terminal: true, Payload: json.RawMessage(payload)}
		if got := e.EndState(); string(got) != want || got.Status() != status {
			t.Errorf("%s %s ends %q with status %s, want %q, %s", typ, payload, got, got.Status(), want, status)
		}
	}
	f(runs.TypeDone, `{}`, "completed", runs.Completed)
	f(runs.TypeDone, `{"terminal_state":"tool_limit_reached"}`, "tool_limit_reached", runs.Completed)
	f(runs.TypeDone, `{"terminal_state":"nonsense"}`, "completed", runs.Completed)
	f(runs.TypeCancelled, `{}`, "interrupted-by-user", runs.Canceled)
	f(runs.TypeError, `{"type":"cancelled"}`, "interrupted-by-user", runs.Canceled)
	f(runs.TypeError, `{"type":"canceled"}`, "interrupted-by-user", runs.Canceled)
	f(runs.TypeError, `{"type":"interrupted"}`, "interrupted-by-crash", runs.Failed)
	f(runs.TypeError, `{"type":"tool_limit_reached"}`, "tool_limit_reached", runs.Completed)
	f(runs.TypeError, `{"type":"rate_limit"}`, "errored", runs.Failed)
	f(runs.TypeError, `{}`, "errored", runs.Failed)
	if s := (runs.Event{Type: runs.TypeError}).EndState(); s != "" || s.Status() != runs.Running {
		t.Errorf("an error that is not terminal ends %q", s)
	}
}

func TestKinds(t *testing.T) {
	f := func(e runs.Event, want runs.Kind) {
		t.Helper()
		if got := e.Kind(); got != want {
			t.Errorf("%s (terminal %v) is %s, want %s", e.Type, e.Terminal, got, want)
		}
	}
	f(runs.Event{Type: runs.TypeStatus}, runs.Normal)
	f(runs.Event{Type: runs.TypeError}, runs.Normal)
	f(runs.Event{Type: runs.TypeError, Terminal: true}, runs.Terminal)
	f(runs.Event{Type: runs.TypeDone, Terminal: true}, runs.Terminal)
	f(runs.Event{Type: runs.TypeTitleUpdated}, runs.PostTerminal)
	f(runs.Event{Type: runs.TypeUsageFinal}, runs.PostTerminal)
	f(runs.Event{Type: runs.TypeUsageUpdated}, runs.Normal)
	f(runs.Event{Type: runs.TypeClosed}, runs.Closing)
}

func TestIDs(t *testing.T) {
	a, b := runs.NewID(), runs.NewID()
	if !regexp.MustCompile(`^run_[0-9a-f]{32}$`).MatchString(a) || a == b || !runs.ValidID(a) {
		t.Errorf("drew %s and %s", a, b)
	}
	for _, hostile := range []string{"", ".", "..", "a/b", "a:1", "a b", "ж", "a\n", strings.Repeat("a", 129)} {
		if runs.ValidID(hostile) {
			t.Errorf("%q is a valid id", hostile)
		}
	}
}
