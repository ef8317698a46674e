package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// A whole stream, byte by byte: heads (E07), rows with ids and both dialects (J01, J02, W13), a line break that stays within
// its line (E11), control frames without ids, heartbeats (E01), the closing row, and the end (J17, E09).
func TestStream(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{Model: "m"})
		a := r.open("GET /v1/runs/r/events")
		go func() {
			time.Sleep(5 * time.Second)
			_ = w.Append(delta("a\r\nb\u2028"))
			_ = w.Append(runs.RunDone{Usage: &runs.Usage{InputTokens: 1}})
			_ = w.Append(runs.UsageFinal{})
			_ = w.Append(runs.RunClosed{})
		}()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := `retry: 2000

id: r:1
data: {"event_id":"r:1","seq":1,"epoch":0,"run_id":"r","session_id":"s","type":"run.started","created_at":946684800.000000,"terminal":false,"payload":{"status":"running","controls":["cancel"],"runtime":"completion","content":"redacted"},"event":null}

event: journal.caught_up
data: {"run_id":"r","last_event_id":"r:1"}

: heartbeat

id: r:2
data: {"event_id":"r:2","seq":2,"epoch":0,"run_id":"r","session_id":"s","type":"token.delta","created_at":946684805.000000,"terminal":false,"payload":{"delta":"a\r\nb\u2028"},"event":"message.delta","timestamp":946684805.000000,"delta":"a\r\nb\u2028"}

id: r:3
data: {"event_id":"r:3","seq":3,"epoch":0,"run_id":"r","session_id":"s","type":"done","created_at":946684805.000000,"terminal":true,"payload":{"usage":{"input_tokens":1,"output_tokens":0,"total_tokens":0}},"event":"run.completed","timestamp":946684805.000000,"usage":{"input_tokens":1,"output_tokens":0,"total_tokens":0}}

id: r:4
data: {"event_id":"r:4","seq":4,"epoch":0,"run_id":"r","session_id":"s","type":"usage.final","created_at":946684805.000000,"terminal":false,"payload":{"usage":{"input_tokens":0,"output_tokens":0,"total_tokens":0}},"event":null}

id: r:5
data: {"event_id":"r:5","seq":5,"epoch":0,"run_id":"r","session_id":"s","type":"run.closed","created_at":946684805.000000,"terminal":false,"payload":{},"event":null}

data: [DONE]

`
		if string(body) != want {
			t.Errorf("the stream is\n%s", body)
		}
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Connection": "", "Content-Encoding": "",
			"X-Hub-Run-Id": "r",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		if a.Close {
			t.Error("the connection is to be closed")
		}
	})
}

// Where a stream begins, by what its client says of itself (J04, J08–J16): never an error, never a skipped row.
func TestCursors(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		r.add(w, delta("a"), delta("b"), runs.RunDone{}, runs.RunClosed{})
		r.add(r.begin("other", runtime.Order{}), delta("x"))
		f := func(query, header, want string) {
			t.Helper()
			request := "GET /v1/runs/r/events" + query
			if header != "" {
				request += "\nLast-Event-ID: " + header
			}
			if got := strings.TrimPrefix(r.observe(request).until("EOF"), "+retry 2000 "); got != want {
				t.Errorf("%s %s: %s, want %s", query, header, got, want)
			}
		}
		const (
			caughtUp = `+journal.caught_up{"run_id":"r","last_event_id":"r:5"} DONE EOF`
			whole    = "1 2 3 4 5 " + caughtUp
		)
		reset := func(why string) string { return `+journal.reset{"run_id":"r","reason":"cursor_` + why + `"} ` + whole }
		f("", "", whole) // J15
		f("?after_seq=0", "", whole)
		f("?after_seq=3", "", "4 5 "+caughtUp)
		f("?cursor=r:3", "", "4 5 "+caughtUp)
		f("?cursor=3", "", "4 5 "+caughtUp)
		f("?after_event_id=r:3", "", "4 5 "+caughtUp)
		f("", "r:3", "4 5 "+caughtUp) // J14
		f("", "3", "4 5 "+caughtUp)
		f("?after_seq=4", "r:1", "5 "+caughtUp) // J13
		f("?after_seq=", "r:3", whole)
		f("?cursor=5", "", caughtUp) // J09
		f("?cursor=r:5", "r:1", caughtUp)
		f("?cursor=6", "", reset("ahead")) // J10
		f("?cursor=999999999999999", "", reset("ahead"))
		f("?cursor=other:2", "", reset("foreign")) // J11
		f("", "other:2", reset("foreign"))
		for _, odd := range []string{"abc", "r:-1", "-1", "../x:1", "r:1:2", "$", "(1-0", "1.5", "9999999999999999", strings.Repeat("9", 4000), "%0d%0aid:%201", "%00", "r:%ff", "1%202"} {
			f("?cursor="+odd, "", reset("malformed")) // J12
		}
		f("", "../../etc/passwd:1", reset("malformed"))
	})
}

// Runs that are not there, are another's, or have expired (J16, J26).
func TestNoStream(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("r", runtime.Order{}), delta("a"), runs.RunCancelled{}, runs.RunClosed{})
		f := func(path, want string) {
			t.Helper()
			for _, accept := range []string{"text/event-stream", "application/json"} {
				if got := r.ask("GET " + path + "\nAccept: " + accept); got != want {
					t.Errorf("%s: %s, want %s", path, got, want)
				}
			}
		}
		const unknown = `404 {"error":{"message":"no such run","type":"invalid_request_error","param":null,"code":"run_not_found"}}`
		f("/v1/runs/nobody/events", unknown)
		f("/v1/runs/nobody/events?cursor=nobody:5", unknown)
		f("/v1/runs/..%2f..%2fetc/events", unknown)
		f("/v1/runs/%00/events", unknown)
		f("/v1/runs/"+strings.Repeat("x", 4000)+"/events", unknown)
		r.who.Owner = "somebody"
		f("/v1/runs/r/events", unknown)
		r.who.Owner = ""
		f("/v1/runs/r/events", unknown)
		r.who.Owner = "me"
		time.Sleep(time.Hour)
		if _, err := r.j.Expire(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		f("/v1/runs/r/events?cursor=2", `410 {"error":{"message":"the run has ended long ago, and its events are not kept any more",`+
			`"type":"invalid_request_error","param":null,"code":"run_expired","terminal_state":"interrupted-by-user"},`+
			`"run_id":"r","status":"expired","terminal_state":"interrupted-by-user"}`)
		if got := r.ask("GET /v1/runs/r"); !strings.HasPrefix(got, `200 {"object":"hermes.run","run_id":"r","session_id":"s","status":"expired","last_event_id":"r:4","terminal_state":"interrupted-by-user","output":""`) {
			t.Error(got)
		}
		r.who = httpapi.Client{All: true, ReadOnly: true}
		f("/admin/v1/runs/r/events", `410 {"type":"urn:hermes-hub:problem:run_expired","title":"Gone","status":410,`+
			`"detail":"the run has ended long ago, and its events are not kept any more","code":"run_expired","terminal_state":"interrupted-by-user"}`)
		r.who = httpapi.Client{Owner: "me"}
		time.Sleep(8 * 24 * time.Hour)
		if _, err := r.j.Expire(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		f("/v1/runs/r/events", unknown)
	})
}

// A run with its terminal row and no closing one: the stream ends two seconds later (J18), whether that row was replayed or is
// live (E05), and at once when the closing row comes; a run that goes on meanwhile is heard of every few seconds (I9).
func TestStreamEnds(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		s := r.observe("GET /v1/runs/r/events")
		s.until("+journal.caught_up")
		began := time.Now()
		for i := range 5 {
			if got := s.any(); got != ":" {
				t.Fatal(got)
			}
			if silence := time.Since(began); silence > time.Duration(i+1)*5*time.Second {
				t.Errorf("heartbeat %d after %v", i, silence)
			}
		}
		r.add(w, runs.RunDone{})
		ended := time.Now()
		if got := s.until("EOF"); got != "2 DONE EOF" && !strings.HasSuffix(got, "DONE EOF") {
			t.Error(got)
		}
		if d := time.Since(ended); d > 2*time.Second {
			t.Errorf("ended after %v", d)
		}
		r.add(w, runs.RunClosed{})
		ended = time.Now()
		if got := r.observe("GET /v1/runs/r/events?cursor=3").until("EOF"); !strings.HasSuffix(got, "DONE EOF") || time.Since(ended) != 0 {
			t.Error(got, time.Since(ended))
		}
	})
}

// Two observers get the same rows, and one that leaves, also in the middle of a replay, takes nothing from the other and
// leaves nothing behind (E03, E10).
func TestObserversComeAndGo(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		for i := range 1500 { // more than some hub replayed at most
			if err := w.Append(runs.Progress{Text: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		r.add(w)
		one, two := r.observe("GET /v1/runs/r/events"), r.observe("GET /v1/runs/r/events")
		left := r.observe("GET /v1/runs/r/events")
		left.until("10")
		if got := r.api.Observers(); got.Runs != 3 {
			t.Errorf("%+v", got)
		}
		left.Close()
		first, second := one.until("+journal.caught_up"), two.until("+journal.caught_up")
		if first != second || strings.Count(first, " ") != 1503 {
			t.Errorf("%d and %d frames", strings.Count(first, " "), strings.Count(second, " "))
		}
		one.Close()
		synctest.Wait()
		r.add(w, runs.RunDone{}, runs.RunClosed{})
		if got := two.until("EOF"); got != "1502 1503 DONE EOF" {
			t.Error(got)
		}
		synctest.Wait()
		if got, journal := r.api.Observers(), r.j.Stats().Subscribers; got != (httpapi.Observers{}) || journal != 0 {
			t.Errorf("left behind: %+v %d", got, journal)
		}
	})
}

// A reader that stops reading is dropped when one write has waited for twenty seconds (E02); a slow one, that takes what it
// is given now and then, gets every row (E04).
func TestSlowReaders(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		for range 400 {
			if err := w.Append(delta(strings.Repeat("x", 1000))); err != nil {
				t.Fatal(err)
			}
		}
		r.add(w, runs.RunDone{}, runs.RunClosed{})
		conn := r.dial()
		if _, err := io.WriteString(conn, "GET /v1/runs/r/events HTTP/1.1\r\nHost: hub\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := r.j.Stats().Subscribers; got != 1 {
			t.Errorf("%d subscribers", got)
		}
		time.Sleep(21 * time.Second)
		synctest.Wait()
		if got := r.j.Stats().Subscribers; got != 0 {
			t.Errorf("%d subscribers after it was silent", got)
		}
		conn.Close()

		slow := r.observe("GET /v1/runs/r/events")
		rows := 0
		for frame := slow.next(); frame != "EOF"; frame = slow.next() {
			if rows++; rows%50 == 0 {
				time.Sleep(15 * time.Second)
			}
		}
		last, _ := r.j.Head(t.Context(), "r")
		if int64(rows) != last.Last+3 { // and retry, caught_up, DONE
			t.Errorf("%d frames of %d rows", rows, last.Last)
		}
	})
}

// More observers than there are places are sent away; nobody else notices (E08).
func TestCrowded(t *testing.T) {
	rigged(t, func(o *httpapi.Options) { o.MaxStreams = 2 }, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		one, two := r.observe("GET /v1/runs/r/events"), r.observe("GET /v1/sessions/s/events")
		for _, path := range []string{"runs/r", "sessions/s"} {
			a := r.open("GET /v1/" + path + "/events")
			body, _ := io.ReadAll(a.Body)
			if a.StatusCode != 503 || a.Header.Get("Retry-After") != "5" || !strings.Contains(string(body), "too_many_streams") {
				t.Errorf("%s: %s %s", path, a.Status, body)
			}
		}
		for _, ordinary := range []string{"GET /v1/runs/r", "GET /v1/runs", "GET /v1/runs/r/events?wait=30&cursor=1\nAccept: application/json"} {
			if got := r.ask(ordinary); !strings.HasPrefix(got, "200") {
				t.Errorf("%s: %s", ordinary, got)
			}
		}
		one.Close()
		synctest.Wait()
		if got := r.observe("GET /v1/runs/r/events").until("+journal"); !strings.HasPrefix(got, "+retry 2000 1 ") {
			t.Error(got)
		}
		two.Close()
	})
}

// Trouble with the store passes: a stream that is open goes on where it was when the store is back, and one that is to be
// opened is told to come back (J30).
func TestStoreAway(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		s := r.observe("GET /v1/runs/r/events")
		s.until("+journal.caught_up")
		r.store.fail(errors.New("dial tcp 10.0.0.1:6379: refused"))
		r.add(w, delta("a"))
		time.Sleep(7 * time.Second)
		a := r.open("GET /v1/runs/r/events")
		body, _ := io.ReadAll(a.Body)
		if a.StatusCode != 503 || a.Header.Get("Retry-After") != "1" || strings.Contains(string(body), "10.0.0.1") {
			t.Errorf("%s %s", a.Status, body)
		}
		r.store.fail(nil)
		r.add(w, delta("b"), runs.RunDone{}, runs.RunClosed{})
		if got := s.until("EOF"); got != "2 +journal.caught_up 3 4 5 DONE EOF" && !strings.HasPrefix(got, "2 ") || !strings.HasSuffix(got, "DONE EOF") {
			t.Error(got)
		}
	})
}

// When the hub stops, observers are told to come back, not all at the same moment, and their streams do not claim to have
// told everything.
func TestHubStops(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		one, two, three := r.observe("GET /v1/runs/r/events"), r.observe("GET /v1/runs/r/events"), r.observe("GET /v1/sessions/s/events")
		for _, s := range []*frames{one, two, three} {
			s.until("+journal.caught_up")
		}
		time.AfterFunc(time.Second, func() { r.stop(errors.New("the hub stops")) })
		if got := pageOf(r.ask("GET /v1/runs/r/events?cursor=1&wait=25" + asPage)); got != "[] 1 r:1 caught_up=true" {
			t.Error(got)
		}
		first, second, third := one.until("EOF"), two.until("EOF"), three.until("EOF")
		if !strings.HasPrefix(first, "+retry ") || strings.Contains(first, "DONE") || first == second || !strings.HasPrefix(third, "+retry ") {
			t.Error(first, second, third)
		}
	})
}

// A run that expires, or is deleted, under its observer (5.3: gap or end, never a hole).
func TestStreamLosesItsRun(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.begin("r", runtime.Order{})
		s := r.observe("GET /v1/runs/r/events")
		s.until("+journal.caught_up")
		if got := r.ask("DELETE /v1/sessions/s"); got != `200 {"session_id":"s","deleted":true,"runs":1}` {
			t.Error(got)
		}
		if got := s.until("EOF"); !strings.HasSuffix(got, "EOF") {
			t.Error(got)
		}
		if got := r.ask("GET /v1/runs/r"); !strings.HasPrefix(got, "404") {
			t.Error(got)
		}
	})
}
