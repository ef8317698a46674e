package httpapi

import (
	"context"
	"net/http"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// endIn is how long the runs of a session have to end before their rows are removed under them: their writers then learn
// that there is nothing to write to.
const endIn = 5 * time.Second

// deleted is the answer to a session's removal.
type deleted struct {
	SessionID string `json:"session_id"`
	Deleted   bool   `json:"deleted"`
	Runs      int    `json:"runs"` // how many were removed
}

// deleteSession stops what goes on in a session and removes everything of it.
func (a *API) deleteSession(q *call) error {
	ctx, sid := q.r.Context(), q.args[0]
	n, err := a.remove(ctx, q.client, sid)
	if err != nil {
		return err
	}
	return q.answer(http.StatusOK, deleted{sid, true, n})
}

func (a *API) remove(ctx context.Context, c Client, session string) (n int, err error) {
	if err := a.endAll(ctx, c, session); err != nil {
		return 0, err
	}
	owners := []string{c.Owner}
	if c.All {
		heads, _, err := a.heads(ctx, c, runs.Filter{SessionID: session}, mostHeads, nil)
		if err != nil {
			return 0, err
		}
		owners = ownersOf(heads)
	}
	for _, owner := range owners {
		removed, err := a.o.Journal.DeleteSession(ctx, owner, session)
		if err != nil {
			return 0, err
		}
		n += removed
	}
	return n, nil
}

// endAll asks the live runs of a session to end, and waits for it a little.
func (a *API) endAll(ctx context.Context, c Client, session string) error {
	active, _, err := a.heads(ctx, c, runs.Filter{SessionID: session, Active: true}, mostHeads, nil)
	if err != nil {
		return err
	}
	patience, cancel := context.WithTimeout(ctx, endIn)
	defer cancel()
	for _, h := range active {
		// One that cannot be told is removed all the same.
		_, _ = a.o.Executor.Control(patience, h.RunID, runtime.Control{Verb: runtime.Cancel})
	}
	for _, h := range active {
		a.awaitEnd(patience, h)
	}
	return ctx.Err()
}

// awaitEnd returns when the run has its terminal row, or ctx has ended.
func (a *API) awaitEnd(ctx context.Context, h runs.Head) {
	sub, now, err := a.o.Journal.Subscribe(ctx, h.RunID, h.LastEventID())
	if err != nil || sub == nil {
		return
	}
	defer sub.Close()
	for now.Active() {
		d, err := sub.Next(ctx)
		if err != nil {
			return
		}
		now = d.Head
	}
}

func ownersOf(heads []runs.Head) (owners []string) {
	seen := map[string]bool{}
	for _, h := range heads {
		if !seen[h.Owner] {
			seen[h.Owner] = true
			owners = append(owners, h.Owner)
		}
	}
	return owners
}
