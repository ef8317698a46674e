package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/tidwall/gjson"

	"hermes-hub/runs"
)

// execute has a new run taken by its runtime, says so, and follows it to its end.
func (e *Executor) execute(base context.Context, l *live, o Order, taken chan<- error) {
	ctx, abort := l.bind(base)
	defer abort(errOver)
	x, err := guarded(func() (Execution, error) { return l.rt.Start(ctx, l.runID, o) })
	if err != nil {
		close(l.ready)
		if r, ok := errors.AsType[*Refused](err); ok && !l.isCancelling() {
			_ = l.w.Append(refusal(r)) // nothing has ended it before
		} else if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		e.finish(base, l, err)
		if l.isCancelling() { // what the client has begun has ended as somebody wanted
			err = nil
		}
		taken <- err
		return
	}
	l.taken(x, runs.StatusChanged{Status: runs.Running})
	taken <- nil
	e.follow(base, ctx, l)
}

// follow has what happens in a run appended until it is over. A run that goes on without this process, or that belongs to
// another now, is only let go.
func (e *Executor) follow(base, ctx context.Context, l *live) {
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-l.w.Lost():
			l.stop(errLost)
		case <-done:
		}
	})
	_, err := guarded(func() (struct{}, error) { return struct{}{}, l.execution().Follow(ctx, l.w) })
	close(done)
	watch.Wait()
	switch cause := context.Cause(ctx); {
	case over(l.w.Lost()), errors.Is(cause, ErrStopping) && errors.Is(err, ErrStopping):
		e.leave(l)
		return
	case err != nil && cause != nil:
		err = cause
	}
	e.finish(base, l, err)
}

// panicked is a runtime's panic, which ends one run and not the process.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("the runtime panicked: %v", p.value) }

// guarded calls into a runtime.
func guarded[T any](call func() (T, error)) (v T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicked{r, debug.Stack()}
		}
	}()
	return call()
}

// finish ends a run: its one terminal row if nobody has appended it yet, the seal, and its place among the live ones. err is
// why it is over, nil when its runtime said so itself.
func (e *Executor) finish(base context.Context, l *live, err error) {
	defer e.leave(l)
	if p, ok := errors.AsType[*panicked](err); ok {
		e.o.Logger.Error("a runtime panicked", "run", l.runID, "panic", p.value, "stack", string(p.stack))
	} else if err != nil && !l.isCancelling() {
		e.o.Logger.Warn("a run was ended", "run", l.runID, "error", err)
	}
	_ = l.w.Append(ending(err, l.isCancelling())) // refused when it has ended
	_ = l.w.Append(runs.RunClosed{})
	// While the process runs, this waits for the store however long it is down. When it stops, the journal commits last.
	if _, err := l.w.Sync(base); err != nil && base.Err() == nil && !lateEnd(err) {
		e.o.Logger.Warn("a run's end is not stored", "run", l.runID, "error", err)
	}
}

// lateEnd reports whether a store refused only because somebody else has ended or sealed the run.
func lateEnd(err error) bool {
	r, ok := errors.AsType[*runs.Refusal](err)
	return ok && (r.Outcome == runs.Ended || r.Outcome == runs.Sealed)
}

// ending is the terminal event of a run whose runtime told none.
func ending(err error, cancelling bool) runs.Payload {
	if cancelling {
		return runs.RunCancelled{}
	}
	if r, ok := errors.AsType[*Refused](err); ok {
		return runs.ErrorRaised{Reason: reason(r.Status, r.Code), Code: r.Code, Message: r.Message, Ends: true}
	}
	end := runs.ErrorRaised{Reason: "error", Ends: true}
	switch _, panicked := errors.AsType[*panicked](err); {
	case err == nil:
		end.Code, end.Message = "no_end", "The runtime stopped without saying how the run has ended."
	case errors.Is(err, ErrGone):
		end.Reason, end.RecoveryControl = "interrupted", true
		end.Code, end.Message = "executor_lost", "The program that ran this was stopped before it ended."
	case errors.Is(err, ErrStopping):
		end.Reason, end.RecoveryControl = "interrupted", true
		end.Code, end.Message = "hub_stopped", "The hub was stopped before this ended."
	case panicked:
		end.Code, end.Message = "runtime_panicked", "The runtime failed; the hub's log has the details."
	default:
		end.Code, end.Message = "runtime_failed", "The runtime failed; the hub's log has the details."
	}
	return end
}

// refused is the mark of a run that its runtime would not take, in the details of its error.
const refused = "refused"

// refusal is the terminal event of a run that its runtime would not take.
func refusal(r *Refused) runs.Payload {
	details, _ := json.Marshal(map[string]any{refused: true, "status": r.Status}) // cannot fail
	return runs.ErrorRaised{Reason: reason(r.Status, r.Code), Code: r.Code, Message: r.Message, Details: details, Ends: true}
}

// wasRefused reports whether the run is one that its runtime would not take.
func wasRefused(r runs.Run) bool { return gjson.GetBytes(r.Error, "details."+refused).Bool() }

// reason is what the WebUI knows an error by. Nothing that a runtime says is taken for a cancellation or a crash.
func reason(status int, code string) string {
	switch {
	case code == "usage_limit_reached", code == "insufficient_quota", code == "quota_exhausted", status == 402:
		return "quota_exhausted"
	case status == 429:
		return "rate_limit"
	case code == "model_not_found":
		return "model_not_found"
	case status == 401, status == 403:
		return "auth_mismatch"
	default:
		return "error"
	}
}
