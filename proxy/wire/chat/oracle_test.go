package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/wire/neutral"
)

// P18: Hermes takes a translated stream for the whole answer, and openai-python reads every chunk of it.
func TestHermesTakesTheAnswer(t *testing.T) {
	want := oracle.Reading{
		Ending: oracle.Complete, Text: `Two "files".`, Reasoning: "Let me look.", Finish: "tool_calls", Model: "coder",
		Calls: []oracle.Call{{ID: "call_a", Name: "read", Arguments: `{"path":"a.go"}`}, {ID: "call_b", Name: "list", Arguments: "{}"}},
	}
	s := Stream{ID: "chatcmpl-1", Model: "coder"}
	a := Answer{ID: "chatcmpl-1", Model: "coder"}
	var out []byte
	for i := range thinking {
		out = s.Append(out, &thinking[i])
		a.Add(&thinking[i])
	}
	if diff := cmp.Diff(want, oracle.ReadHermes(s.End(out), nil, oracle.Session{})); diff != "" {
		t.Errorf("streamed (-want +got):\n%s", diff)
	}
	want.Usage = true // a whole answer tells it unasked
	if diff := cmp.Diff(want, oracle.ReadHermesWhole(a.Append(nil))); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
}

// A stream that broke off must not look whole: no finish reason, no usage, no end mark.
func TestHermesSeesTheCut(t *testing.T) {
	for n := range len(thinking) {
		s := Stream{ID: "chatcmpl-1", Model: "coder", WantsUse: true}
		var out []byte
		for i := range n {
			out = s.Append(out, &thinking[i])
		}
		if r := oracle.ReadHermes(out, nil, oracle.Session{}); r.Ending == oracle.Complete {
			t.Errorf("cut behind %d events: taken for %+v", n, r)
		}
	}
}

// What an answer carries comes back in the next request as it was: a client that sends its messages back as they came gives
// every seal back.
func TestAnswerComesBack(t *testing.T) {
	events := append([]neutral.Event{}, thinking...)
	google := neutral.Seal{Format: neutral.SealGoogle, Data: "goo=="}
	events = append(events[:9], neutral.Event{Kind: neutral.ToolStarted, Tool: 1, ID: "call_b", Name: "list", Seal: google}, thinking[11])
	a := Answer{ID: "chatcmpl-1", Model: "coder"}
	for i := range events {
		a.Add(&events[i])
	}
	var completion struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err := json.Unmarshal(a.Append(nil), &completion); err != nil {
		t.Fatal(err)
	}
	body := `{"messages":[{"role":"user","content":"go"},` + string(completion.Choices[0].Message) +
		`,{"role":"tool","tool_call_id":"call_a","content":"x"},{"role":"tool","tool_call_id":"call_b","content":"y"}]}`
	r, err := Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	want := `reasoning "Let me look." sealed anthropic-claude-v1 sig== 
reasoning  sealed anthropic-claude-v1 hidden== hidden
text "Two \"files\"."
call call_a read {"path":"a.go"}
call call_b list {} sealed google-gemini-v1 goo== hidden
`
	var got strings.Builder
	for _, p := range r.Turns[1].Parts {
		p.Path = ""
		line := part(p)
		got.WriteString(line[:len(line)-len(" at ")] + "\n")
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(r.Others) > 0 {
		t.Errorf("others: %q", r.Others)
	}
}
