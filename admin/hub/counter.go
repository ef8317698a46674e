package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// reserved is how many numbers are promised to be used up before they are: one write serves as many draws.
	reserved = 1000
	// saveWithin bounds how long a draw waits for its promise to be kept.
	saveWithin = 5 * time.Second
	// counterKey is where a Counter keeps its promise.
	counterKey = "counter"
)

// Keep is where a Counter keeps one small value over restarts. What Save has returned without an error survives a crash.
type Keep interface {
	Load(ctx context.Context, key string) (value []byte, ok bool, err error)
	Save(ctx context.Context, key string, value []byte) error
}

// Counter is a Sequence of one hub. It saves ahead how far it may count, and begins there after a restart: numbers are
// skipped, never repeated. When nothing can be saved it goes on under a new epoch.
type Counter struct {
	keep     Keep
	newEpoch func() string
	log      *slog.Logger

	mu   sync.Mutex
	last Stamp
	own  Stamp // how far it may count
}

// CounterOptions are what a Counter needs.
type CounterOptions struct {
	Keep     Keep          // nil = nothing survives the process
	NewEpoch func() string // a name that no store has had: called for a store that is new, broken, or cannot be written
	Logger   *slog.Logger  // nil = silence
}

// promise is the saved form.
type promise struct {
	Epoch      string `json:"epoch"`
	Generation uint64 `json:"generation"`
	Seq        uint64 `json:"seq"`
	Event      uint64 `json:"event"`
}

// OpenCounter is the counter that was kept, or a new one. What is kept and cannot be read is replaced, with a warning: the
// new epoch tells everybody.
func OpenCounter(ctx context.Context, o CounterOptions) (*Counter, error) {
	c := &Counter{keep: o.Keep, newEpoch: o.NewEpoch, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
	if c.keep == nil {
		c.last.Epoch = c.newEpoch()
		return c, nil
	}
	value, ok, err := c.keep.Load(ctx, counterKey)
	if err != nil {
		return nil, fmt.Errorf("load the snapshot's counter: %w", err)
	}
	var p promise
	if ok {
		if err := json.Unmarshal(value, &p); err != nil || p.Epoch == "" || p.Seq < p.Generation {
			c.log.Warn("the snapshot's counter is broken and begins anew", "error", err)
			p = promise{}
		}
	}
	if p.Epoch == "" {
		p.Epoch = c.newEpoch()
	}
	c.last, c.own = Stamp(p), Stamp(p)
	return c, nil
}

// Draw implements Sequence.
func (c *Counter) Draw(ctx context.Context, d Draw, known Stamp) Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known.Epoch == c.last.Epoch {
		c.last.Generation, c.last.Seq, c.last.Event = max(c.last.Generation, known.Generation), max(c.last.Seq, known.Seq), max(c.last.Event, known.Event)
	}
	next := d.after(c.last)
	if next.Generation > c.own.Generation || next.Seq > c.own.Seq || next.Event > c.own.Event {
		next.Epoch = c.reserve(ctx, next)
	}
	c.last = next
	return next
}

// reserve promises more numbers than were asked for, and says under which epoch they are given out.
func (c *Counter) reserve(ctx context.Context, next Stamp) (epoch string) {
	c.own = Stamp{next.Epoch, next.Generation + reserved, next.Seq + reserved, next.Event + reserved}
	if c.keep == nil {
		return next.Epoch
	}
	if err := c.save(ctx, c.own); err != nil {
		c.own.Epoch = c.newEpoch()
		c.log.Error("the snapshot's counter cannot be kept: it goes on under another epoch", "error", err)
	}
	return c.own.Epoch
}

// save does not depend on the patience of the one who drew: the promise is everybody's.
func (c *Counter) save(ctx context.Context, own Stamp) error {
	value, err := json.Marshal(promise(own))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	return c.keep.Save(ctx, counterKey, value)
}
