package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes-hub/runs"
)

// resumeAtOnce is how many runs are recovered side by side.
const resumeAtOnce = 8

// Recover goes on with what former executors have left: each run is taken over, which shuts its executor out should it only
// have been paused, and resumed through its runtime, or ended as interrupted. Call it while Run is running, until it
// returns no error. It returns when each run has an executor or has ended; a run of which its runtime cannot find out how it stands
// stays as it is and is asked for again and again.
//
// Of a store of its own everything that goes on is this process's. In a shared one that is what this Instance had, and what
// has been without a sign of life for a minute; more of the latter is looked for from time to time by Run. What has begun
// since this Executor was made is nobody's leftover.
func (e *Executor) Recover(ctx context.Context) error {
	err := e.recoverAll(ctx, func(h runs.Head) bool {
		if h.CreatedAt.After(e.born) {
			return false
		}
		return !e.o.Shared || h.Holder == e.o.Instance || e.now().Sub(h.HeldAt) > staleAfter
	})
	if err == nil {
		e.recovery.Do(func() { close(e.recovered) })
	}
	return err
}

// awaitRecovery waits until the runs of the last start have executors, for a moment: who asks for one at once after a
// restart would be told that nobody executes it.
func (e *Executor) awaitRecovery(ctx context.Context) {
	timer := time.NewTimer(recoverIn)
	defer timer.Stop()
	select {
	case <-e.recovered:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sweep recovers what lost its executor since.
func (e *Executor) sweep(ctx context.Context) {
	err := e.recoverAll(ctx, func(h runs.Head) bool { return e.now().Sub(h.HeldAt) > staleAfter })
	if err != nil && ctx.Err() == nil {
		e.o.Logger.Warn("runs without an executor were not looked for", "error", err)
	}
}

func (e *Executor) recoverAll(ctx context.Context, left func(runs.Head) bool) error {
	heads, err := e.o.Journal.List(ctx, runs.Filter{Active: true})
	if err != nil {
		return fmt.Errorf("list active runs: %w", err)
	}
	var mu sync.Mutex
	var failed []error
	var wg sync.WaitGroup
	slots := make(chan struct{}, resumeAtOnce)
	for _, h := range heads {
		if e.lookup(h.RunID) != nil || !left(h) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := e.recover(ctx, h); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, fmt.Errorf("recover run %s: %w", h.RunID, err))
			}
		})
	}
	wg.Wait()
	return errors.Join(failed...)
}

// recover gives one run an executor again, or ends it.
func (e *Executor) recover(ctx context.Context, h runs.Head) error {
	run, err := e.o.Journal.Look(ctx, h.RunID)
	if err != nil || run.TerminalState != "" {
		return ignoreUnknown(err)
	}
	if run.Runtime == External && e.now().Sub(h.HeldAt) <= silentFor {
		return nil
	}
	rt, err := e.runtime(run.Runtime)
	if err != nil { // an outside one that fell silent, one that is not configured any more, a proxied call
		return e.o.Journal.Interrupt(ctx, run.RunID)
	}
	now, err := e.o.Journal.Head(ctx, h.RunID)
	if err != nil || now.Fence != h.Fence || !now.HeldAt.Equal(h.HeldAt) { // somebody else is at it
		return ignoreUnknown(err)
	}
	w, err := e.o.Journal.Take(ctx, run.RunID, cmp.Or(run.Content, runs.Redacted))
	if err != nil {
		return ignoreUnknown(err)
	}
	l := e.enter(run.RunID, rt, w, run.Status == runs.Cancelling)
	if run.Status == runs.Cancelling {
		_ = e.spawn(ctx, func(base context.Context) { e.seeEnded(base, l) }) // fails when the next one does
	}
	asked := make(chan struct{})
	if err := e.spawn(ctx, func(base context.Context) { e.resume(base, l, run, asked) }); err != nil {
		e.leave(l)
		return err
	}
	select {
	case <-asked:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// resume goes on with a run, as soon as its runtime can tell how it stands. asked is closed after the first try.
func (e *Executor) resume(base context.Context, l *live, run runs.Run, asked chan<- struct{}) {
	ctx, abort := l.bind(base)
	defer abort(errOver)
	x, err := e.ask(ctx, l, run)
	for pause := resumePause; err != nil && ctx.Err() == nil; pause = min(2*pause, resumeAtMost) {
		if _, panicked := errors.AsType[*panicked](err); panicked || errors.Is(err, ErrGone) {
			break
		}
		if asked != nil {
			close(asked)
			asked = nil
		}
		if wait(ctx, pause) == nil {
			x, err = e.ask(ctx, l, run)
		}
	}
	switch {
	case err == nil:
		l.taken(x, resumed(run))
	case ctx.Err() != nil: // the run goes on without this process, or has an end already
		close(l.ready)
		e.leave(l)
	default:
		close(l.ready)
		e.finish(base, l, err)
	}
	if asked != nil {
		close(asked)
	}
	if err == nil {
		e.follow(base, ctx, l)
	}
}

// ask asks the runtime once how a run stands.
func (e *Executor) ask(ctx context.Context, l *live, run runs.Run) (Execution, error) {
	x, err := guarded(func() (Execution, error) { return l.rt.Resume(ctx, run) })
	if err != nil && !errors.Is(err, ErrGone) {
		e.o.Logger.Warn("how a run stands could not be found out", "run", run.RunID, "error", err)
	}
	return x, err
}

// resumed says that a run goes on: as it stood, for what waits for an answer still does.
func resumed(run runs.Run) runs.StatusChanged {
	s := runs.StatusChanged{Status: run.Status, Reason: "resumed"}
	if s.Status == runs.Queued {
		s.Status = runs.Running
	}
	return s
}
