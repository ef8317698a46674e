package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// callLimit bounds what one measurement may ask, besides its time.
const callLimit = 1_000_000

// crew are the clients of one measurement. Their connections last from its warming up to its end.
type crew struct {
	target   *target
	scenario *scenario
	clients  []*client
	numbers  *atomic.Int64 // of calls, over the whole run
	calls    atomic.Int64  // begun
	cancel   context.CancelCauseFunc

	mu     sync.Mutex
	took   []time.Duration // of the calls that were answered
	broken int
}

// newCrew makes a crew and the context of its life: it ends with the crew, or with the first error of a client.
func newCrew(ctx context.Context, t *target, s *scenario, numbers *atomic.Int64) (context.Context, *crew) {
	c := &crew{target: t, scenario: s, numbers: numbers}
	for i := range s.Clients {
		c.clients = append(c.clients, newClient(t, i))
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	return ctx, c
}

func (c *crew) close() {
	c.cancel(nil)
	for _, one := range c.clients {
		one.close()
	}
}

// forget drops what was measured so far.
func (c *crew) forget() { c.took, c.broken = nil, 0 }

// work asks for as long as window says, and a little more: what was begun is waited for.
func (c *crew) work(ctx context.Context, window time.Duration) error {
	c.calls.Store(0)
	if c.scenario.Rate > 0 {
		return c.openLoop(ctx, window)
	}
	return c.closedLoop(ctx, window)
}

// closedLoop lets every client ask again as soon as it was answered, and at least once. The clients of paced streams begin
// one after the other, so that their pieces do not come all at once.
func (c *crew) closedLoop(ctx context.Context, window time.Duration) error {
	end := time.Now().Add(window)
	return c.each(ctx, func(one *client) error {
		if pace := c.scenario.ask.pace; pace > 0 {
			time.Sleep(pace * time.Duration(one.session) / time.Duration(len(c.clients)))
		}
		var took []time.Duration
		for first := true; first || time.Now().Before(end) && c.calls.Load() < callLimit; first = false {
			began := time.Now()
			ok, err := c.call(ctx, one)
			if err != nil {
				return err
			}
			if ok {
				took = append(took, time.Since(began))
			}
		}
		c.add(took)
		return nil
	})
}

// openLoop asks at the scenario's rate, by whichever client is free. A call's time begins when it was due, not when a
// client was free for it: a target that stalls delays the calls behind, and that is its doing.
func (c *crew) openLoop(ctx context.Context, window time.Duration) error {
	count := min(max(int(window.Seconds()*float64(c.scenario.Rate)), 1), callLimit)
	due := make(chan time.Time, count) // never full: the pacer waits for nobody
	var pacer sync.WaitGroup
	pacer.Go(func() {
		defer close(due)
		began := time.Now()
		for i := range count {
			at := began.Add(time.Duration(i) * time.Second / time.Duration(c.scenario.Rate))
			nap(time.Until(at))
			if ctx.Err() != nil {
				return
			}
			due <- at
		}
	})
	defer pacer.Wait()
	return c.each(ctx, func(one *client) error {
		var took []time.Duration
		for at := range due {
			ok, err := c.call(ctx, one)
			if err != nil {
				return err
			}
			if ok {
				took = append(took, time.Since(at))
			}
		}
		c.add(took)
		return nil
	})
}

// call makes one call and reports whether it was answered.
func (c *crew) call(ctx context.Context, one *client) (ok bool, err error) {
	c.calls.Add(1)
	err = one.do(ctx, call{c.scenario.ask, int(c.numbers.Add(1))})
	return err == nil, c.excuse(ctx, err)
}

// excuse counts a cut answer of a target that is known to cut some. Any other error is the run's.
func (c *crew) excuse(ctx context.Context, err error) error {
	if c.target.flaw == "" || !errors.Is(err, errCut) || ctx.Err() != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken++
	if c.broken > 20 && int64(c.broken) > c.calls.Load()/20 {
		return fmt.Errorf("%d of %d answers cut, more than its flaw explains (%s): %w", c.broken, c.calls.Load(), c.target.flaw, err)
	}
	return nil
}

func (c *crew) add(took []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took = append(c.took, took...)
}

// each runs f for every client at once. The first error ends them all and is returned.
func (c *crew) each(ctx context.Context, f func(*client) error) error {
	var wg sync.WaitGroup
	for _, one := range c.clients {
		wg.Go(func() {
			if err := f(one); err != nil {
				c.cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// sorted are the times of the calls, the shortest first.
func (c *crew) sorted() []time.Duration {
	slices.Sort(c.took)
	return c.took
}
