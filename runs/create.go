package runs

import (
	"context"
	"fmt"
)

// Create begins a run as Begin does, but its first row is stored when it returns, so that a client may be told of it. Of
// several that create the same run, in whichever process, one gets the writer; the others get created false and none: the
// run was there before. An error says that nobody knows; no writer comes with it. A run of which nothing is stored cannot be
// created: ErrNothingKept.
func (j *Journal) Create(ctx context.Context, runID string, o Origin, c Content, started RunStarted) (w *Writer, created bool, err error) {
	if !ValidID(runID) {
		return nil, false, fmt.Errorf("%w: %.40q", ErrBadID, runID)
	}
	o.CreatedAt = stamp(j.now())
	w = j.writer(runID, 1, c)
	w.begin = &o
	d, keep, err := w.draft(started)
	if err != nil {
		return nil, false, err
	}
	if !keep {
		return nil, false, ErrNothingKept
	}
	b := w.batch([]draft{d})
	b.Expect = 0
	answers, err := j.o.Store.Append(ctx, []Batch{b})
	if ctx.Err() == nil {
		j.logCommits(err)
	}
	if err != nil {
		return nil, false, fmt.Errorf("create run %s: %w", runID, err)
	}
	if a := answers[0]; a.Outcome != Stored {
		return nil, false, nil
	}
	w.begun, w.next, w.last = true, 2, answers[0].Last
	w.accepted, w.done, w.rows, w.bytes = 1, 1, 1, int64(len(d.payload))
	w.keep([]draft{d}, w.last)
	j.stored.Add(1)
	j.Ring(runID)
	j.rooms.arrivals.ring(&o)
	return w, true, nil
}
