package runs

import (
	"context"
	"slices"
)

// Flush waits until everything that was appended so far, in this process, is stored: for whoever has heard of a run before
// the store has. The end of a delta that may be the beginning of a secret goes on waiting: who asks often must not cut it.
func (j *Journal) Flush(ctx context.Context) error {
	j.mu.Lock()
	waiting := slices.Concat(j.committing, j.waiting)
	j.mu.Unlock()
	for _, w := range waiting {
		if _, err := w.drain(ctx); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}
