package probe

import (
	"context"
	"fmt"
	"time"
)

// Run looks at every account when that is due, until ctx is done. It then cancels what is under way and waits for it; a
// Prober runs once.
func (p *Prober) Run(ctx context.Context) error {
	defer p.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return nil
		}
		timer.Reset(p.startDue(ctx))
	}
}

// startDue starts the looks that are due and says how long the next one has time.
func (p *Prober) startDue(ctx context.Context) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, wait := p.now(), p.ttl
	for _, u := range p.units {
		switch {
		case u.flight != nil: // its end wakes the schedule
		case u.due.After(now):
			wait = min(wait, u.due.Sub(now))
		default:
			p.launch(ctx, u, false)
		}
	}
	return wait
}

// Refresh looks at a profile's account now and returns what is known then. Without force a look of the last TTL stands, and
// no call is made; with it, only a wait that the provider asked for does. All who ask while a look is under way share it;
// it goes on when one of them leaves.
func (p *Prober) Refresh(ctx context.Context, profile string, force bool) (Result, error) {
	f, known, err := p.join(ctx, profile, force)
	if err != nil {
		return Result{}, fmt.Errorf("refresh profile %s: %w", profile, err)
	}
	if f == nil {
		return known, nil
	}
	select {
	case <-f.done:
		return f.results[profile], nil
	case <-ctx.Done():
		return Result{}, fmt.Errorf("refresh profile %s: %w", profile, context.Cause(ctx))
	}
}

// join is the look to wait for; nil when what is known stands.
func (p *Prober) join(ctx context.Context, profile string, force bool) (*flight, Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.targets[profile].unit
	switch {
	case p.stopped:
		return nil, Result{}, ErrStopped
	case u == nil:
		return nil, Result{}, ErrUnknownProfile
	case u.flight != nil:
		return u.flight, Result{}, nil
	}
	now := p.now()
	if known, ok := p.known[profile]; ok && (u.held.After(now) || !force && u.fresh.After(now)) {
		return nil, known, nil
	}
	return p.launch(ctx, u, force), Result{}, nil
}

// launch starts a look. It runs under mu. The look is not the caller's: it ends by itself, or with Run.
func (p *Prober) launch(ctx context.Context, u *unit, force bool) *flight {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{cancel: cancel, done: make(chan struct{}), results: map[string]Result{}}
	u.flight = f
	p.flying.Go(func() {
		defer cancel()
		p.fly(ctx, u, f, force)
	})
	return f
}

// stop ends every look and waits for it.
func (p *Prober) stop() {
	p.mu.Lock()
	p.stopped = true
	for _, u := range p.units {
		if u.flight != nil {
			u.flight.cancel()
		}
	}
	p.mu.Unlock()
	p.flying.Wait()
}

// poke tells the schedule that something has changed.
func (p *Prober) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
