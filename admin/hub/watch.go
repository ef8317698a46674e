package hub

import (
	"context"
	"time"
)

const (
	// lookEvery is how often the store looks unasked: cool-downs end and windows are reset without anybody telling.
	lookEvery = time.Second
	// settle is how long it leaves others alone after a look, at least: a burst of changes becomes one picture.
	settle = 100 * time.Millisecond
	// idleShare is how many times as long as a look took it rests after it.
	idleShare = 10
)

// Touch tells that something may have changed. It never waits, and may be called from anywhere, however often.
func (s *Store) Touch() {
	select {
	case s.touched <- struct{}{}:
	default:
	}
}

// Run publishes what changes, until ctx ends: soon after a Touch, and by itself every second.
func (s *Store) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.touched:
		case <-ticker.C:
		}
		began := s.now()
		_ = s.Sync(ctx) // it has told the log, and the next look tries again
		rest := time.NewTimer(max(settle, idleShare*s.now().Sub(began)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return nil
		case <-rest.C:
		}
	}
}
