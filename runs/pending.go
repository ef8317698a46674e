package runs

import (
	"context"
	"slices"
)

// Approvals are the ids of the approvals that wait for an answer now, oldest first.
func (f *Fold) Approvals() []string { return slices.Clone(f.approvals) }

// Clarifies are the ids of the questions that wait for an answer now, oldest first.
func (f *Fold) Clarifies() []string { return slices.Clone(f.clarifies) }

// Pending are the approvals and the questions of a run that wait for an answer, as its stored rows tell: oldest first.
func (j *Journal) Pending(ctx context.Context, runID string) (approvals, clarifies []string, err error) {
	f, _, err := j.fold(ctx, runID)
	return f.Approvals(), f.Clarifies(), err
}
