package hub

import (
	"context"
	"encoding/json"
)

// batch is how many events a subscriber is given at once.
const batch = 64

// Subscription is one follower's place on the bus. It needs no closing. One goroutine uses it.
type Subscription struct {
	bus    *Bus
	next   uint64 // position
	missed bool
}

// Subscribe follows the events from now on, or, with the ID of the last event that was received, from the one after it. An
// ID that is not among those kept, or is another store's, leads to a RESYNC first.
func (b *Bus) Subscribe(lastEventID string) *Subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &Subscription{bus: b, next: b.next}
	if lastEventID == "" || lastEventID == b.lastID {
		return s
	}
	for p := b.next; p > b.first; p-- {
		if b.ring[(p-1)%ringEvents].ID == lastEventID {
			s.next = p
			return s
		}
	}
	s.missed = true
	return s
}

// Next returns the events since the last call, some at a time, and waits when there are none. A RESYNC stands for all that
// were published before it. The error is ctx's.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) {
	for {
		events, more := s.take()
		if len(events) > 0 {
			return events, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take returns what is there, or a channel that is closed when there is more.
func (s *Subscription) take() ([]Event, <-chan struct{}) {
	b := s.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.missed || s.next < b.first {
		s.missed, s.next = false, b.next
		b.resyncs++
		return []Event{b.resync()}, nil
	}
	events := make([]Event, 0, min(b.next-s.next, batch))
	for ; s.next < b.next && len(events) < batch; s.next++ {
		events = append(events, b.ring[s.next%ringEvents])
	}
	return events, b.more
}

// resync is the event for those who missed some. Its ID is that of the newest one, which it stands for.
func (b *Bus) resync() Event {
	data, _ := json.Marshal(&Resync{b.now}) // numbers alone: it cannot fail
	return Event{ID: b.lastID, Name: EventResync, Data: string(data)}
}
