package runtime

import (
	"context"
	"sync"
	"sync/atomic"

	"hermes-hub/runs"
)

// hermesRun is an Execution: one run of a Hermes.
type hermesRun struct {
	h         *Hermes
	id        string // the server's of the run
	sessionID string // the server's of the session
	resumed   bool   // another process began it
	text      string // what was stored of its answer then

	approvals, clarifies *hermesAsked
	stopped              atomic.Bool   // the server took a stop
	look                 chan struct{} // a control saw that the run stands elsewhere than Follow may know

	mu sync.Mutex   // of what is noted and appended in one step
	w  *runs.Writer // Follow's
}

func newHermesRun(h *Hermes, id, sessionID string) *hermesRun {
	return &hermesRun{
		h: h, id: id, sessionID: sessionID, look: make(chan struct{}, 1),
		approvals: newHermesAsked(), clarifies: newHermesAsked(),
	}
}

// UpstreamRunID is the server's own id of the run, which Resume needs.
func (x *hermesRun) UpstreamRunID() string { return x.id }

// adopt takes over what the rows of another process tell of the run.
func (x *hermesRun) adopt(r runs.Run) {
	x.resumed, x.text = true, r.Output
	x.stopped.Store(r.Status == runs.Cancelling)
	x.approvals.resumed, x.clarifies.resumed = true, true
	if r.PendingApprovalID != "" {
		x.approvals.ask(*hermesFormer(r.PendingApprovalID))
	}
	if r.PendingClarifyID != "" {
		x.clarifies.ask(*hermesFormer(r.PendingClarifyID))
	}
}

// nudge has Follow look at the run's status now.
func (x *hermesRun) nudge() {
	select {
	case x.look <- struct{}{}:
	default:
	}
}

// Follow reads the run's event stream, and its status when there is none; see hermesFollow.
func (x *hermesRun) Follow(ctx context.Context, w *runs.Writer) error {
	x.mu.Lock()
	x.w = w
	x.mu.Unlock()
	return newHermesFollow(x, w).run(ctx)
}

// settles appends the row of an answer if noting it was news. Follow cannot append the run's end in between. Nobody is told
// of an answer when the run has ended before.
func (x *hermesRun) settles(note func() bool, row runs.Payload) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if note() && x.w != nil {
		_ = x.w.Append(row)
	}
}
