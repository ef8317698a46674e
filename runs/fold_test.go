package runs_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hermes-hub/runs"
)

// logOf makes rows of payloads.
func logOf(t *testing.T, payloads ...runs.Payload) []runs.Event {
	t.Helper()
	var log []runs.Event
	for i, p := range payloads {
		e := eventOf(t, p)
		e.Seq = int64(i + 1)
		log = append(log, e)
	}
	return log
}

// state is a run object in a line.
func state(r runs.Run) string {
	return fmt.Sprintf("%s %s %q a=%s c=%s %s", r.Status, r.TerminalState, r.Output, r.PendingApprovalID, r.PendingClarifyID, r.ActiveControls)
}

func TestFoldStatus(t *testing.T) {
	start := runs.RunStarted{Status: runs.Running, Controls: []string{"cancel"}, Model: "m"}
	f := func(want string, more ...runs.Payload) {
		t.Helper()
		var fold runs.Fold
		for _, e := range logOf(t, append([]runs.Payload{start}, more...)...) {
			fold.Apply(e)
		}
		if got := state(fold.Run()); got != want {
			t.Errorf("%T: %s, want %s", more, got, want)
		}
	}
	f(`running  "" a= c= [cancel]`)
	f(`queued  "" a= c= []`, runs.StatusChanged{Status: runs.Queued, Controls: []string{}})
	f(`running  "" a= c= [cancel]`, runs.StatusChanged{Status: runs.Completed}) // only a terminal row ends a run
	f(`running  "" a= c= [cancel]`, runs.StatusChanged{Status: "nonsense"})
	ask, ask2 := runs.ApprovalRequested{ApprovalID: "1"}, runs.ApprovalRequested{ApprovalID: "2"}
	f(`awaiting_approval  "" a=1 c= [cancel]`, ask)
	f(`awaiting_approval  "" a=1 c= [cancel]`, ask, ask2, runs.ApprovalResolved{ApprovalID: "2"})
	f(`awaiting_approval  "" a=1 c= [cancel]`, ask, runs.ApprovalResolved{ApprovalID: "0"}) // C07: an unknown id resolves nothing
	f(`running  "" a= c= [cancel]`, ask, runs.ApprovalResolved{ApprovalID: "1"}, runs.ApprovalResolved{ApprovalID: "1"})
	f(`awaiting_clarify  "" a= c=q [cancel]`, runs.ClarifyRequested{ClarifyID: "q"}) // C10
	f(`awaiting_clarify  "" a= c=q [cancel]`, runs.ClarifyRequested{ClarifyID: "q"}, ask, runs.ApprovalResolved{ApprovalID: "1"})
	f(`cancelling  "" a=1 c= [cancel]`, runs.StatusChanged{Status: runs.Cancelling}, ask) // C05
	f(`completed completed "ab" a= c= []`, ask, runs.TokenDelta{Delta: "a"}, runs.TokenDelta{Delta: "b"}, runs.RunDone{}, runs.RunClosed{})
	f(`completed completed "whole" a= c= []`, runs.TokenDelta{Delta: "a"}, runs.RunDone{Output: "whole"})
	f(`completed tool_limit_reached "" a= c= []`, runs.RunDone{TerminalState: runs.EndToolLimit})
	f(`cancelled interrupted-by-user "part" a= c= []`, runs.TokenDelta{Delta: "part"}, runs.RunCancelled{}) // C01, C06
	f(`failed errored "part" a= c= []`, runs.TokenDelta{Delta: "part"}, runs.ErrorRaised{Reason: "x", Ends: true})
	f(`running  "" a= c= [cancel]`, runs.ErrorRaised{Reason: "x"})
	// J17: what follows the terminal row changes no status.
	f(`failed errored "" a= c= []`, runs.ErrorRaised{Ends: true}, runs.TitleUpdated{Title: "T"}, runs.UsageFinal{}, runs.StatusChanged{Status: runs.Running}, runs.RunClosed{})
}

// J32: the run object has what its rows say.
func TestFoldObject(t *testing.T) {
	var fold runs.Fold
	usage := runs.Usage{InputTokens: 1}
	for _, e := range logOf(
		t, runs.RunStarted{Runtime: "hermes", Model: "m", Role: "main", Metadata: json.RawMessage(`{"project":"p"}`)},
		runs.UsageUpdated{Usage: runs.Usage{}}, runs.ApprovalRequested{ApprovalID: "1"}, runs.ErrorRaised{Reason: "r", Message: "no", Ends: true},
		runs.UsageFinal{Usage: usage}, runs.UsageUpdated{}, runs.TitleUpdated{Title: "T"},
	) {
		fold.Apply(e)
		if e.Type == runs.TypeApprovalRequested && (!fold.Pending("1") || fold.Pending("2")) {
			t.Error("approval 1 is what waits")
		}
	}
	if fold.Pending("1") {
		t.Error("an approval of a run that has ended waits")
	}
	body, err := json.Marshal(fold.Run())
	want := `{"run_id":"run","session_id":"s","status":"failed","last_event_id":"run:7","terminal_state":"errored","output":"",` +
		`"error":{"type":"r","message":"no","terminal":true},"usage":{"input_tokens":1,"output_tokens":0,"total_tokens":0},` +
		`"active_controls":[],"pending_approval_id":"","pending_clarify_id":"","runtime":"hermes","model":"m","role":"main","title":"T",` +
		`"created_at":1778750000.5,"metadata":{"project":"p"}}`
	if string(body) != want || err != nil {
		t.Errorf("run object is\n%s (%v), want\n%s", body, err, want)
	}
}

func TestTombstone(t *testing.T) {
	r := runs.Tombstone(runs.Head{RunID: "run", SessionID: "s", Last: 3, End: runs.EndCompleted, Expired: true, CreatedAt: time.Unix(10, 0)})
	if got := state(r) + " " + r.LastEventID; got != `expired completed "" a= c= [] run:3` || r.CreatedAt != 10 {
		t.Errorf("tombstone is %s, %v", got, r.CreatedAt)
	}
}

// J07: replaying a log twice, or any stretch of it again, gives what the live rows gave.
// J34: what the journal says of itself adds nothing to the answer.
func TestFoldReplay(t *testing.T) {
	payloads := everyPayload()
	rapid.Check(t, func(rt *rapid.T) {
		var log []runs.Payload
		for range rapid.IntRange(1, 12).Draw(rt, "rows") {
			log = append(log, rapid.SampledFrom(payloads).Draw(rt, "payload"))
		}
		rows := logOf(t, log...)
		var live, again, recovered runs.Fold
		for i, e := range rows {
			live.Apply(e)
			for _, old := range rows[rapid.IntRange(0, i).Draw(rt, "from") : i+1] {
				again.Apply(old)
			}
		}
		if diff := cmp.Diff(live.Run(), again.Run()); diff == "" {
			for _, e := range rows {
				again.Apply(e)
			}
		}
		if diff := cmp.Diff(live.Run(), again.Run()); diff != "" {
			rt.Fatal(diff)
		}
		for _, e := range rows {
			recovered.Apply(e)
		}
		before := recovered.Run().Output
		for i, typ := range []runs.Type{runs.TypeTokenDelta, runs.TypeError} {
			recovered.Apply(runs.Event{
				RunID: "run", Seq: int64(len(rows) + 1 + i), Type: typ, Terminal: typ == runs.TypeError,
				Payload: json.RawMessage(`{"recovery_control":true,"delta":"doubled","output":"doubled","type":"interrupted"}`),
			})
		}
		if after := recovered.Run().Output; after != before {
			rt.Fatalf("a recovery frame made %q of %q", after, before)
		}
	})
}
