package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// gateway is what the Hermes WebUI does in gateway mode with runs: api/gateway_chat.py, `_run_gateway_via_runs_api`. It
// returns what the browser would see.
func gateway(r *rig, input string) (said []string) {
	c := gjson.Parse(strings.TrimPrefix(r.ask("GET /v1/capabilities"), "200 "))
	if !c.Get("features.approval_events").Bool() || !c.Get("features.run_approval_response").Bool() {
		return []string{"no runs API"}
	}
	identity := c.Get("features.approval_identity_v1").Bool()
	body, _ := json.Marshal(map[string]any{
		"model": "default", "input": input, "session_id": "s", "instructions": "be kind",
		"conversation_history": []any{map[string]any{"role": "user", "content": "before"}},
	})
	begun := r.ask("POST /v1/runs\nAccept: application/json\nX-Hermes-Session-Id: s\nX-Hermes-Session-Key: webui:s\n\n" + string(body))
	run := gjson.Get(strings.TrimPrefix(begun, "202 "), "run_id").Str
	if run == "" || len(begun) > 64<<10 {
		return []string{"no run: " + begun}
	}
	stream := r.open("GET /v1/runs/" + run + "/events\nAccept: text/event-stream\nX-Hermes-Session-Id: s")
	defer stream.Body.Close()
	text, event := "", "message"
	lines := bufio.NewScanner(stream.Body)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "":
			event = "message"
			continue
		case strings.HasPrefix(line, "event:"):
			event = strings.TrimSpace(line[6:])
			continue
		case !strings.HasPrefix(line, "data:"):
			continue
		}
		data := strings.TrimSpace(line[5:])
		if data == "[DONE]" {
			return append(said, "text "+text)
		}
		p := gjson.Parse(data)
		name := event
		for _, member := range []string{"type", "event"} {
			if v := p.Get(member).Str; v != "" {
				name = v
			}
		}
		switch name {
		case "approval.request":
			if p.Get("tool").Str+p.Get("command").Str+p.Get("description").Str == "" {
				continue
			}
			choice := `{"choice":"once","approval_id":` + p.Get("approval_id").Raw + `}`
			said = append(said, fmt.Sprint("approval ", identity, " ", r.ask("POST /v1/runs/" + run + "/approval\n\n" + choice)[:3]))
		case "tool.started", "tool.completed", "reasoning.available":
			if tool := p.Get("tool").Str; tool != "" {
				said = append(said, name+" "+tool)
			} else {
				said = append(said, name+" "+p.Get("text").Str)
			}
		case "message.delta":
			text += p.Get("delta").Str
		case "run.completed":
			if out := p.Get("output").Str; text == "" {
				text = out
			}
			said = append(said, "usage "+p.Get("usage").Raw)
		case "run.failed":
			return append(said, "failed "+p.Get("error").Str)
		case "run.cancelled":
			return append(said, "cancelled")
		}
	}
	return append(said, "cut off, text "+text)
}

// play appends what a runtime says while a client observes.
func (r *rig) play(run string, ps ...runs.Payload) {
	r.wg.Go(func() {
		for range 1000 {
			time.Sleep(time.Second)
			r.exec.mu.Lock()
			w := r.exec.writers[run]
			r.exec.mu.Unlock()
			if w == nil {
				continue
			}
			for i, p := range ps {
				if i > 0 {
					time.Sleep(3 * time.Second)
				}
				if err := w.Append(p); err != nil {
					return
				}
			}
			_ = w.Append(runs.RunClosed{})
			return
		}
	})
}

// The unmodified WebUI in gateway mode: start, text, tools, an approval, usage, the end; a failure; a cancellation (W01, W02, W03, W04, W05,
// W13).
func TestGateway(t *testing.T) {
	f := func(want string, ps ...runs.Payload) {
		t.Helper()
		rigged(t, nil, func(t *testing.T, r *rig) {
			r.play("run_00000000000000000000000000000001", ps...)
			if got := strings.Join(gateway(r, "hi"), "; "); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	f(`reasoning.available hm; tool.started x; approval true 200; tool.completed x; usage {"input_tokens":3,"output_tokens":2,"total_tokens":5}; text ab`,
		runs.ReasoningDone{Text: "hm"}, delta("a"), runs.ToolStarted{Name: "x"}, runs.ApprovalRequested{ApprovalID: "p", Command: "rm"},
		runs.ApprovalResolved{ApprovalID: "p"}, runs.ToolDone{Name: "x"}, delta("b"), runs.RunDone{Output: "ab", Usage: &runs.Usage{InputTokens: 3, OutputTokens: 2, TotalTokens: 5}})
	f(`usage ; text only at the end`, runs.RunDone{Output: "only at the end"})
	f(`failed the model said nothing`, runs.ErrorRaised{Reason: "empty_response", Message: "the model said nothing", Ends: true})
	f(`tool.started x; cancelled`, runs.ToolStarted{Name: "x"}, runs.RunCancelled{})
}

// runner is the WebUI's bridge to a runner: api/routes.py, `_stream_runner_run_events`. It returns the names and texts of
// the events that the browser gets; polls counts the pages.
func runner(r *rig, run, cursor string) (said []string, polls int) {
	for polls < 1000 {
		polls++
		query := ""
		if cursor != "" {
			query = "?cursor=" + url.QueryEscape(cursor)
		}
		page := r.ask("GET /v1/runs/" + run + "/events" + query + asPage)
		if !strings.HasPrefix(page, "200 ") {
			return append(said, "error "+page), polls
		}
		p := gjson.Parse(page[4:])
		for _, e := range p.Get("events").Array() {
			name := e.Get("event").Str
			if name == "" {
				name = e.Get("type").Str
			}
			said = append(said, strings.TrimSpace(name+" "+e.Get("payload.text").Str))
			switch name {
			case "stream_end", "cancel", "apperror", "error":
				return said, polls
			}
		}
		if next := p.Get("cursor").String(); next != "" {
			cursor = next
		}
		if len(p.Get("events").Array()) == 0 {
			status := gjson.Parse(strings.TrimPrefix(r.ask("GET /v1/runs/"+run+asPage), "200 "))
			state := status.Get("terminal_state").Str
			if state == "" {
				state = status.Get("status").Str
			}
			switch state {
			case "completed", "complete", "failed", "error", "cancelled", "canceled":
				return append(said, "ended by status "+state), polls
			}
			time.Sleep(5 * time.Second)
		}
	}
	return append(said, "polled for ever"), polls
}

// The WebUI's runner mode: each event once, in its words, and an end whatever became of the run (W07–W10), also for one
// that comes when all is over.
func TestRunner(t *testing.T) {
	f := func(want string, ps ...runs.Payload) {
		t.Helper()
		rigged(t, nil, func(t *testing.T, r *rig) {
			begun := r.ask(`POST /v1/runs` + asPage + "\n\n" + `{"session_id":"s","message":"hi","attachments":[],"workspace":"/w","profile":null,"provider":null,"model":null,"toolsets":[],"source":"webui","metadata":{"route":"x"}}`)
			g := gjson.Parse(strings.TrimPrefix(begun, "202 "))
			run := g.Get("run_id").Str
			if run == "" || g.Get("stream_id").Str != run {
				t.Fatal(begun)
			}
			r.play(run, ps...)
			said, polls := runner(r, run, "")
			if got := strings.Join(said, "; "); got != want || polls > 20 {
				t.Errorf("%s in %d pages, want %s", got, polls, want)
			}
			time.Sleep(time.Minute)
			for _, late := range []string{"999", run + ":2", "opaque text", "7"} {
				said, polls := runner(r, run, late)
				if last := said[len(said)-1]; polls > 1 || last != "stream_end" && last != "cancel" && !strings.HasPrefix(last, "apperror") {
					t.Errorf("from %s: %s in %d pages", late, said, polls)
				}
			}
		})
	}
	f("token a; tool; tool_complete; token b; done; stream_end", delta("a"), runs.ToolStarted{Name: "x"}, runs.ToolDone{Name: "x"}, delta("b"), runs.RunDone{})
	f("cancel", runs.RunCancelled{})
	f("token a; apperror", delta("a"), runs.ErrorRaised{Reason: "interrupted", Message: "no", Ends: true})
	f("done; stream_end", runs.RunDone{TerminalState: runs.EndToolLimit})
}

// browser is an EventSource loop as static/messages.js has it: it keeps a cursor that only goes up, throws away what it has
// seen, and after each lost connection probes the status and opens again behind its cursor. cut says after how many frames
// a connection is lost.
func browser(r *rig, run string, cut func(connection int) int) (text string, connections int) {
	seen := int64(0)
	for connections < 100 {
		query := ""
		if seen > 0 {
			query = fmt.Sprintf("?replay=1&after_seq=%d&after_event_id=%s:%d", seen, run, seen)
		}
		a := r.open("GET /v1/runs/" + run + "/events" + query)
		connections++
		s := bufio.NewReader(a.Body)
		for frame := 0; frame < cut(connections); frame++ {
			id, data, err := event(s)
			if err != nil {
				break
			}
			if data == "[DONE]" {
				return text, connections
			}
			if id == "" {
				continue
			}
			_, seq, _ := runs.ParseCursor(id)
			if seq <= seen {
				return "doubled " + id, connections
			}
			seen = seq
			if p := gjson.Parse(data); p.Get("event").Str == "message.delta" {
				text += p.Get("delta").Str
			}
		}
		a.Body.Close()
		time.Sleep(1500 * time.Millisecond)
		if !strings.HasPrefix(r.ask("GET /v1/runs/"+run), "200") {
			return "gone", connections
		}
	}
	return "never ended", connections
}

// event reads one event of a stream.
func event(s *bufio.Reader) (id, data string, err error) {
	for {
		line, err := s.ReadString('\n')
		switch {
		case err != nil:
			return "", "", err
		case strings.HasPrefix(line, "id: "):
			id = strings.TrimSpace(line[4:])
		case strings.HasPrefix(line, "data: "):
			data = strings.TrimSpace(line[6:])
		case line == "\n" && data != "":
			return id, data, nil
		}
	}
}

// However often a browser loses its connection, what it has in the end is the text of an observer that was there all the
// time, nothing doubled and nothing missing (W11, J07, J08, I4).
func TestBrowser(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		var ps []runs.Payload
		var want strings.Builder
		for i := range 60 {
			want.WriteString(fmt.Sprint(i, " "))
			ps = append(ps, delta(fmt.Sprint(i, " ")))
		}
		r.play("r", append(ps, runs.RunDone{Output: want.String()})...)
		if got, n := browser(r, "r", func(connection int) int { return 1 + connection%4 }); got != want.String() || n < 20 {
			t.Errorf("%q after %d connections", got, n)
		}
		for range 2 {
			if got, n := browser(r, "r", func(int) int { return 1 << 30 }); got != want.String() || n != 1 {
				t.Errorf("replayed: %q after %d connections", got, n)
			}
		}
		if run, err := r.j.Look(t.Context(), "r"); err != nil || run.Output != want.String() {
			t.Errorf("%q %v", run.Output, err)
		}
	})
}

// A stopped run: 2xx, no redirect, at once (W04), and its text stays.
func TestGatewayStop(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("r", runtime.Order{}), delta("a"))
		a := r.open("POST /v1/runs/r/stop\n\n{}")
		body, _ := io.ReadAll(a.Body)
		if a.StatusCode != 200 || gjson.GetBytes(body, "output").Str != "a" || gjson.GetBytes(body, "status").Str != "cancelled" {
			t.Errorf("%s %s", a.Status, body)
		}
	})
}
