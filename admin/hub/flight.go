package hub

import (
	"context"
	"errors"
	"fmt"
)

// ErrStopped is a refresh's that is asked for after Run has ended.
var ErrStopped = errors.New("the scheduler has stopped")

// flight is one refresh under way. It is not its first caller's: it goes on when all of them have left.
type flight struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // once done
}

// join is the flight of a key: the one under way, or a new one that does the work.
func (s *Scheduler) join(ctx context.Context, key string, work func(context.Context) error) (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, fmt.Errorf("refresh %s: %w", key, ErrStopped)
	}
	if f := s.flights[key]; f != nil {
		s.store.deduplicated()
		return f, nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{cancel: cancel, done: make(chan struct{})}
	s.flights[key] = f
	s.flying.Go(func() {
		defer cancel()
		defer s.land(key, f)
		f.err = work(ctx)
	})
	return f, nil
}

// land frees the key, whatever became of the work.
func (s *Scheduler) land(key string, f *flight) {
	s.mu.Lock()
	delete(s.flights, key)
	s.mu.Unlock()
	close(f.done)
}

// wait is what a flight came to. The error is ctx's when that ends first.
func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop cancels every flight and waits for it. There are no new ones.
func (s *Scheduler) stop() {
	s.mu.Lock()
	s.stopped = true
	for _, f := range s.flights {
		f.cancel()
	}
	s.mu.Unlock()
	s.flying.Wait()
}
