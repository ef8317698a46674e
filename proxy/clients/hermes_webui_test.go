package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// webUI is the Hermes WebUI in gateway mode, as far as it talks to a gateway: it asks for what that can do, sends a turn
// with the conversation so far, reads events without ever sending a cursor, knows them by `event` alone, and relays what its
// user says to approvals. It names no runtime: the hub's default has to be one.
type webUI struct {
	*runsClient
	session string
}

func newWebUI(t *testing.T, h *runsHub, session string) webUI {
	c := h.client(t)
	c.header.Set("X-Hermes-Session-Id", session)
	c.header.Set("X-Hermes-Session-Key", "webui:"+session)
	return webUI{c, session}
}

// webUITurn is what the user of the WebUI sees of a turn.
type webUITurn struct {
	text, output, err string
	tools             []string
	usage             usage
}

// turn makes a turn. Of an approval the user is asked with the command; decide returns the choice, "" to stop the run.
func (w webUI) turn(t *testing.T, orders string, decide func(command string) string) (seen webUITurn) {
	t.Helper()
	can := w.call(http.StatusOK, http.MethodGet, "/v1/capabilities", "").Features
	for _, feature := range []string{"approval_events", "run_approval_response", "approval_identity_v1"} {
		if can[feature] != true {
			t.Errorf("the feature %s is %v", feature, can[feature])
		}
	}
	id := w.call(http.StatusAccepted, http.MethodPost, "/v1/runs", fmt.Sprintf(`{"model":"sim-1","input":"Follow these orders: %s","session_id":%q,
		"instructions":"Answer in one sentence.","conversation_history":[{"role":"user","content":"What is a marigold?"},{"role":"assistant","content":"A flower."}]}`,
		orders, w.session)).RunID
	resp := w.send(http.MethodGet, "/v1/runs/"+id+"/events", "", "Accept", "text/event-stream")
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			return seen
		}
		w.see(t, id, []byte(data), decide, &seen)
	}
	t.Fatalf("the stream ended without [DONE]: %v", lines.Err())
	return seen
}

// see takes in one event.
func (w webUI) see(t *testing.T, run string, data []byte, decide func(string) string, seen *webUITurn) {
	t.Helper()
	var e struct {
		Event, Delta, Output, Tool, Command string
		Usage                               usage
		ApprovalID                          string `json:"approval_id"`
		Error                               any
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	switch e.Event {
	case "message.delta":
		seen.text += e.Delta
	case "tool.completed":
		seen.tools = append(seen.tools, e.Tool)
	case "approval.request":
		if choice := decide(e.Command); choice == "" {
			begun := time.Now()
			w.call(http.StatusOK, http.MethodPost, "/v1/runs/"+run+"/stop", "{}")
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("the stop took %s, and the WebUI gives it 10 s", took)
			}
		} else {
			w.answer(http.StatusOK, run, choice, e.ApprovalID)
		}
	case "run.completed":
		seen.output, seen.usage = e.Output, e.Usage
	case "run.failed":
		seen.err = fmt.Sprint(e.Error)
	case "run.cancelled":
		seen.err = "cancelled"
	}
}

// webUI: a WebUI whose gateway is the hub gets what it would get from the gateway itself.
func (w *runsWorld) webUI(t *testing.T) {
	h := w.hub(t)
	ui := newWebUI(t, h, "webui-session")
	w.keep(t, "rubbish/")
	var asked string
	seen := ui.turn(t, "read remove", func(command string) string { asked = command; return "once" })
	if !strings.HasPrefix(asked, "rm -r rubbish") || strings.Join(seen.tools, " ") != "read_file terminal" {
		t.Errorf("it was asked for %q, and saw the tools %q", asked, seen.tools)
	}
	if seen.err != "" || seen.output != foundByA || strings.TrimSpace(seen.text) != foundByA || seen.usage.Output == 0 {
		t.Errorf("it saw %+v", seen)
	}
	calls := h.sim.Calls("a")
	for _, want := range []string{"Answer in one sentence.", "What is a marigold?", "A flower."} {
		if !bytes.Contains(calls[len(calls)-1].Body, []byte(want)) {
			t.Errorf("the model was not told %q", want)
		}
	}
	w.keep(t, "rubbish/")
	if seen = ui.turn(t, "remove", func(string) string { return "" }); seen.err != "cancelled" || seen.output != "" {
		t.Errorf("after a stop it saw %+v", seen)
	}
}
