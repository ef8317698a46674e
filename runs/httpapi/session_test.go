package httpapi_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// tour reads a session's stream in short: ids of rows, control frames, a snapshot as its reason and its runs.
func (f *frames) tour(last string) string {
	var all []string
	for {
		frame := f.next()
		data := frame[strings.IndexByte(frame+"{", '{'):]
		switch {
		case strings.HasPrefix(frame, "+session_snapshot"):
			frame = "snapshot(" + gjson.Get(data, "reason").Str
			for _, run := range gjson.Get(data, "runs").Array() {
				frame += " " + run.Get("last_event_id").Str + "=" + run.Get("status").Str
			}
			frame += ")"
		case strings.HasPrefix(frame, "+journal.caught_up"):
			frame = "caught_up"
		case strings.HasPrefix(frame, "+retry"):
			continue
		case frame != "EOF" && frame[0] != '+':
			frame = f.lastID
		}
		if all = append(all, frame); frame == last || frame == "EOF" {
			return strings.Join(all, " ")
		}
	}
}

// A session is told run after run, from a cursor in any of them, and what begins later follows (J22, J23, E06).
func TestSession(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("long", runtime.Order{}), delta("a"), delta("b"), delta("c"), runs.RunDone{}, runs.RunClosed{})
		time.Sleep(time.Second)
		w := r.begin("b", runtime.Order{})
		f := func(header, want string) {
			t.Helper()
			s := r.observe("GET /v1/sessions/s/events" + header)
			defer s.Close()
			if got := s.tour("caught_up"); got != want {
				t.Errorf("%s: %s, want %s", header, got, want)
			}
		}
		const all = "long:1 long:2 long:3 long:4 long:5 long:6 b:1 caught_up"
		f("", all)
		f("\nLast-Event-ID: long:4", "long:5 long:6 b:1 caught_up")
		f("\nLast-Event-ID: long:6", "b:1 caught_up")
		f("?cursor=long:5\nLast-Event-ID: b:1", "long:6 b:1 caught_up") // J13
		f("?cursor=long:0", all)
		f("?cursor=b:1", "caught_up")
		live := r.observe("GET /v1/sessions/s/events?cursor=b:1")
		live.tour("caught_up")
		r.add(w, runs.RunDone{}, runs.RunClosed{})
		if got := live.tour("caught_up"); got != "b:2 b:3 caught_up" {
			t.Error(got)
		}
		// Between two heartbeats a run begins and ends; its seqs are small, the cursor's was large.
		r.add(r.begin("a", runtime.Order{}), delta("x"), runs.RunDone{}, runs.RunClosed{})
		r.begin("z", runtime.Order{})
		if got := strings.ReplaceAll(live.tour("z:1"), "caught_up ", ""); got != "a:1 a:2 a:3 a:4 z:1" {
			t.Error(got)
		}
		live.Close()
		synctest.Wait()
		if got := r.api.Observers().Sessions; got != 0 {
			t.Errorf("%d left", got)
		}
	})
}

// An observer of a session in which nothing has begun yet, and of one whose rows are another's.
func TestSessionBegins(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		s := r.observe("GET /v1/sessions/s/events")
		if got := s.tour("caught_up"); got != "caught_up" {
			t.Error(got)
		}
		if got := s.any(); got != ":" {
			t.Error(got)
		}
		if _, err := r.exec.Start(t.Context(), runtime.Order{RunID: "theirs", SessionID: "s", Owner: "other", Content: runs.Redacted}); err != nil {
			t.Fatal(err)
		}
		r.begin("mine", runtime.Order{})
		if got := s.tour("mine:1"); got != "mine:1" {
			t.Error(got)
		}
	})
}

// What cannot be told row by row is told as a snapshot without an id, and the stream goes on live (J12, J24, J25).
func TestSessionSnapshot(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("a", runtime.Order{}), delta("x"), runs.RunDone{}, runs.RunClosed{})
		w := r.begin("b", runtime.Order{})
		r.add(w, delta("x"))
		f := func(cursor, reason string) {
			t.Helper()
			s := r.observe("GET /v1/sessions/s/events?cursor=" + cursor)
			defer s.Close()
			want := "snapshot(" + reason + " a:4=completed b:2=running) caught_up"
			if got := s.tour("caught_up"); got != want {
				t.Errorf("%s: %s, want %s", cursor, got, want)
			}
		}
		f("5", "cursor_malformed")
		f("../x:1", "cursor_malformed")
		f("b:-1", "cursor_malformed")
		f("nobody:1", "cursor_run_missing")
		f("b:3", "cursor_ahead")
		body := r.open("GET /v1/sessions/s/events?cursor=b:3")
		head := make([]byte, 200)
		n, _ := io.ReadAtLeast(body.Body, head, 100)
		if text := string(head[:n]); strings.Contains(text, "id: ") {
			t.Error(text)
		}
		body.Body.Close()

		live := r.observe("GET /v1/sessions/s/events?cursor=nobody:1")
		live.tour("caught_up")
		r.add(w, delta("y"), runs.RunDone{}, runs.RunClosed{})
		if got := live.tour("caught_up"); got != "b:3 b:4 b:5 caught_up" {
			t.Error(got)
		}
		live.Close()

		many := r.begin("many", runtime.Order{})
		for i := range 4100 {
			if err := many.Append(runs.Progress{Text: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		r.add(many)
		s := r.observe("GET /v1/sessions/s/events?cursor=b:5")
		if got := s.tour("caught_up"); got != "snapshot(replay_limit_rows a:4=completed b:5=completed many:4101=running) caught_up" {
			t.Error(got)
		}
		s.Close()
		s = r.observe("GET /v1/sessions/s/events?cursor=many:4000")
		if got := s.tour("many:4101"); strings.Count(got, " ") != 100 {
			t.Error(got)
		}
		for range 40 {
			if err := many.Append(runs.ToolUpdated{Stdout: strings.Repeat("x", 200<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		r.add(many)
		if got := s.tour("many:4141"); strings.Count(got, " ") != 40 {
			t.Error("a live observer", got)
		}
		s.Close()
	})
}

// More bytes than an observer should have to replay (J25).
func TestSessionSnapshotBytes(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		for range 30 {
			if err := w.Append(runs.ToolUpdated{Stdout: strings.Repeat("x", 200<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		r.add(w)
		s := r.observe("GET /v1/sessions/s/events")
		if got := s.tour("caught_up"); got != "snapshot(replay_limit_bytes r:31=running) caught_up" {
			t.Error(got)
		}
		s.Close()
	})
}

// A session's removal stops what goes on in it, and takes all of it; another key's is left alone, and a run that begins
// anew begins at 1 (J27).
func TestDeleteSession(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("old", runtime.Order{}), runs.RunDone{}, runs.RunClosed{})
		r.begin("live", runtime.Order{})
		if _, err := r.exec.Start(t.Context(), runtime.Order{RunID: "theirs", SessionID: "s", Owner: "other", Content: runs.Redacted}); err != nil {
			t.Fatal(err)
		}
		if got := r.ask("DELETE /v1/sessions/s"); got != `200 {"session_id":"s","deleted":true,"runs":2}` {
			t.Error(got)
		}
		if got := strings.Join(r.exec.controls, ";"); got != "cancel" {
			t.Error(got)
		}
		if got := r.ask("DELETE /v1/sessions/s"); got != `200 {"session_id":"s","deleted":true,"runs":0}` {
			t.Error(got)
		}
		if _, err := r.j.Head(t.Context(), "theirs"); err != nil {
			t.Error(err)
		}
		r.begin("old", runtime.Order{})
		if got := pageOf(r.ask("GET /v1/runs/old/events?cursor=3" + asPage)); got != "[1:] 1 old:1 reset.reason=cursor_ahead caught_up=true" {
			t.Error(got)
		}
		r.who.All = true
		if got := r.ask("DELETE /admin/v1/sessions/s"); got != `200 {"session_id":"s","deleted":true,"runs":2}` {
			t.Error(got)
		}
	})
}
