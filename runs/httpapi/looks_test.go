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

// A run's state is asked for again and again, and only what is new is read for it; a run that begins anew under its name is
// not taken for the one before.
func TestLooks(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		w := r.begin("r", runtime.Order{})
		for range 500 {
			if err := w.Append(delta("x")); err != nil {
				t.Fatal(err)
			}
		}
		r.add(w)
		f := func(output string, most int) {
			t.Helper()
			r.store.took()
			got := r.ask("GET /v1/runs/r")
			if out := gjson.Get(got[4:], "output").Str; out != output {
				t.Errorf("%d bytes, want %d", len(out), len(output))
			}
			if n := r.store.took(); n > most {
				t.Errorf("%d rows were read", n)
			}
		}
		head, _ := r.j.Head(t.Context(), "r")
		xs := strings.Repeat("x", 500)
		f(xs, int(head.Last))
		f(xs, 0)
		r.add(w, delta("y"))
		f(xs+"y", 1)
		r.add(w, runs.RunDone{}, runs.RunClosed{})
		f(xs+"y", 2)
		f(xs+"y", 0)
		time.Sleep(time.Second)
		if got := r.ask("DELETE /v1/sessions/s"); !strings.HasPrefix(got, "200") {
			t.Fatal(got)
		}
		w = r.begin("r", runtime.Order{})
		r.add(w, delta("new"))
		f("new", 2)
	})
}

// Many runs, each read once; what is forgotten is read again.
func TestLooksForget(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		for i := range 300 {
			r.add(r.begin(fmt.Sprint("r", i), runtime.Order{}), delta(fmt.Sprint(i)), runs.RunDone{})
		}
		for range 2 {
			if got := r.ask("GET /v1/runs?limit=500"); len(gjson.Get(got[4:], "data.#.output").Array()) != 300 {
				t.Fatal(got)
			}
		}
		r.store.took()
		if got := r.ask("GET /v1/runs/r7"); gjson.Get(got[4:], "output").Str != "7" {
			t.Error(got)
		}
	})
}

// A row that the store has lost is told as a gap to whoever observes the run, and as a snapshot to whoever observes the
// session (J24): never a silent hole.
func TestLostRow(t *testing.T) {
	rigged(t, nil, func(t *testing.T, r *rig) {
		r.add(r.begin("r", runtime.Order{}), delta("a"), delta("b"), delta("c"))
		r.store.mu.Lock()
		r.store.hidden = 3
		r.store.mu.Unlock()
		s := r.observe("GET /v1/runs/r/events")
		if got := s.until("4"); got != `+retry 2000 1 2 +journal.gap{"run_id":"r","from":3,"to":3,"reason":"lost"} 4` {
			t.Error(got)
		}
		s.Close()
		if got := pageOf(r.ask("GET /v1/runs/r/events" + asPage)); got != "[1: 2:message.delta 4:message.delta] 4 r:4 gap.reason=lost caught_up=true" {
			t.Error(got)
		}
		s = r.observe("GET /v1/sessions/s/events")
		if got := s.tour("caught_up"); got != "r:1 r:2 snapshot(replay_gap r:4=running) caught_up" {
			t.Error(got)
		}
		s.Close()
	})
}
