package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/runtime"
)

// stage is a runtime that does as the test says. Without start, its runs say "hi" and are done.
type stage struct {
	verbs  []runtime.Verb
	start  func(ctx context.Context, runID string, o runtime.Order) (runtime.Execution, error)
	resume func(ctx context.Context, r runs.Run) (runtime.Execution, error)
}

func (s *stage) Controls() []runtime.Verb { return append([]runtime.Verb{runtime.Cancel}, s.verbs...) }

func (s *stage) Start(ctx context.Context, runID string, o runtime.Order) (runtime.Execution, error) {
	if s.start == nil {
		return &act{follow: saysHi}, nil
	}
	return s.start(ctx, runID, o)
}

func (s *stage) Resume(ctx context.Context, r runs.Run) (runtime.Execution, error) {
	if s.resume == nil {
		return nil, runtime.ErrGone
	}
	return s.resume(ctx, r)
}

// follows is a stage whose runs all do this.
func follows(follow func(context.Context, *runs.Writer) error) *stage {
	return &stage{start: func(context.Context, string, runtime.Order) (runtime.Execution, error) {
		return &act{follow: follow}, nil
	}}
}

// act is one execution.
type act struct {
	name    string
	follow  func(ctx context.Context, w *runs.Writer) error
	control func(ctx context.Context, c runtime.Control) error
}

func (a *act) UpstreamRunID() string { return a.name }

func (a *act) Follow(ctx context.Context, w *runs.Writer) error { return a.follow(ctx, w) }

func (a *act) Control(ctx context.Context, c runtime.Control) error {
	if a.control == nil {
		return nil
	}
	return a.control(ctx, c)
}

func saysHi(_ context.Context, w *runs.Writer) error {
	return errors.Join(w.Append(runs.TokenDelta{Delta: "hi"}), w.Append(runs.RunDone{}))
}

// waits says something and goes on until its context ends, as a run does that goes on without the hub.
func waits(ctx context.Context, w *runs.Writer) error {
	if err := w.Append(runs.TokenDelta{Delta: "partial"}); err != nil {
		return err
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// hub is an executor over a journal of its own, both running.
type hub struct {
	*runtime.Executor
	t     *testing.T
	j     *runs.Journal
	store runs.Store
	rt    *stage

	cancel context.CancelFunc
	ended  chan error
	halted bool
	kill   context.CancelFunc
	sealed chan error
}

// open starts a hub; s nil is a store of its own. It ends with the test, if not before.
func open(t *testing.T, s runs.Store, rt *stage, change func(*runtime.Options)) *hub {
	t.Helper()
	if s == nil {
		s = new(memstore.Store)
	}
	o := runtime.Options{Runtimes: map[string]runtime.Runtime{"stage": rt}, Default: "stage", Instance: "here"}
	if change != nil {
		change(&o)
	}
	h := &hub{t: t, store: s, rt: rt, ended: make(chan error, 1), sealed: make(chan error, 1)}
	h.j = runs.New(runs.Options{Store: s, Instance: o.Instance})
	o.Journal = h.j
	h.Executor = runtime.New(o)
	var kept, ctx context.Context
	kept, h.kill = context.WithCancel(t.Context())
	ctx, h.cancel = context.WithCancel(kept)
	go func() { h.sealed <- h.j.Run(kept) }()
	go func() { h.ended <- h.Run(ctx) }()
	synctest.Wait()
	return h
}

// stop ends the hub in order.
func (h *hub) stop() error {
	if h.halted {
		return nil
	}
	h.halted = true
	h.cancel()
	err := <-h.ended
	h.kill()
	return errors.Join(err, <-h.sealed)
}

func (h *hub) start(o runtime.Order) runtime.Started {
	h.t.Helper()
	s, err := h.Start(h.t.Context(), o)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *hub) control(run string, c runtime.Control) runs.Run {
	h.t.Helper()
	r, err := h.Control(h.t.Context(), run, c)
	if err != nil {
		h.t.Fatalf("%s: %v", c.Verb, err)
	}
	return r
}

func (h *hub) look(run string) runs.Run {
	h.t.Helper()
	r, err := h.j.Look(h.t.Context(), run)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// settle waits until nothing moves any more and what was appended is stored.
func settle() {
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
}

// end waits until nothing moves any more and returns the run's log.
func (h *hub) end(run string) string {
	h.t.Helper()
	settle()
	return story(rowsOf(h.t, h.store, run))
}

func rowsOf(t *testing.T, s runs.Store, run string) []runs.Event {
	t.Helper()
	p, err := s.Read(t.Context(), run, 0, 1<<20, 1<<40)
	if err != nil {
		t.Fatalf("read %s: %v", run, err)
	}
	for i, e := range p.Rows {
		if e.Seq != int64(i+1) {
			t.Fatalf("row %d has seq %d", i+1, e.Seq)
		}
	}
	return p.Rows
}

// story is a log in a line.
func story(rows []runs.Event) string {
	var words []string
	for _, e := range rows {
		var word strings.Builder
		word.WriteString(string(e.Type))
		var p struct{ Status, Code, Delta, Text, Phase, Choice string }
		_ = json.Unmarshal(e.Payload, &p)
		for _, detail := range []string{p.Status, p.Code, p.Delta, p.Phase, p.Choice, p.Text} {
			if detail != "" && e.Type != runs.TypeStarted {
				word.WriteString("=" + detail)
				break
			}
		}
		words = append(words, word.String())
	}
	return strings.Join(words, " ")
}

// want compares.
func want[T any](t *testing.T, what string, got, wanted T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, wanted)
	}
}

// play runs a test in a bubble of time, with one hub.
func play(t *testing.T, rt *stage, f func(t *testing.T, h *hub)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if rt == nil {
			rt = new(stage)
		}
		h := open(t, nil, rt, nil)
		f(t, h)
		if err := h.stop(); err != nil {
			t.Error(err)
		}
	})
}

// bubble runs a test in a bubble of time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
