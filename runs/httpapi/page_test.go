package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// pageOf is a page in a line: seqs and names of its events, its cursor, and what else it says.
func pageOf(answer string) string {
	status, body, _ := strings.Cut(answer, " ")
	if status != "200" {
		return answer
	}
	p := gjson.Parse(body)
	var words []string
	for _, e := range p.Get("events").Array() {
		words = append(words, fmt.Sprintf("%d:%s", e.Get("seq").Int(), e.Get("event").Str))
	}
	var text strings.Builder
	text.WriteString(fmt.Sprintf("[%s] %s %s", strings.Join(words, " "), p.Get("cursor").Str, p.Get("last_event_id").Str))
	for _, name := range []string{"reset.reason", "gap.reason", "caught_up", "closed", "terminal_state"} {
		if v := p.Get(name); v.Exists() && v.Raw != "false" && v.Raw != "null" {
			text.WriteString(" " + name + "=" + v.String())
		}
	}
	return text.String()
}

const asPage = "\nAccept: application/json"

// Pages tell what streams tell, from the same cursors, and their cursor always moves forward (W08).
func TestPages(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		r.add(w, delta("a"), delta("b"))
		f := func(query, want string) {
			t.Helper()
			if got := pageOf(r.ask("GET /v1/runs/r/events" + query + asPage)); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		f("", "[1: 2:message.delta 3:message.delta] 3 r:3 caught_up=true")
		f("?limit=2", "[1: 2:message.delta] 2 r:2")
		f("?limit=2&cursor=2", "[3:message.delta] 3 r:3 caught_up=true")
		f("?cursor=r:2", "[3:message.delta] 3 r:3 caught_up=true")
		f("?cursor=3", "[] 3 r:3 caught_up=true")
		f("?cursor=opaque", "[1: 2:message.delta 3:message.delta] 3 r:3 reset.reason=cursor_malformed caught_up=true")
		f("?cursor=99", "[1: 2:message.delta 3:message.delta] 3 r:3 reset.reason=cursor_ahead caught_up=true")
		f("?limit=0", `400 {"error":{"message":"limit is \"0\"; it must be a whole number from 1 on","type":"invalid_request_error","param":"limit","code":"invalid_request_error"}}`)
		f("?wait=NaN", `400 {"error":{"message":"wait is \"NaN\"; it must be a number of seconds","type":"invalid_request_error","param":"wait","code":"invalid_request_error"}}`)
		r.add(w, runs.ErrorRaised{Reason: "interrupted", Message: "no", Ends: true})
		f("?cursor=3", "[4:run.failed] 4 r:4 caught_up=true terminal_state=interrupted-by-crash")
		r.add(w, runs.RunClosed{})
		f("?cursor=4", "[5:] 5 r:5 caught_up=true closed=true terminal_state=interrupted-by-crash")
		f("?cursor=5", "[] 5 r:5 caught_up=true closed=true terminal_state=interrupted-by-crash")
	})
}

// A page waits for rows as long as it is told to, and no longer than a minute.
func TestLongPoll(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		f := func(query string, after time.Duration, want string) {
			t.Helper()
			began := time.Now()
			if got := pageOf(r.ask("GET /v1/runs/r/events" + query + asPage)); got != want || time.Since(began).Round(10*time.Millisecond) != after {
				t.Errorf("%s: %s after %v, want %s after %v", query, got, time.Since(began), want, after)
			}
		}
		f("?cursor=1&wait=2.5", 2500*time.Millisecond, "[] 1 r:1 caught_up=true")
		f("?cursor=1&wait=1e9", time.Minute, "[] 1 r:1 caught_up=true")
		f("?cursor=1&wait=-0", 0, "[] 1 r:1 caught_up=true")
		time.AfterFunc(7*time.Second, func() { _ = w.Append(delta("a")) })
		f("?cursor=1&wait=25", 7*time.Second, "[2:message.delta] 2 r:2 caught_up=true")
		r.add(w, runs.RunDone{}, runs.RunClosed{})
		f("?cursor=4&wait=25", 0, "[] 4 r:4 caught_up=true closed=true terminal_state=completed")
	})
}

// A run of the runner dialect is told in the WebUI's words (W10), the closing event is told to whoever asks behind the end
// (W09), and its pages wait without being asked to (W08).
func TestRunnerPages(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{Started: runs.RunStarted{Words: runs.WordsWebUI}})
		began := time.Now()
		f := func(query, want string) {
			t.Helper()
			if got := pageOf(r.ask("GET /v1/runs/r/events" + query + asPage)); got != want {
				t.Errorf("%s: %s, want %s", query, got, want)
			}
		}
		f("", "[] 1 r:1 caught_up=true")
		if waited := time.Since(began); waited != 10*time.Second {
			t.Errorf("waited %v", waited)
		}
		r.add(w, delta("a"), runs.ToolUpdated{}, runs.ToolDone{Name: "x"})
		f("?cursor=r:1", "[2:token 4:tool_complete] 4 r:4 caught_up=true")
		if got := gjson.Get(strings.TrimPrefix(r.ask("GET /v1/runs/r/events"+asPage), "200 "), "events.0.payload").Raw; got != `{"delta":"a","text":"a"}` {
			t.Errorf("payload %s", got)
		}
		r.add(w, runs.RunCancelled{})
		f("?cursor=r:4", "[5:cancel] 5 r:5 caught_up=true terminal_state=interrupted-by-user")
		r.add(w, runs.RunClosed{})
		for range 2 {
			f("?cursor=6", "[6:stream_end] 6 r:6 caught_up=true closed=true terminal_state=interrupted-by-user")
		}
		r.who.All = true
		f("", "[1: 2:token 3: 4:tool_complete 5:cancel 6:stream_end] 6 r:6 caught_up=true closed=true terminal_state=interrupted-by-user")
	})
}
