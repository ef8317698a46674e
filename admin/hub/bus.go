package hub

import (
	"strconv"
	"sync"
)

const (
	// ringEvents and ringBytes bound what is kept for those who lag or come back.
	ringEvents = 1024
	ringBytes  = 8 << 20
)

// Event is one event as it goes over the wire.
type Event struct {
	ID   string // "<epoch>-<n>", n without gaps in one life of a hub
	Name EventName
	Data string // the payload's JSON
}

// Bus hands events to those who follow them. It keeps the last ones, once for all: a subscriber is a place in them and
// nothing more, so that one which does not read costs nobody anything. One that falls behind what is kept is told to read
// the snapshot again. The zero Bus is not ready; see NewBus.
type Bus struct {
	mu      sync.Mutex
	ring    []Event // of position p at p % ringEvents
	first   uint64  // position of the oldest one kept
	next    uint64  // position of the next one
	bytes   int     // of the payloads kept
	lastID  string  // of the newest event, kept or not
	now     Numbers // of the picture of the newest event
	more    chan struct{}
	resyncs uint64
}

// NewBus is a bus on which nothing was published yet.
func NewBus() *Bus {
	return &Bus{ring: make([]Event, ringEvents), more: make(chan struct{})}
}

// Resyncs counts how often a subscriber was told to read the snapshot again.
func (b *Bus) Resyncs() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.resyncs
}

// open says what the newest picture is, and which number the last event had, before there is one.
func (b *Bus) open(s Stamp) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastID, b.now = eventID(s.Epoch, s.Event), Numbers{s.Generation, s.Seq}
}

// publish adds events and wakes everybody. now are the numbers of the newest picture, which can be read already. It never
// waits for a subscriber.
func (b *Bus) publish(events []Event, now Numbers) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range events {
		if b.next-b.first == ringEvents {
			b.drop()
		}
		b.ring[b.next%ringEvents] = e
		b.next, b.bytes, b.lastID = b.next+1, b.bytes+len(e.Data), e.ID
		for b.bytes > ringBytes && b.next-b.first > 1 {
			b.drop()
		}
	}
	b.now = now
	close(b.more)
	b.more = make(chan struct{})
}

// drop forgets the oldest event.
func (b *Bus) drop() {
	oldest := &b.ring[b.first%ringEvents]
	b.bytes -= len(oldest.Data)
	*oldest = Event{}
	b.first++
}

func eventID(epoch string, n uint64) string { return epoch + "-" + strconv.FormatUint(n, 10) }
