package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// settling is how long the streams stand before the memory is read: what was garbage of their beginning is collected, or
// is what such a burst costs.
const settling = time.Second

// idleRounds: memory spreads far less than time.
const idleRounds = 3

const idleName = "idle streams"

// measureIdle measures the memory of o.idle open streams in processes that have done nothing else.
func measureIdle(ctx context.Context, from builds, o options, progress io.Writer) ([]sample, error) {
	if o.idle == 0 {
		return nil, nil
	}
	var all []sample
	for round := range min(idleRounds, o.rounds) {
		fmt.Fprintf(progress, "%s: round %d of %d\n", idleName, round+1, min(idleRounds, o.rounds))
		p, err := startParts(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, t := range p.targets {
			if t.name == directName || t.foreign || t.kept {
				continue
			}
			found, err := p.idle(ctx, t, o.idle, settling)
			if err != nil {
				p.stop()
				return nil, fmt.Errorf("%s: %w", idleName, err)
			}
			found.Round = round + 1
			all = append(all, found)
		}
		if err := p.stop(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// idle opens count streams, which all stand still after their first piece, and then lets them end.
func (p *parts) idle(ctx context.Context, t *target, count int, settle time.Duration) (sample, error) {
	s := scenario{Name: fmt.Sprintf("%s, %d", idleName, count), Clients: count, ask: ask{size: small, chunks: 2, held: true}, unit: "stream"}
	var numbers atomic.Int64
	if err := p.rouse(ctx, t, &numbers); err != nil {
		return sample{}, err
	}
	ctx, c := newCrew(ctx, t, &s, &numbers)
	defer c.close()
	before, err := residentKiB(t.pid)
	if err != nil {
		return sample{}, err
	}
	if err := c.each(ctx, func(one *client) error {
		c.calls.Add(1)
		return c.excuse(ctx, one.hold(ctx, call{s.ask, one.session}))
	}); err != nil {
		return sample{}, err
	}
	time.Sleep(settle)
	after, err := residentKiB(t.pid)
	if err != nil {
		return sample{}, err
	}
	if err := p.release(); err != nil {
		return sample{}, err
	}
	held := count - c.broken
	err = c.each(ctx, func(one *client) error {
		if one.conn == nil { // an excused one
			return nil
		}
		what := call{s.ask, one.session}
		return c.excuse(ctx, one.settle(ctx, what, one.finish(what)))
	})
	return sample{Scenario: s.Name, Unit: s.unit, Target: t.name, Figures: map[string]float64{
		figStream:   float64(after-before) / float64(held),
		figResident: float64(after),
		figCalls:    float64(count - c.broken),
		figBroken:   float64(c.broken),
	}}, err
}

// rouse makes a few calls, so that what a process needs once is there before its memory is read.
func (p *parts) rouse(ctx context.Context, t *target, numbers *atomic.Int64) error {
	ctx, c := newCrew(ctx, t, &scenario{Clients: 16, ask: ask{size: small, chunks: 10}}, numbers)
	defer c.close()
	return c.work(ctx, 100*time.Millisecond)
}

// hold makes a call and reads its answer up to the first piece.
func (c *client) hold(ctx context.Context, what call) error {
	err := c.begin(ctx, what)
	if err == nil {
		_, err = c.in.readChunk(c.r)
	}
	return c.settle(ctx, what, err)
}
