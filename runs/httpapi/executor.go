package httpapi

import (
	"context"

	"hermes-hub/runs"
	"hermes-hub/runs/runtime"
)

// Executor is what begins runs and carries out wishes about them: runtime.Executor.
type Executor interface {
	// Start begins a run, or finds the one that was begun with the order's idempotency key.
	Start(ctx context.Context, o runtime.Order) (runtime.Started, error)
	// StartExternal begins a run that is executed outside, and returns the token by which the outside appends to it.
	StartExternal(ctx context.Context, o runtime.Order) (runtime.Started, string, error)
	// Control carries out one wish and returns the run as it is then.
	Control(ctx context.Context, runID string, c runtime.Control) (runs.Run, error)
}
