package runtime

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"hermes-hub/runs"
)

// External is the runtime of runs that are executed outside: who began one appends to it, with its token.
const External = "external"

// StartExternal begins a run that the outside executes, as Start does otherwise. The token is what the outside appends
// with; only its hash is kept (RunStarted.WriterHash), so that a replay has none to tell.
func (e *Executor) StartExternal(ctx context.Context, o Order) (Started, string, error) {
	token := "hhw_" + rand.Text()
	sum := sha256.Sum256([]byte(token))
	o.Runtime = External
	first := o.Started
	first.Status, first.Controls, first.WriterHash = runs.Running, words([]Verb{Cancel}), hex.EncodeToString(sum[:])
	_, s, err := e.create(ctx, o, first)
	if err != nil || s.Replayed {
		return s, "", err
	}
	return s, token, nil
}

// cancelExternal takes a run away from the outside and ends it.
func (e *Executor) cancelExternal(ctx context.Context, runID string) error {
	w, err := e.o.Journal.Take(ctx, runID, runs.Redacted)
	if err == nil {
		_ = w.Append(runs.RunCancelled{}) // refused when it has ended
		_ = w.Append(runs.RunClosed{})
		_, err = w.Sync(ctx)
	}
	if errors.Is(err, runs.ErrUnknownRun) || err == nil || lateEnd(err) {
		return nil
	}
	return err
}
