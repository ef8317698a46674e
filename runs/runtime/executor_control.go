package runtime

import (
	"context"
	"errors"
	"slices"

	"hermes-hub/runs"
)

// Control carries out one wish about a run, and returns the run as it is then.
//
// Cancel makes the run `cancelling`; its runtime has CancelGrace to end it, then the executor does. It returns once that is
// stored, and does not wait for the end. Cancelling again, or a run that has ended, changes nothing and is no error.
//
// An approval or a question is answered by its id, once: an id that is not pending, or that an answer was taken for already,
// is ErrNotActive. Without an id the only pending one is meant; when several are pending that is ErrNotActive, too.
func (e *Executor) Control(ctx context.Context, runID string, c Control) (runs.Run, error) {
	return e.control(ctx, runID, c, false)
}

// control is Control; late says that the runs of the last start were waited for.
func (e *Executor) control(ctx context.Context, runID string, c Control, late bool) (runs.Run, error) {
	l := e.lookup(runID)
	if l == nil {
		return e.controlAbsent(ctx, runID, c, late)
	}
	if !slices.Contains(l.rt.Controls(), c.Verb) {
		return runs.Run{}, ErrUnsupported
	}
	if l.w.Ended() && c.Verb != Cancel {
		return runs.Run{}, ErrNotActive
	}
	var err error
	switch c.Verb {
	case Cancel:
		err = e.cancel(ctx, l)
	case Approval, Clarify:
		err = e.answer(ctx, l, c)
	default:
		err = e.tell(ctx, l, c)
	}
	if err != nil {
		return runs.Run{}, err
	}
	return e.o.Journal.Look(ctx, runID)
}

// controlAbsent is about a run that does not go on in this process.
func (e *Executor) controlAbsent(ctx context.Context, runID string, c Control, late bool) (runs.Run, error) {
	run, err := e.o.Journal.Look(ctx, runID)
	switch {
	case err != nil:
		return runs.Run{}, err
	case run.TerminalState != "" && c.Verb == Cancel:
		return run, nil
	case run.TerminalState != "":
		return runs.Run{}, ErrNotActive
	case run.Runtime != External && !late:
		e.awaitRecovery(ctx)
		return e.control(ctx, runID, c, true)
	case run.Runtime != External:
		return runs.Run{}, ErrElsewhere
	case c.Verb != Cancel:
		return runs.Run{}, ErrUnsupported
	}
	if err := e.cancelExternal(ctx, runID); err != nil {
		return runs.Run{}, err
	}
	return e.o.Journal.Look(ctx, runID)
}

// tell carries a wish to what executes the run, once there is something.
func (e *Executor) tell(ctx context.Context, l *live, c Control) error {
	select {
	case <-l.ready:
	case <-l.gone:
		return ErrNotActive
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	x := l.execution()
	if x == nil {
		return ErrNotActive
	}
	_, err := guarded(func() (struct{}, error) { return struct{}{}, x.Control(ctx, c) })
	if p, ok := errors.AsType[*panicked](err); ok {
		e.o.Logger.Error("a runtime panicked", "run", l.runID, "panic", p.value, "stack", string(p.stack))
	}
	return err
}

// answer carries the answer to an approval or a question to the runtime. Of several answers to one, one gets there.
func (e *Executor) answer(ctx context.Context, l *live, c Control) error {
	approvals, clarifies, err := e.o.Journal.Pending(ctx, l.runID)
	if err != nil {
		return err
	}
	pending := approvals
	if c.Verb == Clarify {
		pending = clarifies
	}
	if c.ID == "" && len(pending) == 1 {
		c.ID = pending[0]
	}
	if c.ID == "" || !slices.Contains(pending, c.ID) || l.isCancelling() {
		return ErrNotActive
	}
	claim := string(c.Verb) + ":" + c.ID
	if !l.answer(claim) {
		return ErrNotActive
	}
	err = e.tell(ctx, l, c)
	if err != nil {
		l.unanswer(claim)
	}
	return err
}

// cancel begins to end a run.
func (e *Executor) cancel(ctx context.Context, l *live) error {
	if l.w.Ended() {
		return e.awaitGone(ctx, l)
	}
	if !l.beginCancel() {
		return nil
	}
	if err := e.spawn(ctx, func(base context.Context) { e.seeEnded(base, l) }); err != nil {
		return err
	}
	if _, err := l.w.Sync(ctx); err != nil && !lateEnd(err) {
		return err
	}
	return nil
}

// seeEnded has the runtime end a run. When that takes too long, the run ends without it.
func (e *Executor) seeEnded(base context.Context, l *live) {
	ctx, cancel := context.WithTimeout(base, e.o.CancelGrace)
	defer cancel()
	if err := e.tell(ctx, l, Control{Verb: Cancel}); err != nil && !errors.Is(err, ErrNotActive) {
		e.o.Logger.Warn("a runtime did not take a cancellation", "run", l.runID, "error", err)
	}
	select {
	case <-l.gone:
		return
	case <-ctx.Done():
	}
	if base.Err() != nil { // the hub is stopping, and that ends what can end
		return
	}
	_ = l.w.Append(runs.RunCancelled{}) // first: what Follow still says of its broken connection is then too late
	l.stop(errCancelled)
	e.finish(base, l, errCancelled)
}

// awaitGone waits until a run that has ended is stored as such.
func (e *Executor) awaitGone(ctx context.Context, l *live) error {
	select {
	case <-l.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
