package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// crash ends a hub as kill -9 does: nothing is said to anybody, and the store keeps what was committed.
func crash(h *hub) { h.halted = true }

// crashed is a store with a run that its hub left behind, and that hub, which is only paused.
func crashed(t *testing.T, rt *stage, o runtime.Order) (*memstore.Store, *hub, string) {
	t.Helper()
	store := new(memstore.Store)
	old := open(t, store, rt, func(o *runtime.Options) { o.Instance = "old" })
	s := old.start(o)
	settle()
	crash(old)
	return store, old, s.RunID
}

func recovers(t *testing.T, h *hub) {
	t.Helper()
	if err := h.Recover(t.Context()); err != nil {
		t.Error(err)
	}
}

// J20, J21, X03: what nobody executes any more is ended by one stored row behind the last one, its executor being shut out
// first; what has ended is left alone.
func TestRecoverInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var writer *runs.Writer
		store, old, run := crashed(t, follows(func(ctx context.Context, w *runs.Writer) error { writer = w; return waits(ctx, w) }), ask("s"))
		done := open(t, store, &stage{}, func(o *runtime.Options) { o.Instance = "other" }).start(ask("s"))
		h := open(t, store, &stage{}, nil)
		recovers(t, h)
		log := "run.started status=running token.delta=partial error=executor_lost run.closed"
		want(t, "log", story(rowsOf(t, store, run)), log) // as soon as Recover returns
		r := h.look(run)
		want(t, "run", []any{r.Status, r.TerminalState, r.Output, r.ActiveControls}, []any{runs.Failed, runs.EndInterruptedByCrash, "partial", "[]"})
		want(t, "the one that had ended", h.end(done.RunID), "run.started status=running token.delta=hi done run.closed")
		recovers(t, h)

		// The old hub was only paused, and goes on: its rows are refused, and it lets the run go.
		_ = writer.Append(runs.TokenDelta{Delta: "late"})
		_ = writer.Append(runs.RunDone{})
		want(t, "log afterwards", h.end(run), log)
		want(t, "runs of the old hub", old.Active(), 0)
		want(t, "runs of the new one", h.Active(), 0)
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// What goes on without the hub is gone on with, once its runtime can tell; what waits for an answer still does.
func TestRecoverResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			return &act{name: "up1", follow: func(ctx context.Context, w *runs.Writer) error {
				_ = w.Append(runs.ApprovalRequested{ApprovalID: "a"})
				return waits(ctx, w)
			}}, nil
		}}
		o := ask("s")
		o.Content = runs.Metadata
		store, _, run := crashed(t, rt, o)
		var asked []time.Time
		release := make(chan struct{})
		h := open(t, store, &stage{resume: func(_ context.Context, r runs.Run) (runtime.Execution, error) {
			want(t, "resumed", []any{r.RunID, r.UpstreamRunID, r.Status, r.Content}, []any{run, "up1", runs.AwaitingApproval, runs.Metadata})
			if asked = append(asked, time.Now()); len(asked) < 4 {
				return nil, errors.New("unreachable")
			}
			return &act{name: "up1", follow: func(ctx context.Context, w *runs.Writer) error { <-release; return saysHi(ctx, w) }}, nil
		}}, nil)
		recovers(t, h)
		recovers(t, h) // which leaves alone what goes on here
		want(t, "tries", len(asked), 1)
		want(t, "run", h.look(run).Status, runs.AwaitingApproval)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want(t, "pauses", []time.Duration{asked[1].Sub(asked[0]), asked[2].Sub(asked[1]), asked[3].Sub(asked[2])}, []time.Duration{1e9, 2e9, 4e9})
		want(t, "run", h.look(run).Status, runs.AwaitingApproval)
		close(release)
		want(t, "log", h.end(run), "run.started status=running approval.requested status=awaiting_approval done run.closed")
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// A run that was being cancelled when its hub went is cancelled by the next one, whether its runtime can be reached or not.
func TestRecoverCancelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := func(what string, resume func(context.Context, runs.Run) (runtime.Execution, error), wanted string) {
			t.Helper()
			store := new(memstore.Store)
			old := open(t, store, follows(waits), func(o *runtime.Options) { o.Instance, o.CancelGrace = "old", 1000*time.Hour })
			run := old.start(ask("s")).RunID
			settle()
			old.control(run, stopIt)
			crash(old)
			h := open(t, store, &stage{resume: resume}, nil)
			recovers(t, h)
			time.Sleep(time.Minute)
			want(t, what, h.end(run), "run.started status=running token.delta=partial status=cancelling "+wanted+" run.closed")
			if err := h.stop(); err != nil {
				t.Error(err)
			}
		}
		f("goes on", func(context.Context, runs.Run) (runtime.Execution, error) { return polite(), nil },
			"status=cancelling reasoning.delta=hm token.delta=partial cancelled")
		f("is gone", nil, "cancelled")
		f("cannot be reached", func(context.Context, runs.Run) (runtime.Execution, error) { return nil, errors.New("no") }, "cancelled")
	})
}

// A runtime that is not configured any more resumes nothing; one that panics resumes nothing.
func TestRecoverWithout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, _, run := crashed(t, follows(waits), ask("s"))
		h := open(t, store, &stage{}, func(o *runtime.Options) { o.Runtimes = nil })
		recovers(t, h)
		want(t, "unconfigured", h.end(run), "run.started status=running token.delta=partial error=executor_lost run.closed")
		if err := h.stop(); err != nil {
			t.Error(err)
		}
		store, _, run = crashed(t, follows(waits), ask("s"))
		h = open(t, store, &stage{resume: func(context.Context, runs.Run) (runtime.Execution, error) { panic("oh") }}, nil)
		recovers(t, h)
		want(t, "panics", h.end(run), "run.started status=running token.delta=partial error=runtime_panicked run.closed")
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// In a store that hubs share, each leaves the others' runs alone while these are alive, and takes them over when they are not.
func TestRecoverShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := func(name string) func(*runtime.Options) {
			return func(o *runtime.Options) { o.Instance, o.Shared = name, true }
		}
		store := new(memstore.Store)
		alive := open(t, store, follows(waits), shared("alive"))
		dead := open(t, store, follows(waits), shared("dead"))
		a, d := alive.start(ask("s")).RunID, dead.start(ask("s")).RunID
		settle()
		h := open(t, store, &stage{}, shared("new"))
		recovers(t, h)
		time.Sleep(10 * time.Minute)
		want(t, "alive", []any{h.look(a).Status, h.look(d).Status}, []any{runs.Running, runs.Running})
		if err := dead.stop(); err != nil { // its run goes on elsewhere, it says
			t.Error(err)
		}
		want(t, "status", h.look(d).Status, runs.Running)
		time.Sleep(2 * time.Minute)
		want(t, "alive", h.look(a).Status, runs.Running)
		want(t, "dead", h.end(d), "run.started status=running token.delta=partial error=executor_lost run.closed")

		again := open(t, store, &stage{}, shared("alive")) // the same name after a crash
		recovers(t, again)
		want(t, "its own", h.end(a), "run.started status=running token.delta=partial error=executor_lost run.closed")
		for _, h := range []*hub{alive, h, again} {
			if err := h.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// When the hub stops, a run that cannot go on without it is ended as interrupted, one that can is left to the next hub, and
// nobody waits for long for one that does not listen.
func TestStop(t *testing.T) {
	f := func(what string, follow func(context.Context, *runs.Writer) error, wanted string, wantErr bool) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			h := open(t, nil, follows(follow), nil)
			s := h.start(ask("s"))
			settle()
			began := time.Now()
			err := h.stop()
			want(t, what+" error", err != nil, wantErr)
			want(t, what+" in time", time.Since(began) <= 5*time.Second, true)
			want(t, what, story(rowsOf(t, h.store, s.RunID)), "run.started status=running"+wanted)
			time.Sleep(2 * time.Hour) // until those that do not listen have returned
		})
	}
	f("goes on", waits, " token.delta=partial", false)
	f("cannot", func(ctx context.Context, _ *runs.Writer) error { <-ctx.Done(); return runtime.ErrGone }, " error=hub_stopped run.closed", false)
	f("fails", func(ctx context.Context, _ *runs.Writer) error { <-ctx.Done(); return ctx.Err() }, " error=hub_stopped run.closed", false)
	f("ends", func(ctx context.Context, w *runs.Writer) error { <-ctx.Done(); return saysHi(ctx, w) }, " token.delta=hi done run.closed", false)
	f("does not listen", func(context.Context, *runs.Writer) error { time.Sleep(time.Hour); return nil }, "", true)
}

// A run that is deleted, or taken over, ends what executes it.
func TestLost(t *testing.T) {
	var cause error
	rt := follows(func(ctx context.Context, w *runs.Writer) error { err := waits(ctx, w); cause = err; return err })
	play(t, rt, func(t *testing.T, h *hub) {
		h.start(ask("s"))
		settle()
		if n, err := h.j.DeleteSession(t.Context(), "me", "s"); n != 1 || err != nil {
			t.Error(n, err)
		}
		time.Sleep(16 * time.Second) // the next sign of life
		settle()
		want(t, "told", cause != nil, true)
		want(t, "active", h.Active(), 0)
	})
}

// Runs that others in this process write are alive as long as they are held, however silent; strays are not.
func TestSweep(t *testing.T) {
	play(t, &stage{}, func(t *testing.T, h *hub) {
		begin := func(run string) *runs.Writer {
			w, _, err := h.j.Create(t.Context(), run, runs.Origin{}, runs.Redacted, runs.RunStarted{Status: runs.Running, Runtime: "proxy"})
			if err != nil {
				t.Fatal(err)
			}
			return w
		}
		held := begin("held")
		begin("stray")
		for range 12 {
			time.Sleep(15 * time.Second)
			if err := h.j.Hold(t.Context(), held); err != nil {
				t.Error(err)
			}
		}
		want(t, "stray", h.end("stray"), "run.started error=executor_lost run.closed")
		want(t, "held", h.end("held"), "run.started")
	})
}

// An outside runtime has a token, and hours to be silent in; its run can be cancelled, which shuts it out.
func TestExternal(t *testing.T) {
	play(t, &stage{}, func(t *testing.T, h *hub) {
		o := ask("s")
		o.Key = "k"
		s, token, err := h.StartExternal(t.Context(), o)
		if err != nil || len(token) < 26 || s.Status != runs.Running || s.Runtime != runtime.External {
			t.Fatal(s, token, err)
		}
		if again, token, err := h.StartExternal(t.Context(), o); !again.Replayed || again.RunID != s.RunID || token != "" || err != nil {
			t.Error(again, token, err)
		}
		r := h.look(s.RunID)
		want(t, "run", []any{len(r.WriterHash), r.Status, r.ActiveControls}, []any{64, runs.Running, "[cancel]"})
		post := func(p runs.Payload) error {
			_, _, err := h.j.Post(t.Context(), runs.Post{RunID: s.RunID, Fence: 1, Expect: runs.AnySeq, Events: []runs.Posted{{Payload: p}}})
			return err
		}
		time.Sleep(5 * time.Hour)
		if err := post(runs.TokenDelta{Delta: "slow"}); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Hour)
		want(t, "log", h.end(s.RunID), "run.started token.delta=slow")
		if _, err := h.Control(t.Context(), s.RunID, runtime.Control{Verb: runtime.Steer}); !errors.Is(err, runtime.ErrUnsupported) {
			t.Error(err)
		}
		want(t, "status", h.control(s.RunID, stopIt).Status, runs.Canceled)
		want(t, "status", h.control(s.RunID, stopIt).Status, runs.Canceled)
		if err := post(runs.RunDone{}); err == nil {
			t.Error("it is not shut out")
		}
		want(t, "log", h.end(s.RunID), "run.started token.delta=slow cancelled run.closed")

		silent, _, err := h.StartExternal(t.Context(), ask("s"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Hour)
		want(t, "silent", h.end(silent.RunID), "run.started error=executor_lost run.closed")
	})
}
