package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// KeyAll is the key of a refresh of every account. It covers every other key.
const KeyAll = "all_accounts:full"

// keptKeys bounds the keys whose last ticket is remembered.
const keptKeys = 4096

// ErrLate means that a later refresh of the same key was accepted before this one came to its end.
var ErrLate = errors.New("superseded by a later refresh")

// StoreOptions are what a Store works with.
type StoreOptions struct {
	// Collect gathers the sources of this moment, all of them. It must not wait for anybody: it is called under the store's
	// lock, once for each picture.
	Collect func(context.Context) Sources
	// Measure tells the telemetry of the contract's window and the host's metrics, for a picture that is published. It must
	// not wait either. nil of it, or no Measure: null.
	Measure  func(context.Context) (*telemetry.Breakdown, *host.Metrics)
	Sequence Sequence
	Bus      *Bus             // nil = one of its own
	Now      func() time.Time // nil = time.Now
	Logger   *slog.Logger     // nil = silence
}

// Store holds the newest picture, and publishes the next one with the events that lead to it.
type Store struct {
	collect  func(context.Context) Sources
	measure  func(context.Context) (*telemetry.Breakdown, *host.Metrics)
	sequence Sequence
	bus      *Bus
	now      func() time.Time
	log      *slog.Logger
	touched  chan struct{} // holds one: something may have changed

	current atomic.Pointer[Edition]

	mu        sync.Mutex                                   // of those who publish
	last      Stamp                                        // given out last
	accepted  map[string]uint64                            // the ticket of the last refresh that was accepted, by key
	counts    struct{ runs, deduplicated, skipped uint64 } // of refreshes: begun, joined to one under way, late
	refreshed time.Time                                    // when the last refresh was accepted
}

// NewStore is a store with nothing but the bootstrap in it.
func NewStore(ctx context.Context, o StoreOptions) *Store {
	s := &Store{
		collect: o.Collect, measure: o.Measure, sequence: o.Sequence, bus: o.Bus, now: o.Now, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		touched: make(chan struct{}, 1), accepted: make(map[string]uint64),
	}
	if s.bus == nil {
		s.bus = NewBus()
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.last = s.sequence.Draw(ctx, Draw{}, Stamp{})
	first, _ := newEdition(bootstrap(s.now()), Stamp{Epoch: s.last.Epoch}, time.Time{}) // plain values: it cannot fail
	s.current.Store(first)
	s.bus.open(Stamp{Epoch: s.last.Epoch, Event: s.last.Event})
	return s
}

// Current is the newest picture. It costs one atomic load and builds nothing.
func (s *Store) Current() *Edition { return s.current.Load() }

// Bus is where the store's events are published.
func (s *Store) Bus() *Bus { return s.bus }

// Await is the newest picture once its seq is seq or above. The error is ctx's.
func (s *Store) Await(ctx context.Context, seq uint64) (*Edition, error) {
	for {
		e := s.Current()
		if e.snapshot.Seq >= seq {
			return e, nil
		}
		select {
		case <-e.replaced:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Ticket is the right of a refresh to be published, unless a later one was.
type Ticket struct {
	Key   string
	Seq   uint64
	began time.Time
}

// Begin takes the ticket of a refresh that begins.
func (s *Store) Begin(ctx context.Context, key string) Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.runs++
	s.last = s.sequence.Draw(ctx, Draw{Ticket: true, Events: 1}, s.last)
	t := Ticket{key, s.last.Seq, s.now()}
	s.announce([]Payload{&RefreshStarted{Key: key}}, t.Seq)
	return t
}

// Complete publishes what is known now as what the refresh came to. The error is ErrLate, when a later refresh of the key or
// of everything has been accepted, or that of the build; the picture then stays, and REFRESH_FAILED says why.
func (s *Store) Complete(ctx context.Context, t Ticket) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Seq <= s.accepted[t.Key] || t.Seq <= s.accepted[KeyAll] {
		s.counts.skipped++
		s.fail(ctx, t, ErrLate)
		return fmt.Errorf("refresh %s: %w", t.Key, ErrLate)
	}
	before := s.refreshed
	s.refreshed = s.now()
	err := s.publish(ctx, func(_ *HubSnapshot, events []Payload) []Payload {
		return append(events, &RefreshCompleted{DurationMS: milliseconds(s.now().Sub(t.began))})
	})
	if err != nil {
		s.refreshed = before
		s.fail(ctx, t, err)
		return fmt.Errorf("refresh %s: %w", t.Key, err)
	}
	if len(s.accepted) >= keptKeys {
		clear(s.accepted)
	}
	s.accepted[t.Key] = t.Seq
	return nil
}

// Fail tells that a refresh came to nothing.
func (s *Store) Fail(ctx context.Context, t Ticket, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(ctx, t, err)
}

// fail runs under mu.
func (s *Store) fail(ctx context.Context, t Ticket, err error) {
	s.last = s.sequence.Draw(ctx, Draw{Events: 1}, s.last)
	s.announce([]Payload{&RefreshFailed{Key: t.Key, Error: err.Error()}}, t.Seq)
}

// Sync publishes what is known now, if that is anything new. It is no refresh: it makes no picture fresh, and none late.
func (s *Store) Sync(ctx context.Context) error {
	return s.delta(ctx, func(_ *HubSnapshot, events []Payload) []Payload { return events })
}

// Publish is Sync that publishes in any case: an operator's action is answered by a picture with a higher seq.
func (s *Store) Publish(ctx context.Context) error {
	return s.delta(ctx, func(_ *HubSnapshot, events []Payload) []Payload {
		if events == nil {
			events = []Payload{}
		}
		return events
	})
}

// CredentialChanged is Publish after an account was given a credential, or lost it: that is told also where the account
// stands as it did.
func (s *Store) CredentialChanged(ctx context.Context, profileID string) error {
	return s.delta(ctx, func(next *HubSnapshot, events []Payload) []Payload {
		for _, e := range events {
			if told, ok := e.(*AccountAuthChanged); ok && told.ProfileID == profileID {
				return events
			}
		}
		if p := next.AllProfiles[profileID]; p != nil {
			events = append(events, p.authChanged())
		}
		return events
	})
}

func (s *Store) delta(ctx context.Context, more func(*HubSnapshot, []Payload) []Payload) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.publish(ctx, more); err != nil {
		s.log.Error("snapshot not built; the last one stays", "error", err)
		return err
	}
	return nil
}

// publish builds the picture of now and makes it the current one, with the events that lead to it and those that more makes
// of them; nil of it: there is nothing to publish. It runs under mu. On an error everything stays as it was.
func (s *Store) publish(ctx context.Context, more func(*HubSnapshot, []Payload) []Payload) error {
	next, err := s.build(ctx)
	if err != nil {
		return err
	}
	events := more(next, Diff(&s.current.Load().snapshot, next))
	if events == nil {
		return nil
	}
	if err := s.addMetrics(ctx, &next.Metrics); err != nil {
		return err
	}
	stamp := s.sequence.Draw(ctx, Draw{Picture: true, Events: len(events)}, s.last)
	edition, err := newEdition(*next, stamp, s.refreshed)
	if err != nil {
		return err
	}
	s.last = stamp
	close(s.current.Swap(edition).replaced)
	s.announce(events, stamp.Seq)
	return nil
}

// build derives the picture of now. A panic in it is a bug that must not take the hub down: the last picture stays.
func (s *Store) build(ctx context.Context) (next *HubSnapshot, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s.log.Error("building the snapshot panicked", "cause", cause, "stack", string(debug.Stack()))
			next, err = nil, errors.New("build the snapshot: internal error")
		}
	}()
	began := s.now()
	built := Build(s.collect(ctx), began)
	built.Metrics.DurationMS = milliseconds(s.now().Sub(began))
	return &built, nil
}

// addMetrics adds to the metrics what the store counts and what is measured for a picture that is to be published. It must be
// sure that they can be encoded, for events are numbered after it.
func (s *Store) addMetrics(ctx context.Context, m *Metrics) error {
	m.RefreshRunsTotal, m.RefreshDeduplicatedTotal, m.RefreshSkippedTotal = s.counts.runs, s.counts.deduplicated, s.counts.skipped
	if s.measure != nil {
		m.Telemetry, m.Host = s.measure(ctx)
	}
	if _, err := json.Marshal(m); err != nil {
		return fmt.Errorf("encode the metrics: %w", err)
	}
	return nil
}

// announce publishes events that have just been numbered: the last of them has the number of the last stamp. It runs under
// mu, so their order is that of the numbers.
func (s *Store) announce(payloads []Payload, seq uint64) {
	current := s.current.Load().snapshot
	numbers := Numbers{current.Generation, seq}
	events := make([]Event, 0, len(payloads))
	first := s.last.Event - uint64(len(payloads)) + 1
	for i, p := range payloads {
		p.number(numbers)
		data, _ := json.Marshal(p) // views of a picture that was encoded already: it cannot fail
		events = append(events, Event{ID: eventID(s.last.Epoch, first+uint64(i)), Name: p.Name(), Data: string(data)})
	}
	s.bus.publish(events, Numbers{current.Generation, current.Seq})
}

// Deduplicated counts a refresh that was asked for while the same one was under way.
func (s *Store) deduplicated() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.deduplicated++
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
