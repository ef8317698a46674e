package httpapi

import (
	"context"
	"sync"

	"hermes-hub/runs"
)

const (
	mostLooks     = 256      // runs whose state is remembered
	mostLookBytes = 32 << 20 // of their outputs
)

// looks remember what the rows of runs have added up to, so that the next look reads only what is new: a client that asks
// for a run's state each second, and a page that lists many, cost no replays.
type looks struct {
	mu    sync.Mutex
	byRun map[string]*glance
	tick  int
	bytes int
}

// glance is one run as far as it was read.
type glance struct {
	used, size int // guarded by looks.mu

	mu   sync.Mutex
	fold *runs.Fold
	head runs.Head // when it was read
}

// run is the run object, of the rows that there are now.
func (a *API) run(ctx context.Context, head runs.Head) (runs.Run, error) {
	if head.Expired {
		return runs.Tombstone(head), nil
	}
	g := a.looks.at(head.RunID)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fold == nil || !follows(head, g.head) {
		g.fold, g.head = new(runs.Fold), runs.Head{RunID: head.RunID}
	}
	if head.Last > g.head.Last {
		if err := g.read(ctx, a.o.Journal); err != nil {
			g.fold = nil // it may have seen some of it
			return runs.Run{}, err
		}
	}
	run := g.fold.Run()
	a.looks.keep(head.RunID, g, len(run.Output))
	return run, nil
}

// follows reports whether a run whose head is now had the other one before: it is the same run, and has lost nothing.
func follows(now, before runs.Head) bool {
	return now.CreatedAt.Equal(before.CreatedAt) && now.Epoch == before.Epoch && now.First == before.First && now.Last >= before.Last
}

// read reads the rows behind those that were read.
func (g *glance) read(ctx context.Context, j *runs.Journal) error {
	sub, head, err := j.Subscribe(ctx, g.head.RunID, g.head.LastEventID())
	switch {
	case err != nil:
		return err
	case sub == nil:
		return runs.ErrUnknownRun // it has expired this moment
	}
	defer sub.Close()
	for caughtUp := false; !caughtUp; {
		d, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range d.Rows {
			g.fold.Apply(e)
		}
		head, caughtUp = d.Head, d.CaughtUp
	}
	g.head = head
	return nil
}

// at is what is known of a run, now the most recently used.
func (l *looks) at(runID string) *glance {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := l.byRun[runID]
	if g == nil {
		g = new(glance)
		l.byRun[runID] = g
	}
	l.tick++
	g.used = l.tick
	return g
}

// keep notes how large a run has become, and forgets the least recently used ones when all are too many or too large.
func (l *looks) keep(runID string, g *glance, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byRun[runID] == g {
		l.bytes += size - g.size
		g.size = size
	}
	for len(l.byRun) > mostLooks || l.bytes > mostLookBytes {
		oldest := ""
		for id, other := range l.byRun {
			if oldest == "" || other.used < l.byRun[oldest].used {
				oldest = id
			}
		}
		l.bytes -= l.byRun[oldest].size
		delete(l.byRun, oldest)
	}
}
