package router

import (
	"context"
	"fmt"
	"time"
)

const (
	saveEvery    = 2 * time.Second // at most one save in this time
	saveAtStopIn = 5 * time.Second // the last one's patience: the process is being waited for
)

// Restore takes over what the last run knew. It is called once, before the first request. After an error the router is as
// New made it, and may serve: what the accounts are will be learnt again.
func (r *Router) Restore(ctx context.Context) error {
	if r.store == nil {
		return nil
	}
	data, err := r.store.LoadState(ctx)
	if err != nil {
		return fmt.Errorf("restore router state: %w", err)
	}
	if len(data) == 0 {
		return nil
	}
	st, err := decodeState(data)
	if err != nil {
		return fmt.Errorf("restore router state: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, now := r.Snapshot(), r.now()
	r.snapshot.Store(s.restored(st, now))
	for _, b := range st.bonds(s.Table.Settings.AffinityTTL, now) {
		r.affinity.hear(b)
	}
	return nil
}

// Run is the keeper: it saves the state when it changed, at most once in saveEvery, and once more at the end. It returns
// when ctx is done, with the error of that last save. A crash loses what was learnt since the save before.
func (r *Router) Run(ctx context.Context) error {
	if r.store == nil {
		<-ctx.Done()
		return nil
	}
	failing := false
	for {
		select {
		case <-ctx.Done():
			return r.saveLast(ctx)
		case <-r.changed:
		}
		err := r.save(ctx)
		if err != nil {
			r.touch() // tried again at the next turn
		}
		r.logSaves(&failing, err)
		select {
		case <-ctx.Done():
		case <-time.After(saveEvery):
		}
	}
}

// saveLast saves after ctx was cancelled.
func (r *Router) saveLast(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveAtStopIn)
	defer cancel()
	return r.save(ctx)
}

func (r *Router) save(ctx context.Context) error {
	data, err := encodeState(r.Snapshot(), r.affinity.all(), r.now())
	if err == nil {
		err = r.store.SaveState(ctx, data)
	}
	if err != nil {
		return fmt.Errorf("save router state: %w", err)
	}
	return nil
}

// logSaves writes one line when saving begins to fail and one when it works again, however long it failed.
func (r *Router) logSaves(failing *bool, err error) {
	switch {
	case err != nil && !*failing:
		r.logger.Warn("router state is not saved", "error", err)
	case err == nil && *failing:
		r.logger.Info("router state is saved again")
	}
	*failing = err != nil
}
