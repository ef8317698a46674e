package runtime

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime/fakehermes"
)

// C01, C06: a run that is stopped while it thinks, while it uses a tool, or while it waits for an approval has one end, which
// is cancelled whatever the runtime calls it, and keeps what it has said. The server was told to stop.
func TestHermesCancel(t *testing.T) {
	f := func(name string, busy func(*fakehermes.Turn)) {
		t.Helper()
		for _, o := range []fakehermes.Options{{}, {Old: true}} {
			for _, fails := range []bool{false, true} {
				for _, cut := range []int{-1, 1} {
					t.Run(name, func(t *testing.T) {
						bubble(t, o, func(t *fakehermes.Turn) (string, error) {
							t.StopFails = fails
							t.Say("part of it")
							busy(t)
							return "whole", nil
						}, func(t *testing.T, rig *hermesRig) {
							rig.fake.CutAfter(cut)
							p := rig.starts(hello)
							synctest.Wait()
							begun := time.Now()
							if err := p.control(Cancel, "", ""); err != nil {
								t.Fatal(err)
							}
							rows := p.end()
							run := folded(rows)
							if run.Status != runs.Canceled || run.TerminalState != runs.EndInterruptedByUser || run.Output != "part of it" || len(run.Error) != 0 {
								t.Errorf("run is %+v", run)
							}
							if took := time.Since(begun); took > 2*time.Second {
								t.Errorf("it took %s", took)
							}
							if n := len(rig.fake.Calls("POST", "/v1/runs/"+p.x.id+"/stop")); n != 1 {
								t.Errorf("%d stops were sent", n)
							}
							if err := p.control(Cancel, "", ""); !errors.Is(err, ErrNotActive) { // C02
								t.Errorf("a second stop: %v", err)
							}
						})
					})
				}
			}
		}
	}
	f("thinking", func(t *fakehermes.Turn) { t.Think("hm"); t.Wait(nil) })
	f("tool", func(t *fakehermes.Turn) { t.Tool("terminal", "sleep 100"); t.Wait(nil) })
	f("approval", func(t *fakehermes.Turn) { t.Approve("rm -rf x") })
}

// C03: whichever is first, the run has one end, and that is what the runtime says it is.
func TestHermesCancelTooLate(t *testing.T) {
	for _, o := range []fakehermes.Options{{}, {Old: true}} {
		bubble(t, o, func(t *fakehermes.Turn) (string, error) {
			t.Cut()
			return "", errors.New("provider said no")
		}, func(t *testing.T, rig *hermesRig) {
			w, x := begun(t, rig)
			synctest.Wait() // the run has failed, and nobody knows yet
			if err := x.Control(t.Context(), Control{Verb: Cancel}); !errors.Is(err, ErrNotActive) {
				t.Errorf("a stop that is too late: %v", err)
			}
			if run := folded(rig.follows(w, x).end()); run.Status != runs.Failed {
				t.Errorf("run is %+v", run)
			}
		})
	}
}

// C09: what a runtime cannot do is unsupported, by what it says it can.
func TestHermesControls(t *testing.T) {
	f := func(o fakehermes.Options, want ...Verb) {
		t.Helper()
		bubble(t, o, func(t *fakehermes.Turn) (string, error) { t.Wait(nil); return "", nil }, func(t *testing.T, rig *hermesRig) {
			if diff := cmp.Diff([]Verb{Cancel, Approval}, rig.h.Controls()); diff != "" {
				t.Errorf("before it was asked: %s", diff)
			}
			p := rig.starts(hello)
			if diff := cmp.Diff(want, rig.h.Controls()); diff != "" {
				t.Error(diff)
			}
			has := map[Verb]bool{}
			for _, v := range want {
				has[v] = true
			}
			for _, v := range []Verb{Clarify, Continue, Steer, Goal, "dance"} {
				if err := p.control(v, "x", "y"); errors.Is(err, ErrUnsupported) == has[v] {
					t.Errorf("%s: %v", v, err)
				}
			}
			_ = p.control(Cancel, "", "")
			p.end()
		})
	}
	f(fakehermes.Options{Old: true}, Cancel, Approval)
	f(fakehermes.Options{Silent: true}, Cancel, Approval)
	f(fakehermes.Options{}, Cancel, Approval, Steer)
	f(fakehermes.Options{Clarify: "run", Chatty: true}, Cancel, Approval, Clarify, Continue, Steer, Goal)
	f(fakehermes.Options{Clarify: "session"}, Cancel, Approval, Clarify, Steer)
}

// What it can do is asked once a minute, and a server that is gone has not become unable.
func TestHermesLooks(t *testing.T) {
	bubble(t, fakehermes.Options{Key: "k"}, nil, func(t *testing.T, rig *hermesRig) {
		asked := func(want int) {
			t.Helper()
			_ = rig.h.Look(t.Context())
			if n := len(rig.fake.Calls("GET", "/v1/capabilities")); n != want {
				t.Errorf("it was asked %d times, want %d", n, want)
			}
		}
		asked(1)
		asked(1)
		time.Sleep(time.Minute)
		asked(2)
		time.Sleep(time.Minute)
		rig.fake.Down(true)
		wantRefused(t, rig.h.Look(t.Context()), 503, "runtime_unavailable")
		if n := len(rig.h.Controls()); n != 3 {
			t.Errorf("it has %d controls", n)
		}
	})
}

// Steering, messages and goals get to the run as they are; a run that takes none says so by the runtime's own code.
func TestHermesTell(t *testing.T) {
	var steered []string
	bubble(t, fakehermes.Options{Chatty: true}, func(t *fakehermes.Turn) (string, error) {
		t.Wait(later(time.Minute))
		steered = t.Steered()
		t.Wait(later(time.Minute))
		return "", nil
	}, func(t *testing.T, rig *hermesRig) {
		p := rig.starts(hello)
		for _, c := range []Control{
			{Verb: Steer, Text: "shorter"},
			{Verb: Continue, Text: "and then?"},
			{Verb: Continue, Text: "now", Mode: "interrupt"},
			{Verb: Goal, Text: "be done", Mode: "set"},
		} {
			if err := p.x.Control(t.Context(), c); err != nil {
				t.Errorf("%s: %v", c.Verb, err)
			}
		}
		wantRefused(t, p.control(Steer, "", ""), 400, "invalid_steer_input")
		time.Sleep(61 * time.Second)
		if err := p.control(Steer, "", "too late"); err != nil {
			t.Error(err)
		}
		rows := p.end()
		wantRefused(t, p.control(Steer, "", "much too late"), 409, "run_not_accepting_steer")
		if diff := cmp.Diff([]string{"shorter"}, steered); diff != "" {
			t.Error(diff)
		}
		var got []string
		for _, path := range []string{"/v1/runs/" + p.x.id + "/messages", "/api/sessions/s1/goal"} {
			for _, c := range rig.fake.Calls("POST", path) {
				got = append(got, string(c.Body))
			}
		}
		want := []string{`{"message":"and then?","mode":"queue"}`, `{"message":"now","mode":"interrupt"}`, `{"action":"set","text":"be done"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		done := rows[len(rows)-2]
		if late := gjson.GetBytes(done.Payload, "pending_steer.0").Str; late != "too late" {
			t.Errorf("what was not taken into account is lost: %s", done.Payload)
		}
		if n := count(rows, runs.TypeProgress); n != 2 {
			t.Errorf("%d rows tell of the steering", n)
		}
	})
}
