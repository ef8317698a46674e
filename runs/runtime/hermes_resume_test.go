package runtime

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime/fakehermes"
)

// stopHub stops the hub's part in a run, which goes on.
func (p *hermesPlay) stopHub() {
	p.t.Helper()
	synctest.Wait()
	p.stop(ErrStopping)
	if err := <-p.ended; !errors.Is(err, ErrStopping) {
		p.t.Fatalf("Follow: %v, want ErrStopping", err)
	}
	if p.w.Ended() {
		p.t.Fatal("the hub has ended a run that goes on")
	}
	p.rows()
}

// nextHub is another process that goes on with the run.
func (p *hermesPlay) nextHub() (*hermesPlay, error) {
	p.t.Helper()
	w, err := p.journal.Take(p.t.Context(), p.id, runs.Redacted)
	if err != nil {
		p.t.Fatal(err)
	}
	next := *p.hermesRig
	next.h = next.hermes(HermesOptions{BaseURL: "http://hermes.invalid", Client: p.fake.Client()})
	x, err := next.h.Resume(p.t.Context(), folded(p.rows()))
	if err != nil {
		return nil, err
	}
	return next.follows(w, x), nil
}

// J21, W12: the hub is stopped in the middle of a run, and another goes on with it: what was told is not told again, and
// the run is in the end what it would have been.
func TestHermesResume(t *testing.T) {
	gates := []time.Duration{0, time.Second, time.Minute}
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Usage = []int{1, 2}
		t.Say("I look. ")
		t.Tool("web", "x")
		t.Wait(later(10 * time.Second))
		t.ToolDone("web", false)
		t.Say("It is ")
		t.Wait(later(10 * time.Second))
		t.Say("noon.")
		return "It is noon.", nil
	}
	for _, away := range gates {
		for _, at := range []time.Duration{time.Second, 12 * time.Second} {
			for _, late := range []bool{false, true} {
				bubble(t, fakehermes.Options{LateNotice: late}, agent, func(t *testing.T, rig *hermesRig) {
					begun := time.Now()
					p := rig.starts(hello)
					time.Sleep(at)
					p.stopHub()
					time.Sleep(away)
					next, err := p.nextHub()
					if err != nil {
						t.Fatal(err)
					}
					rows := next.end()
					if took, most := time.Since(begun), max(20*time.Second, at+away)+5*time.Second; took > most {
						t.Errorf("stopped at %s for %s: the end was noticed after %s", at, away, took)
					}
					run := folded(rows)
					if run.Output != "It is noon." || run.TerminalState != runs.EndCompleted || string(run.Usage) != `{"input_tokens":1,"output_tokens":2,"total_tokens":3}` {
						t.Errorf("stopped at %s for %s: run %+v", at, away, run)
					}
					if text := said(rows); !strings.HasSuffix(text, "It is noon.") || strings.Count(text, "It is") != 1 || strings.Count(text, "look") != 1 {
						t.Errorf("stopped at %s for %s: the deltas say %q", at, away, text)
					}
					if count(rows, runs.TypeGap) == 0 {
						t.Errorf("nothing says that rows are missing:\n%s", told(rows))
					}
				})
			}
		}
	}
}

// What a hub finds when it comes back: nothing to look for, nobody to ask, a run that is forgotten, one that failed.
func TestHermesResumeFinds(t *testing.T) {
	agent := func(t *fakehermes.Turn) (string, error) {
		t.Say("half")
		t.Wait(later(5 * time.Minute))
		return "", errors.New("provider said no")
	}
	t.Run("no id", func(t *testing.T) {
		bubble(t, fakehermes.Options{}, agent, func(t *testing.T, rig *hermesRig) {
			if _, err := rig.h.Resume(t.Context(), runs.Run{RunID: playID}); !errors.Is(err, ErrGone) {
				t.Errorf("error is %v", err)
			}
		})
	})
	f := func(name string, away func(*hermesRig), code string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			bubble(t, fakehermes.Options{Durable: true}, agent, func(t *testing.T, rig *hermesRig) {
				p := rig.starts(hello)
				p.stopHub()
				away(rig)
				next, err := p.nextHub()
				if err != nil {
					wantRefused(t, err, 503, "runtime_unavailable")
					rig.fake.Down(false)
					if next, err = p.nextHub(); err != nil {
						t.Fatal(err)
					}
				}
				run := folded(next.end())
				if got := gjson.GetBytes(run.Error, "code").Str; got != code || run.Output != "half" || run.Status != runs.Failed {
					t.Errorf("code %s, want %s; run %+v", got, code, run)
				}
			})
		})
	}
	f("it goes on and fails", func(*hermesRig) {}, "runtime_run_failed")
	f("it has failed", func(*hermesRig) { time.Sleep(10 * time.Minute) }, "runtime_run_failed")
	f("the runtime is away", func(rig *hermesRig) { rig.fake.Down(true) }, "runtime_run_failed")
	f("it was interrupted", func(rig *hermesRig) { rig.fake.Restart() }, "runtime_interrupted")
	f("it is forgotten", func(rig *hermesRig) { time.Sleep(2 * time.Hour); rig.fake.Sweep() }, "runtime_forgot_run")
}

// A run that was being cancelled when the hub was stopped is cancelled, even if the runtime has forgotten it since, or calls
// it failed.
func TestHermesResumeCancelling(t *testing.T) {
	for _, forgets := range []bool{true, false} {
		bubble(t, fakehermes.Options{}, func(t *fakehermes.Turn) (string, error) {
			t.StopFails = true
			t.Say("half")
			t.Wait(nil)
			return "", nil
		}, func(t *testing.T, rig *hermesRig) {
			p := rig.starts(hello)
			synctest.Wait()
			_ = p.w.Append(runs.StatusChanged{Status: runs.Cancelling})
			p.stopHub()
			if forgets {
				rig.fake.Restart()
			}
			next, err := p.nextHub()
			if err != nil {
				t.Fatal(err)
			}
			if !forgets {
				if err := next.control(Cancel, "", ""); err != nil {
					t.Fatal(err)
				}
			}
			if run := folded(next.end()); run.Status != runs.Canceled || run.Output != "half" {
				t.Errorf("run is %+v", run)
			}
		})
	}
}
