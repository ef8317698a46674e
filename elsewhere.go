package main

import (
	"context"
	"encoding/json"
	"errors"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
	"hermes-hub/runs/runtime"
)

// sharedExecutor carries a wish about a run that another hub executes over to that hub.
type sharedExecutor struct {
	*runtime.Executor
	journal *runs.Journal
	shared  *redisstore.Store
}

// wish is a control on its way to another hub, and outcome what became of it there.
type (
	wish struct {
		RunID   string          `json:"run_id"`
		Control runtime.Control `json:"control"`
	}
	outcome struct {
		Error   string           `json:"error,omitempty"` // a key of wishErrors
		Refused *runtime.Refused `json:"refused,omitempty"`
	}
)

// wishErrors are the errors that mean the same to both hubs.
var wishErrors = map[string]error{
	"not_active": runtime.ErrNotActive, "unsupported": runtime.ErrUnsupported, "elsewhere": runtime.ErrElsewhere,
	"stopping": runtime.ErrStopping, "unknown": runs.ErrUnknownRun,
}

// Control is runtime.Executor's, wherever the run is executed.
func (e *sharedExecutor) Control(ctx context.Context, runID string, c runtime.Control) (runs.Run, error) {
	run, err := e.Executor.Control(ctx, runID, c)
	if !errors.Is(err, runtime.ErrElsewhere) {
		return run, err
	}
	head, err := e.journal.Head(ctx, runID)
	if err != nil {
		return runs.Run{}, err
	}
	ask, err := json.Marshal(wish{runID, c})
	if err != nil {
		return runs.Run{}, err
	}
	answer, err := e.shared.Ask(ctx, head.Holder, ask)
	if errors.Is(err, redisstore.ErrNobody) {
		return runs.Run{}, runtime.ErrElsewhere
	}
	if err != nil {
		return runs.Run{}, err
	}
	var o outcome
	switch err := json.Unmarshal(answer, &o); {
	case err != nil:
		return runs.Run{}, err
	case o.Refused != nil:
		return runs.Run{}, o.Refused
	case o.Error != "":
		return runs.Run{}, wishErrors[o.Error]
	}
	return e.journal.Look(ctx, runID)
}

// grant carries out what another hub wishes of a run that is executed here.
func (e *sharedExecutor) grant(ctx context.Context, ask []byte) []byte {
	var w wish
	err := json.Unmarshal(ask, &w)
	if err == nil {
		_, err = e.Executor.Control(ctx, w.RunID, w.Control)
	}
	var o outcome
	if refused, ok := errors.AsType[*runtime.Refused](err); ok {
		o.Refused = refused
	} else if err != nil {
		o.Error = "stopping"
		for name, known := range wishErrors {
			if errors.Is(err, known) {
				o.Error = name
			}
		}
	}
	answer, _ := json.Marshal(o) // strings and numbers cannot fail
	return answer
}
