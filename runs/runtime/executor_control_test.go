package runtime_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

var stopIt = runtime.Control{Verb: runtime.Cancel}

// polite is an execution that ends when it is asked to, keeping what there is.
func polite() *act {
	asked := make(chan struct{})
	return &act{
		follow: func(ctx context.Context, w *runs.Writer) error {
			_ = w.Append(runs.ReasoningDelta{Delta: "hm"})
			_ = w.Append(runs.TokenDelta{Delta: "partial"})
			select {
			case <-asked:
				return w.Append(runs.RunCancelled{})
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		},
		control: func(context.Context, runtime.Control) error { close(asked); return nil },
	}
}

func always(a func() *act) *stage {
	return &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) { return a(), nil }}
}

// C01, C06: a run that is cancelled, be it while the model thinks, has one terminal row, which is no error, and what it said
// is kept. C02: cancelling again changes nothing.
func TestCancel(t *testing.T) {
	told := 0
	counting := func() *act {
		a := polite()
		end := a.control
		a.control = func(ctx context.Context, c runtime.Control) error {
			told++
			time.Sleep(time.Second)
			return end(ctx, c)
		}
		return a
	}
	play(t, always(counting), func(t *testing.T, h *hub) {
		s := h.start(ask("s"))
		settle()
		want(t, "at once", h.control(s.RunID, stopIt).Status == runs.Running, false)
		h.control(s.RunID, stopIt)
		time.Sleep(2 * time.Second)
		log := "run.started status=running reasoning.delta=hm token.delta=partial status=cancelling cancelled run.closed"
		want(t, "log", h.end(s.RunID), log)
		run := h.control(s.RunID, stopIt)
		want(t, "run", []any{run.Status, run.TerminalState, run.Output, string(run.Error)}, []any{runs.Canceled, runs.EndInterruptedByUser, "partial", ""})
		want(t, "log after the third", h.end(s.RunID), log)
		want(t, "runtime told", told, 1)
	})
}

// C11: an execution that hears nothing, here of a half-open connection, is ended without it after the grace; C03: what it
// still says then is too late.
func TestCancelDeaf(t *testing.T) {
	late := make(chan error, 1)
	deaf := func(ctx context.Context, w *runs.Writer) error {
		_ = w.Append(runs.TokenDelta{Delta: "partial"})
		<-ctx.Done()
		late <- w.Append(runs.RunDone{Output: "whole"})
		return errors.New("connection reset")
	}
	f := func(what string, control func(context.Context, runtime.Control) error) {
		t.Helper()
		play(t, always(func() *act { return &act{follow: deaf, control: control} }), func(t *testing.T, h *hub) {
			s := h.start(ask("s"))
			began := time.Now()
			want(t, what, h.control(s.RunID, stopIt).Status, runs.Cancelling)
			want(t, what+" answered after", time.Since(began) < 10*time.Second, true)
			time.Sleep(11 * time.Second)
			want(t, what, h.end(s.RunID), "run.started status=running token.delta=partial status=cancelling cancelled run.closed")
			want(t, what+" late", <-late != nil, true)
			want(t, what, []any{h.Active(), h.look(s.RunID).Output}, []any{0, "partial"})
		})
	}
	f("takes it and does nothing", nil)
	f("fails", func(context.Context, runtime.Control) error { return errors.New("no") })
	f("hangs", func(ctx context.Context, _ runtime.Control) error { <-ctx.Done(); return ctx.Err() })
	f("panics", func(context.Context, runtime.Control) error { panic("oh") })
}

// A run that its runtime has not even taken can be cancelled.
func TestCancelWhileStarting(t *testing.T) {
	rt := &stage{start: func(ctx context.Context, _ string, _ runtime.Order) (runtime.Execution, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	play(t, rt, func(t *testing.T, h *hub) {
		o := ask("s")
		o.RunID = "r"
		answered := make(chan error, 1)
		go func() { _, err := h.Start(t.Context(), o); answered <- err }()
		settle()
		h.control("r", stopIt)
		want(t, "told", <-answered, nil)
		want(t, "log", h.end("r"), "run.started status=cancelling cancelled run.closed")
	})
}

// One that its runtime takes when it is being cancelled already does not look as if it went on.
func TestCancelBeforeTaken(t *testing.T) {
	play(t, nil, func(t *testing.T, h *hub) {
		release := make(chan struct{})
		h.rt.start = func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			<-release
			return polite(), nil
		}
		o := ask("s")
		o.RunID = "r"
		go func() { _, _ = h.Start(t.Context(), o) }()
		settle()
		h.control("r", stopIt)
		close(release)
		want(t, "log", h.end("r"), "run.started status=cancelling status=cancelling reasoning.delta=hm token.delta=partial cancelled run.closed")
	})
}

// C03: whoever is first, a cancellation or the end, the run has one terminal row.
func TestCancelRaces(t *testing.T) {
	racing := func(ctx context.Context, w *runs.Writer) error {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		return w.Append(runs.RunDone{})
	}
	play(t, follows(racing), func(t *testing.T, h *hub) {
		for range 50 {
			s := h.start(ask("s"))
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					time.Sleep(time.Second)
					if _, err := h.Control(t.Context(), s.RunID, stopIt); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			settle()
			time.Sleep(20 * time.Second)
			ends := 0
			for _, e := range rowsOf(t, h.store, s.RunID) {
				if e.Terminal {
					ends++
				}
			}
			want(t, "ends", ends, 1)
		}
	})
}

// C05: a successor waits for a run that is being cancelled, and is refused when that takes too long. C04: what the old run
// still does then does not touch it.
func TestSuccessor(t *testing.T) {
	rt := always(polite)
	play(t, rt, func(t *testing.T, h *hub) {
		old := h.start(ask("s"))
		settle()
		h.control(old.RunID, stopIt)
		h.start(ask("s"))
		want(t, "old", h.look(old.RunID).Status, runs.Canceled)

		hang := make(chan struct{})
		rt.start = func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			return &act{follow: func(_ context.Context, w *runs.Writer) error { <-hang; return w.Append(runs.RunDone{Output: "late"}) }}, nil
		}
		stuck := h.start(ask("t"))
		settle()
		h.control(stuck.RunID, stopIt)
		time.Sleep(time.Second)
		began := time.Now()
		rt.start = nil
		next := h.start(ask("t")) // its end comes by itself after the grace
		want(t, "waited", time.Since(began), 9*time.Second)
		close(hang)
		want(t, "next", h.end(next.RunID), "run.started status=running token.delta=hi done run.closed")
		want(t, "stuck", h.end(stuck.RunID), "run.started status=running status=cancelling cancelled run.closed")
	})
}

// C05, across hubs: the run is being cancelled by another one, which is slower than this one's patience.
func TestSuccessorElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(memstore.Store)
		slow := open(t, store, follows(waits), func(o *runtime.Options) { o.Instance, o.CancelGrace = "there", 30*time.Second })
		h := open(t, store, &stage{}, nil)
		s := slow.start(ask("s"))
		settle()
		if _, err := h.Control(t.Context(), s.RunID, stopIt); !errors.Is(err, runtime.ErrElsewhere) {
			t.Error(err)
		}
		slow.control(s.RunID, stopIt)
		_, err := h.Start(t.Context(), ask("s"))
		if r, ok := errors.AsType[*runtime.Refused](err); !ok || r.Status != 409 || r.Code != "run_cancelling" || r.RetryAfter == 0 {
			t.Error(err)
		}
		h.start(ask("another"))
		for _, h := range []*hub{slow, h} {
			if err := h.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// asks is an execution that asks for what ids names, and tells the answers that it gets.
func asks(ids ...runs.Payload) (*stage, *atomic.Int32) {
	taken := new(atomic.Int32)
	return &stage{
		verbs: []runtime.Verb{runtime.Approval, runtime.Clarify},
		start: func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			answers := make(chan runtime.Control, 10)
			return &act{
				follow: func(ctx context.Context, w *runs.Writer) error {
					for _, id := range ids {
						_ = w.Append(id)
					}
					for {
						select {
						case c := <-answers:
							if c.Verb == runtime.Approval {
								_ = w.Append(runs.ApprovalResolved{ApprovalID: c.ID, Choice: c.Text})
							} else {
								_ = w.Append(runs.ClarifyResolved{ClarifyID: c.ID, Response: c.Text})
							}
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
				},
				control: func(_ context.Context, c runtime.Control) error {
					taken.Add(1)
					time.Sleep(time.Second)
					answers <- c
					return nil
				},
			}, nil
		},
	}, taken
}

// C07: an id that is not pending now is nobody's, never the oldest's. C08: of many answers to one id one is taken. C10:
// question and answer are rows.
func TestAnswers(t *testing.T) {
	rt, taken := asks(runs.ApprovalRequested{ApprovalID: "a"}, runs.ApprovalRequested{ApprovalID: "b"}, runs.ClarifyRequested{ClarifyID: "q", Question: "?"}, runs.ClarifyRequested{ClarifyID: "z"})
	play(t, rt, func(t *testing.T, h *hub) {
		s := h.start(ask("s"))
		settle()
		f := func(what string, verb runtime.Verb, id string, wanted error) {
			t.Helper()
			if _, err := h.Control(t.Context(), s.RunID, runtime.Control{Verb: verb, ID: id, Text: "once"}); !errors.Is(err, wanted) {
				t.Errorf("%s: %v, want %v", what, err, wanted)
			}
			settle()
		}
		f("unknown", runtime.Approval, "x", runtime.ErrNotActive)
		f("another's", runtime.Approval, "q", runtime.ErrNotActive)
		f("one of two", runtime.Approval, "", runtime.ErrNotActive)
		want(t, "pending", h.look(s.RunID).PendingApprovalID, "a")

		var wg sync.WaitGroup
		var won, lost atomic.Int32
		for range 20 {
			wg.Go(func() {
				_, err := h.Control(t.Context(), s.RunID, runtime.Control{Verb: runtime.Approval, ID: "b", Text: "once"})
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, runtime.ErrNotActive):
					lost.Add(1)
				}
			})
		}
		wg.Wait()
		settle()
		want(t, "answers", []int32{won.Load(), lost.Load(), taken.Load()}, []int32{1, 19, 1})
		f("answered", runtime.Approval, "b", runtime.ErrNotActive)
		f("the only one", runtime.Approval, "", nil)
		f("none", runtime.Approval, "", runtime.ErrNotActive)
		f("the question", runtime.Clarify, "q", nil)
		f("the question again", runtime.Clarify, "q", runtime.ErrNotActive)
		f("what it has not", runtime.Steer, "", runtime.ErrUnsupported) // C09
		want(t, "log", h.end(s.RunID), "run.started status=running approval.requested approval.requested clarify.requested clarify.requested "+
			"approval.resolved=once approval.resolved=once clarify.resolved")
		h.control(s.RunID, stopIt)
		f("of a run that is being cancelled", runtime.Clarify, "z", runtime.ErrNotActive)
		time.Sleep(time.Minute)
		f("of a run that has ended", runtime.Approval, "a", runtime.ErrNotActive)
		if _, err := h.Control(t.Context(), "nobody", stopIt); !errors.Is(err, runs.ErrUnknownRun) {
			t.Error(err)
		}
	})
}

// An answer that the runtime did not take may be given again.
func TestAnswerAgain(t *testing.T) {
	rt, _ := asks(runs.ApprovalRequested{ApprovalID: "a"})
	start, fails := rt.start, true
	rt.start = func(ctx context.Context, run string, o runtime.Order) (runtime.Execution, error) {
		x, err := start(ctx, run, o)
		a := x.(*act)
		takes := a.control
		a.control = func(ctx context.Context, c runtime.Control) error {
			if fails {
				fails = false
				return &runtime.Refused{Status: 502, Code: "down"}
			}
			return takes(ctx, c)
		}
		return a, err
	}
	play(t, rt, func(t *testing.T, h *hub) {
		s := h.start(ask("s"))
		settle()
		yes := runtime.Control{Verb: runtime.Approval, ID: "a", Text: "once"}
		if _, err := h.Control(t.Context(), s.RunID, yes); err == nil {
			t.Error("taken")
		}
		h.control(s.RunID, yes)
		want(t, "log", h.end(s.RunID), "run.started status=running approval.requested approval.resolved=once")
	})
}
