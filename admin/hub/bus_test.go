package hub

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// numbered are events first..last of an epoch.
func numbered(epoch string, first, last uint64, data string) []Event {
	var events []Event
	for n := first; n <= last; n++ {
		events = append(events, Event{ID: eventID(epoch, n), Name: EventAccountUpdated, Data: data})
	}
	return events
}

// ids are what a subscriber gets until there is no more, a run of them as "e-1…e-9".
func ids(s *Subscription) string {
	var got []string
	for {
		events, _ := s.take()
		if len(events) == 0 {
			break
		}
		for _, e := range events {
			if e.Name == EventResync {
				got = append(got, "RESYNC "+e.ID+" "+e.Data)
			} else {
				got = append(got, e.ID)
			}
		}
	}
	if len(got) > 4 {
		return got[0] + "…" + got[len(got)-1]
	}
	return strings.Join(got, " ")
}

// Whoever comes back goes on behind the last event that he has; whoever has missed some, or comes from another store, is
// told to read the snapshot again, and goes on behind what that stands for.
func TestBusResume(t *testing.T) {
	b := NewBus()
	b.open(Stamp{Epoch: "e", Event: 1000})
	f := func(last, want string) {
		t.Helper()
		if got := ids(b.Subscribe(last)); got != want {
			t.Errorf("after %q: %s, want %s", last, got, want)
		}
	}
	f("", "")
	f("e-1000", "")
	f("e-999", `RESYNC e-1000 {"generation":0,"seq":0}`)
	b.publish(numbered("e", 1001, 1003, "{}"), Numbers{7, 9})
	f("", "")
	f("e-1000", `RESYNC e-1003 {"generation":7,"seq":9}`)
	f("e-1001", "e-1002 e-1003")
	f("e-1003", "")
	f("e-1004", `RESYNC e-1003 {"generation":7,"seq":9}`)
	f("other-1001", `RESYNC e-1003 {"generation":7,"seq":9}`)
	f("\nid: e-1001", `RESYNC e-1003 {"generation":7,"seq":9}`)
	b.publish(numbered("e", 1004, 1003+ringEvents, "{}"), Numbers{8, 10})
	f("e-1003", `RESYNC e-2027 {"generation":8,"seq":10}`) // it is not kept itself any more
	f("e-1004", "e-1005…e-2027")
	b.publish(nil, Numbers{9, 11})
	if b.Resyncs() != 6 {
		t.Errorf("%d resyncs", b.Resyncs())
	}
}

// A subscriber that does not read is no burden: the publisher goes on, what is kept stays bounded, and when it reads at last
// it is told what it missed.
func TestBusOfTheBlocked(t *testing.T) {
	b := NewBus()
	blocked := b.Subscribe("")
	large := strings.Repeat("x", 100<<10)
	for n := range uint64(300) {
		b.publish(numbered("e", n+1, n+1, large), Numbers{n, n})
	}
	if kept := b.next - b.first; kept != ringBytes/uint64(len(large)) || b.bytes > ringBytes {
		t.Errorf("%d events are kept, %d bytes", kept, b.bytes)
	}
	reader := b.Subscribe("")
	b.publish(numbered("e", 301, 301, strings.Repeat("x", 2*ringBytes)), Numbers{300, 300})
	if got := ids(reader); got != "e-301" {
		t.Errorf("one event that is too large by itself: %s", got)
	}
	if got := ids(blocked); got != `RESYNC e-301 {"generation":300,"seq":300}` {
		t.Errorf("the blocked one got %s", got)
	}
	b.publish(numbered("e", 302, 303, "{}"), Numbers{301, 301})
	if got := ids(blocked); got != "e-302 e-303" {
		t.Errorf("then it got %s", got)
	}
}

// Everybody who follows gets every event, once and in order; a wait ends with its context.
func TestBusEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBus()
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make([]string, 50)
		var followers sync.WaitGroup
		for i := range got {
			s := b.Subscribe("")
			followers.Go(func() {
				for {
					events, err := s.Next(ctx)
					if err != nil {
						got[i] += err.Error()
						return
					}
					for _, e := range events {
						got[i] += e.ID + " "
					}
				}
			})
		}
		var want strings.Builder
		for n := range uint64(5) {
			b.publish(numbered("e", n+1, n+1, "{}"), Numbers{})
			fmt.Fprintf(&want, "e-%d ", n+1)
			synctest.Wait()
		}
		cancel(errors.New("gone"))
		followers.Wait()
		for i := range got {
			if got[i] != want.String()+"gone" {
				t.Fatalf("follower %d got %s", i, got[i])
			}
		}
	})
}

// A thousand subscribers that wait, and as many that never read, take less than 30 MB.
func TestBusMemory(t *testing.T) {
	const subscribers = 1000
	b := NewBus()
	before := inUse()
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range subscribers {
		s := b.Subscribe("")
		waiting.Go(func() {
			for {
				if _, err := s.Next(ctx); err != nil {
					return
				}
			}
		})
	}
	blocked := make([]*Subscription, subscribers)
	for i := range blocked {
		blocked[i] = b.Subscribe("")
	}
	for n := range uint64(2 * ringEvents) {
		b.publish(numbered("e", n+1, n+1, strings.Repeat("x", 4<<10)), Numbers{})
	}
	if used := int64(inUse()) - int64(before); used > 30<<20 {
		t.Errorf("%d subscribers take %d MB", subscribers, used>>20)
	} else {
		t.Logf("%d subscribers and what is kept for them take %.1f MB", subscribers, float64(used)/(1<<20))
	}
	cancel()
	waiting.Wait()
	runtime.KeepAlive(blocked)
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func BenchmarkBusPublish1000(b *testing.B) {
	bus := NewBus()
	var waiting sync.WaitGroup
	ctx, cancel := context.WithCancel(b.Context())
	for range 1000 {
		s := bus.Subscribe("")
		waiting.Go(func() {
			for {
				if _, err := s.Next(ctx); err != nil {
					return
				}
			}
		})
	}
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		n++
		bus.publish([]Event{{ID: eventID("e", n), Name: EventAccountUpdated, Data: "{}"}}, Numbers{n, n})
	}
	cancel()
	waiting.Wait()
}
