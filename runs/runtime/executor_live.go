package runtime

import (
	"context"
	"sync"

	"hermes-hub/runs"
)

// live is one run that goes on in this process.
type live struct {
	runID string
	rt    Runtime
	w     *runs.Writer
	ready chan struct{} // closed when x is set, or when there will be none
	gone  chan struct{} // closed when the run is over, or goes on without this process

	mu         sync.Mutex
	x          Execution // nil until the runtime has taken the run
	abort      context.CancelCauseFunc
	cancelling bool
	answered   map[string]bool // approvals and questions that an answer was taken for
}

// enter puts a run among those that go on here.
func (e *Executor) enter(runID string, rt Runtime, w *runs.Writer, cancelling bool) *live {
	l := &live{
		runID: runID, rt: rt, w: w, ready: make(chan struct{}), gone: make(chan struct{}), cancelling: cancelling, answered: map[string]bool{},
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[runID] = l
	return l
}

// leave takes it out again. It may be called more than once, and touches no other run of that id.
func (e *Executor) leave(l *live) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live[l.runID] == l {
		delete(e.live, l.runID)
		close(l.gone)
	}
}

// lookup is the run of that id, nil when it does not go on here.
func (e *Executor) lookup(runID string) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[runID]
}

// taken says that the runtime has the run, and tells the journal. A run that was cancelled meanwhile is not made running.
func (l *live) taken(x Execution, status runs.StatusChanged) {
	if named, ok := x.(Named); ok {
		status.UpstreamRunID = named.UpstreamRunID()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.x = x
	if l.cancelling {
		status.Status = runs.Cancelling
	}
	_ = l.w.Append(status) // refused when the run has ended meanwhile
	close(l.ready)
}

// Named is an Execution whose runtime has a name of its own for the run, which Resume will need: Run.UpstreamRunID.
type Named interface{ UpstreamRunID() string }

// execution is what executes the run, nil until the runtime has taken it.
func (l *live) execution() Execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.x
}

// beginCancel notes that the run is to end, and reports whether it was the first to want that.
func (l *live) beginCancel() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.cancelling
	l.cancelling = true
	if first {
		_ = l.w.Append(runs.StatusChanged{Status: runs.Cancelling, Controls: []string{}}) // refused when it has ended
	}
	return first
}

func (l *live) isCancelling() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cancelling
}

// answer claims an approval or a question for one answer; take it back if the runtime did not take it.
func (l *live) answer(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answered[id] {
		return false
	}
	l.answered[id] = true
	return true
}

func (l *live) unanswer(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.answered, id)
}

// bind gives the run the context that it executes in.
func (l *live) bind(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, abort := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abort = abort
	return ctx, abort
}

// stop ends the context that it executes in.
func (l *live) stop(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abort != nil {
		l.abort(cause)
	}
}
