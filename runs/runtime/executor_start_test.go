package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

func ask(session string) runtime.Order {
	return runtime.Order{SessionID: session, Owner: "me", Body: json.RawMessage(`{"input":"x"}`), Surface: runtime.RunsAPI}
}

// A run is stored before its runtime hears of it; then it is followed to its end, sealed, and not live any more. The session
// maps to it until then (J31).
func TestStartAndEnd(t *testing.T) {
	rt := &stage{}
	play(t, rt, func(t *testing.T, h *hub) {
		active := func() int {
			heads, err := h.j.List(t.Context(), runs.Filter{Owner: "me", SessionID: "s", Active: true})
			if err != nil {
				t.Fatal(err)
			}
			return len(heads)
		}
		release := make(chan struct{})
		rt.start = func(_ context.Context, run string, _ runtime.Order) (runtime.Execution, error) {
			want(t, "stored before the runtime is asked", story(rowsOf(t, h.store, run)), "run.started")
			want(t, "status", h.look(run).Status, runs.Queued)
			return &act{name: "up1", follow: func(ctx context.Context, w *runs.Writer) error { <-release; return saysHi(ctx, w) }}, nil
		}
		o := ask("s")
		o.Dialect, o.Model, o.Started.Workspace = runs.WebUI, "m", "/home/me"
		s := h.start(o)
		want(t, "started", s, runtime.Started{RunID: s.RunID, SessionID: "s", Status: runs.Running, Runtime: "stage"})
		settle()
		run := h.look(s.RunID)
		want(t, "live", []any{h.Active(), active(), run.Status, run.UpstreamRunID, run.Words, run.ActiveControls, run.Model}, []any{1, 1, "running", "up1", runs.WebUI, "[cancel]", "m"})
		close(release)
		want(t, "log", h.end(s.RunID), "run.started status=running token.delta=hi done run.closed")
		want(t, "over", []any{h.Active(), active(), h.look(s.RunID).Status}, []any{0, 0, runs.Completed})
	})
}

// Whatever a runtime does, its run has one end, is sealed, and the process goes on.
func TestStartFailures(t *testing.T) {
	f := func(what string, rt *stage, wantErr, wantLog string) {
		t.Helper()
		play(t, rt, func(t *testing.T, h *hub) {
			o := ask("s")
			o.RunID = "r"
			_, err := h.Start(t.Context(), o)
			got := ""
			if err != nil {
				got = err.Error()
			}
			want(t, what+" says", got, wantErr)
			want(t, what+" log", h.end("r"), wantLog)
			want(t, what+" active", h.Active(), 0)
		})
	}
	starts := func(err error) *stage {
		return &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) { return nil, err }}
	}
	f("a refusal", starts(&runtime.Refused{Status: 429, Code: "busy", Message: "no"}), "the runtime refused: 429 busy: no", "run.started error=busy run.closed")
	f("an error", starts(errors.New("host unreachable")), "host unreachable", "run.started error=runtime_failed run.closed")
	f("a panic at once", &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) { panic("oh") }}, "the runtime panicked: oh", "run.started error=runtime_panicked run.closed")
	f("a panic later", follows(func(context.Context, *runs.Writer) error { panic("oh") }), "", "run.started status=running error=runtime_panicked run.closed")
	f("no end", follows(func(context.Context, *runs.Writer) error { return nil }), "", "run.started status=running error=no_end run.closed")
	f("an error later", follows(func(context.Context, *runs.Writer) error { return errors.New("secret host") }), "", "run.started status=running error=runtime_failed run.closed")
	f("an end and an error", follows(func(ctx context.Context, w *runs.Writer) error {
		return errors.Join(saysHi(ctx, w), errors.New("late"))
	}), "", "run.started status=running token.delta=hi done run.closed")
	f("everything twice", follows(func(ctx context.Context, w *runs.Writer) error {
		return errors.Join(saysHi(ctx, w), w.Append(runs.RunClosed{}))
	}), "", "run.started status=running token.delta=hi done run.closed")
	f("gone", follows(func(context.Context, *runs.Writer) error { return runtime.ErrGone }), "", "run.started status=running error=executor_lost run.closed")
}

func TestStartRefuses(t *testing.T) {
	play(t, &stage{}, func(t *testing.T, h *hub) {
		o := ask("s")
		o.Runtime = "other"
		if _, err := h.Start(t.Context(), o); !errors.Is(err, runtime.ErrNoRuntime) {
			t.Error(err)
		}
		o = ask("s")
		o.Content = runs.NoStore
		_, err := h.Start(t.Context(), o)
		if r, ok := errors.AsType[*runtime.Refused](err); !ok || r.Status != http.StatusBadRequest {
			t.Error(err)
		}
		if err := h.stop(); err != nil {
			t.Error(err)
		}
		if _, err := h.Start(t.Context(), ask("s")); !errors.Is(err, runtime.ErrStopping) {
			t.Error(err)
		}
	})
}

// A client that goes away while the runtime is asked has begun a run all the same.
func TestStartOutlivesClient(t *testing.T) {
	rt := &stage{}
	play(t, rt, func(t *testing.T, h *hub) {
		ctx, leave := context.WithCancel(t.Context())
		rt.start = func(ctx context.Context, _ string, _ runtime.Order) (runtime.Execution, error) {
			leave()
			time.Sleep(10 * time.Millisecond)
			return &act{follow: saysHi}, ctx.Err()
		}
		o := ask("s")
		o.RunID = "r"
		if _, err := h.Start(ctx, o); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		want(t, "log", h.end("r"), "run.started status=running token.delta=hi done run.closed")
	})
}

// So has one that was gone before anybody was asked.
func TestStartForNobody(t *testing.T) {
	play(t, &stage{}, func(t *testing.T, h *hub) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		o := ask("")
		o.RunID = "r"
		_, _ = h.Start(ctx, o) // who is gone hears nothing
		want(t, "log", h.end("r"), "run.started status=running token.delta=hi done run.closed")
	})
}

// A key stands for one order of its owner: it begins one run, on whichever hub and however many come at once.
func TestIdempotency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, begun := new(memstore.Store), atomic.Int32{}
		rt := &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			begun.Add(1)
			return &act{follow: saysHi}, nil
		}}
		one := open(t, store, rt, nil)
		two := open(t, store, rt, func(o *runtime.Options) { o.Instance = "there" })
		o := ask("s")
		o.Key = "k"
		var mu sync.Mutex
		var wg sync.WaitGroup
		ids, replayed := map[string]bool{}, 0
		for i := range 20 {
			h := []*hub{one, two}[i%2]
			wg.Go(func() {
				s, err := h.Start(t.Context(), o)
				mu.Lock()
				defer mu.Unlock()
				ids[s.RunID] = true
				if s.Replayed {
					replayed++
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want(t, "runs, replays, runtime asked", []int{len(ids), replayed, int(begun.Load())}, []int{1, 19, 1})

		settle()
		again := o
		again.Body = json.RawMessage(`{ "input": "x" }`)
		s := two.start(again)
		want(t, "later", []any{s.Replayed, s.Status, s.SessionID, s.Runtime, ids[s.RunID]}, []any{true, runs.Completed, "s", "stage", true})
		again.Body = json.RawMessage(`{"input":"y"}`)
		if _, err := one.Start(t.Context(), again); !errors.Is(err, runtime.ErrKeyConflict) {
			t.Error(err)
		}
		for _, change := range []func(*runtime.Order){
			func(o *runtime.Order) { o.Owner = "you" },
			func(o *runtime.Order) { o.Surface = runtime.ResponsesAPI },
			func(o *runtime.Order) { o.Key = "l" },
			func(o *runtime.Order) { o.Key = "" },
		} {
			other := o
			change(&other)
			if s := one.start(other); s.Replayed || ids[s.RunID] {
				t.Errorf("%+v is the same run", other)
			}
		}
		for _, h := range []*hub{one, two} {
			if err := h.stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

// What the runtime would not take may be tried again with the same key; what it took may not.
func TestIdempotencyAfterRefusal(t *testing.T) {
	rt := &stage{}
	play(t, rt, func(t *testing.T, h *hub) {
		o := ask("s")
		o.Key = "k"
		rt.start = func(context.Context, string, runtime.Order) (runtime.Execution, error) {
			return nil, &runtime.Refused{Status: 429, Code: "busy"}
		}
		for range 3 {
			if _, err := h.Start(t.Context(), o); err == nil {
				t.Error("it was taken")
			}
		}
		rt.start = nil
		if s := h.start(o); s.Replayed || s.Status != runs.Running {
			t.Errorf("%+v", s)
		}
		settle()
		if s := h.start(o); !s.Replayed || s.Status != runs.Completed {
			t.Errorf("%+v", s)
		}
	})
}
