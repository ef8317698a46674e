package runs

import "context"

// First is the oldest row of a run that is still there: what it was begun with, as a rule. ErrUnknownRun when there is none.
func (j *Journal) First(ctx context.Context, runID string) (Event, error) {
	page, err := j.o.Store.Read(ctx, runID, 0, 1, 1)
	if err == nil && len(page.Rows) == 0 {
		err = ErrUnknownRun
	}
	if err != nil {
		return Event{}, err
	}
	return page.Rows[0], nil
}
