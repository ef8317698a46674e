package runs

import (
	"context"
	"fmt"
	"time"
)

const (
	retryFirst   = 50 * time.Millisecond // after a failed commit; doubled each time
	retryAtMost  = 2 * time.Second
	commitLastIn = 5 * time.Second // the last commits' patience: the process is being waited for
)

// Run commits what writers append, until ctx is done; then it commits what is left and returns the error of that. Commits
// begin at most every FlushEvery, or when enough rows wait, or somebody does: the slower the store, the more each takes.
// A commit that fails is tried again as it was, for nobody knows how much of it was stored.
func (j *Journal) Run(ctx context.Context) error {
	var last time.Time
	pause := retryFirst
	for {
		select {
		case <-ctx.Done():
			return j.commitLast(ctx)
		case <-j.dirty:
		}
		j.gather(ctx, last)
		last = j.now()
		err := j.commit(ctx, false)
		if ctx.Err() != nil {
			continue
		}
		j.logCommits(err)
		if err == nil {
			pause = retryFirst
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, retryAtMost)
	}
}

// gather waits for company for what is to be committed.
func (j *Journal) gather(ctx context.Context, last time.Time) {
	wait := j.o.FlushEvery - j.now().Sub(last)
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-j.urgent:
	}
}

// commitLast commits after ctx was cancelled.
func (j *Journal) commitLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLastIn)
	defer cancel()
	for j.waits() {
		if err := j.commit(ctx, true); err != nil {
			return fmt.Errorf("commit the last rows: %w", err)
		}
	}
	return nil
}

func (j *Journal) waits() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.waiting) > 0
}

// enqueue puts a writer on the list and wakes the committer. The writer's mu is held.
func (j *Journal) enqueue(w *Writer, urgent bool) {
	j.mu.Lock()
	if !w.queued {
		w.queued = true
		j.waiting = append(j.waiting, w)
	}
	j.fresh++
	urgent = urgent || j.fresh >= j.o.FlushRows
	j.mu.Unlock()
	nudge(j.dirty)
	if urgent {
		nudge(j.urgent)
	}
}

// nudge leaves a note in a channel of one.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// commit sends one batch of each writer that waits, all in one step. all holds no delta back.
func (j *Journal) commit(ctx context.Context, all bool) error {
	j.mu.Lock()
	waiting := j.waiting
	j.waiting, j.committing, j.fresh = nil, waiting, 0
	j.mu.Unlock()
	defer j.committed()

	var from []*Writer
	var batches []Batch
	for _, w := range waiting {
		b, ok, held := w.send(all)
		if ok {
			from, batches = append(from, w), append(batches, b)
		} else if held {
			j.hold(w) // the last commit takes it, if no other event does
		}
	}
	if len(batches) == 0 {
		return nil
	}
	answers, err := j.o.Store.Append(ctx, batches)
	if err != nil {
		for _, w := range from {
			j.requeue(w)
		}
		return err
	}
	for i, a := range answers {
		from[i].settle(a)
		if a.Err() != nil {
			j.refused.Add(1)
			continue
		}
		if a.Outcome == Stored {
			j.stored.Add(int64(len(batches[i].Rows)))
		}
		j.Ring(batches[i].RunID)
		j.rooms.arrivals.ring(batches[i].Begin)
	}
	return nil
}

// committed ends a commit.
func (j *Journal) committed() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.committing = nil
}

// hold keeps a writer on the list without waking anybody.
func (j *Journal) hold(w *Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.park(w)
}

// park is hold with w.mu held.
func (j *Journal) park(w *Writer) {
	if w.queued {
		return
	}
	w.queued = true
	j.mu.Lock()
	j.waiting = append(j.waiting, w)
	j.mu.Unlock()
}

func (j *Journal) requeue(w *Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.enqueue(w, false)
}

// logCommits writes one line when committing begins to fail and one when it works again, however long it failed.
func (j *Journal) logCommits(err error) {
	switch failed := j.degraded.Swap(err != nil); {
	case err != nil && !failed:
		j.o.Logger.Warn("the journal's rows are not stored", "error", err)
	case err == nil && failed:
		j.o.Logger.Info("the journal's rows are stored again")
	}
}
