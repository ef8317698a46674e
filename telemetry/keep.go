package telemetry

import (
	"context"
	"fmt"
	"maps"
	"time"
)

const (
	saveRollupsEvery = 5 * time.Second // a crash loses at most what this time counted
	lastRollupsIn    = 5 * time.Second // the last save's patience: the process is being waited for
	minuteKey        = "2006-01-02T15:04Z"
)

// Rollups is where a Window keeps its minutes: values by key, for this hub alone. Keys are "2006-01-02T15:04Z", a minute in
// UTC, so that they sort by time. Values are handed over, not copied.
type Rollups interface {
	SaveAll(ctx context.Context, values map[string][]byte) error // all of them or none
	All(ctx context.Context) (map[string][]byte, error)
	DropBelow(ctx context.Context, key string) error // every key that sorts before this one
}

// Restore takes over what was stored, before or after the first calls; it is called once. Rows that cannot be read are left
// out, counted and logged. After an error the window has forgotten, and counts.
func (w *Window) Restore(ctx context.Context) (skipped int, err error) {
	if w.store == nil {
		return 0, nil
	}
	stored, err := w.store.All(ctx)
	if err != nil {
		return 0, fmt.Errorf("restore telemetry: %w", err)
	}
	w.folding.Lock()
	defer w.folding.Unlock()
	w.fold()
	var why error
	for key, data := range stored {
		if err := w.restore(key, data); err != nil {
			skipped++
			why = fmt.Errorf("row %.40q: %w", key, err)
		}
	}
	w.forget(w.now())
	if skipped > 0 {
		w.log.Warn("left out stored telemetry that cannot be read", "rows", skipped, "error", why)
	}
	return skipped, nil
}

func (w *Window) restore(key string, data []byte) error {
	at, err := time.Parse(minuteKey, key)
	if err != nil {
		return fmt.Errorf("the key is no minute: %w", err)
	}
	r, err := checked(data)
	if err != nil {
		return err
	}
	minute := minuteOf(at)
	h := w.hour(minute)
	if h.minutes[inHour(minute)] != nil { // calls came first
		ts := tallies{}
		r.each(ts.merge)
		w.foldMinute(minute, ts)
		return nil
	}
	r.each(h.add)
	h.minutes[inHour(minute)] = r
	return nil
}

// Run forgets what is older than Kept and saves the minutes that changed, every few seconds and once more when ctx is done;
// it returns the error of that last time. Without a store it only forgets.
func (w *Window) Run(ctx context.Context) error {
	tick := time.NewTicker(saveRollupsEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRollupsIn)
			defer cancel()
			return w.save(ctx)
		case <-tick.C:
			w.logSaves(&failing, w.save(ctx))
		}
	}
}

// save stores the minutes that changed. Those that could not be stored are tried again the next time.
func (w *Window) save(ctx context.Context) error {
	minutes, values, first := w.unsaved(w.now())
	if w.store == nil {
		return nil
	}
	if len(values) > 0 {
		if err := w.store.SaveAll(ctx, values); err != nil {
			w.markUnsaved(minutes)
			return fmt.Errorf("save telemetry: %w", err)
		}
	}
	if w.dropped != first {
		if err := w.store.DropBelow(ctx, keyOf(first)); err != nil {
			return fmt.Errorf("drop old telemetry: %w", err)
		}
		w.dropped = first
	}
	return nil
}

// unsaved forgets what is too old and hands out the minutes that changed, as what they are to be stored, and the first
// minute that is kept.
func (w *Window) unsaved(now time.Time) (minutes map[int64]bool, values map[string][]byte, first int64) {
	w.folding.Lock()
	defer w.folding.Unlock()
	w.fold()
	first = w.forget(now)
	minutes, w.changed = w.changed, map[int64]bool{}
	values = make(map[string][]byte, len(minutes))
	for minute := range minutes {
		values[keyOf(minute)] = w.hours[hourOf(minute)].minutes[inHour(minute)]
	}
	return minutes, values, first
}

func (w *Window) markUnsaved(minutes map[int64]bool) {
	w.folding.Lock()
	defer w.folding.Unlock()
	maps.Copy(w.changed, minutes)
}

// logSaves writes one line when saving begins to fail and one when it works again, however long it failed.
func (w *Window) logSaves(failing *bool, err error) {
	switch {
	case err != nil && !*failing:
		w.log.Warn("telemetry is not saved", "error", err)
	case err == nil && *failing:
		w.log.Info("telemetry is saved again")
	}
	*failing = err != nil
}

func keyOf(minute int64) string { return time.Unix(minute*60, 0).UTC().Format(minuteKey) }
