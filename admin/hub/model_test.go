package hub

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model is what a store must come to, kept the simple way.
type model struct {
	*stage
	rt       *rapid.T
	keep     *shelf
	names    func() string
	tickets  []Ticket          // begun and not ended
	accepted map[string]uint64 // the last ticket that was, by key
	last     Stamp             // of the picture that a client holds
	epoch    string            // of the events
	event    uint64            // number of the last event that was seen
	skipped  uint64
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{rt: rt, keep: &shelf{}, names: epochs()}
	m.start(anything(t, rt))
	return m
}

// start is a start of the hub, or a crash and a start: the store and its counter begin anew with what was kept. What clients
// hold stays.
func (m *model) start(s *scene) {
	counter, known := open(s.t, m.keep, m.names), m.keep.value != nil
	m.stage = stageOver(s.t, s, counter)
	m.tickets, m.accepted, m.skipped = nil, map[string]uint64{}, 0
	if known != (counter.last.Epoch == m.epoch) {
		m.rt.Fatalf("epoch %s after %s", counter.last.Epoch, m.epoch)
	}
	m.epoch, m.event = counter.last.Epoch, counter.last.Event
	if e := m.store.Current(); e.Stamp().Generation != 0 || !e.Stale(m.now) {
		m.rt.Fatalf("after a start there is %+v", e.Stamp())
	}
}

// complete ends a refresh that has begun, in any order.
func (m *model) complete(i int) {
	ticket := m.tickets[i]
	m.tickets = slices.Delete(m.tickets, i, i+1)
	before := m.store.Current()
	err := m.store.Complete(m.t.Context(), ticket)
	late := ticket.Seq <= max(m.accepted[ticket.Key], m.accepted[KeyAll])
	switch {
	case m.broken != nil && !late:
		if err == nil || m.store.Current() != before {
			m.rt.Fatalf("a broken build: %v", err)
		}
	case late != errors.Is(err, ErrLate), !late && err != nil:
		m.rt.Fatalf("%+v: late %v, error %v", ticket, late, err)
	case late:
		m.skipped++
		if m.store.Current() != before {
			m.rt.Fatal("a late refresh was published")
		}
	default:
		m.accepted[ticket.Key] = ticket.Seq
		m.truth()
	}
}

// truth says that what is published is what is so now.
func (m *model) truth() {
	current, fresh := m.store.Current(), m.build()
	if left := Diff(&current.snapshot, &fresh); len(left) > 0 {
		m.rt.Fatalf("what is published lacks %s", left[0].Name())
	}
	if s := current.snapshot; s.Metrics.RefreshSkippedTotal != m.skipped || s.Metrics.Seq != s.Seq {
		m.rt.Fatalf("metrics %+v", s.Metrics)
	}
}

// client reads as the contract says: the picture, and the events since.
func (m *model) client() {
	is := m.store.Current().Stamp()
	if is.Generation > 0 {
		if is.Epoch != m.epoch || m.last.Epoch == m.epoch && (is.Generation < m.last.Generation || is.Seq < is.Generation ||
			is.Generation == m.last.Generation && is.Seq != m.last.Seq || is.Generation > m.last.Generation && is.Seq <= m.last.Seq) {
			m.rt.Fatalf("%+v after %+v", is, m.last) // S03, S18, S21
		}
		m.last = is
	}
	for {
		events, _ := m.follower.take()
		if len(events) == 0 {
			return
		}
		for _, e := range events {
			if m.event++; e.ID != eventID(m.epoch, m.event) {
				m.rt.Fatalf("event %s after %d", e.ID, m.event-1)
			}
			text := eventText(m.t, e)
			var generation, seq uint64
			if _, err := fmt.Sscanf(text[strings.LastIndex(text, " ")+1:], "%d/%d", &generation, &seq); err != nil {
				m.rt.Fatal(err)
			}
			if refresh := e.Name == EventRefreshStarted || e.Name == EventRefreshFailed; generation > is.Generation || !refresh && seq > is.Seq {
				m.rt.Fatalf("%s while the picture has %d/%d", text, is.Generation, is.Seq) // S12
			}
		}
	}
}

// S01–S04, S07, S12, S18, S21 together: refreshes that begin and end in any order, deltas, accounts that come and go, builds
// that break, crashes.
func TestStoreModel(t *testing.T) {
	keys := []string{KeyAll, "provider:claude", "provider:grok", "account:p0"}
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch what := rapid.IntRange(0, 19).Draw(rt, "step"); {
			case what < 4:
				m.tickets = append(m.tickets, m.store.Begin(t.Context(), rapid.SampledFrom(keys).Draw(rt, "key")))
			case what < 10 && len(m.tickets) > 0:
				m.complete(rapid.IntRange(0, len(m.tickets)-1).Draw(rt, "ticket"))
			case what < 13:
				happen(m.scene, rt, rapid.SampledFrom(m.profiles).Draw(rt, "to"))
			case what < 15:
				if err := m.store.Sync(t.Context()); (err != nil) != (m.broken != nil) {
					rt.Fatal(err)
				} else if err == nil && m.store.Current().Stamp().Generation > 0 {
					m.truthOfDelta()
				}
			case what == 15:
				m.broken = []any{nil, "a bug"}[rapid.IntRange(0, 1).Draw(rt, "broken")]
			case what == 16:
				m.change()
			case what == 17:
				m.start(m.scene)
			case what == 18:
				m.after(time.Duration(rapid.IntRange(0, 400).Draw(rt, "seconds")) * time.Second)
			}
			m.client()
		}
	})
}

// truthOfDelta is truth but for the metrics, which a delta that changes nothing does not bring up to date.
func (m *model) truthOfDelta() {
	current, fresh := m.store.Current(), m.build()
	if left := Diff(&current.snapshot, &fresh); len(left) > 0 {
		m.rt.Fatalf("what is published lacks %s", left[0].Name())
	}
}

// change adds an account or removes the last one that was added.
func (m *model) change() {
	if last := m.profiles[len(m.profiles)-1]; last.ID == "extra" {
		m.profiles = m.profiles[:len(m.profiles)-1]
	} else {
		m.profiles = append(slices.Clone(m.profiles), account("grok", "extra", "grok-5"))
	}
	m.reload()
}

// S14: readers are never in anybody's way: while refreshes, deltas and followers are at it from all sides, each sees whole
// pictures whose numbers rise.
func TestStoreRace(t *testing.T) {
	g := newStage(t, team(t))
	g.store.now = func() time.Time { return noon }
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 30 {
				_ = g.store.Complete(t.Context(), g.store.Begin(t.Context(), KeyAll)) // it may be late
			}
		})
	}
	all.Go(func() {
		for n := range 60 {
			g.mu.Lock()
			g.ActiveCalls["opengo-1"] = n
			g.mu.Unlock()
			g.store.Touch()
			_ = g.store.Sync(t.Context()) // nothing can fail here
		}
	})
	for range 4 {
		follower := g.store.Bus().Subscribe("")
		all.Go(func() {
			var last Stamp
			for range 200 {
				e := g.store.Current()
				is := e.Stamp()
				if is.Generation < last.Generation || is.Seq < last.Seq || len(e.snapshot.AllProfiles) != 0 && len(e.snapshot.AllProfiles) != 8 {
					t.Errorf("%+v after %+v", is, last)
				}
				last = is
				_, _ = follower.take()
				_, _ = e.Profile("opengo-1")
			}
		})
	}
	all.Wait()
	if _, ok := g.store.Current().Profile("opengo-1"); !ok {
		t.Error("there is no picture")
	}
}

// Reading 500 accounts: one atomic load and two writes.
func BenchmarkRead500(b *testing.B) {
	g := newStage(b, crowd(b, 500))
	g.refresh()
	e := g.store.Current()
	b.SetBytes(int64(e.Size(noon)))
	for b.Loop() {
		if err := g.store.Current().WriteJSON(discard{}, noon); err != nil {
			b.Fatal(err)
		}
	}
}

// discard is io.Discard without its copy of strings.
type discard struct{}

func (discard) Write(p []byte) (int, error)       { return len(p), nil }
func (discard) WriteString(s string) (int, error) { return len(s), nil }

// A look of the store at 500 accounts of which one has changed: collect, build, compare, encode, publish.
func BenchmarkDelta500(b *testing.B) {
	g := newStage(b, crowd(b, 500))
	g.refresh()
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		g.ActiveCalls["account-007"] = n
		g.sync()
	}
}

// The same where nothing has changed, which is what happens every second.
func BenchmarkIdle500(b *testing.B) {
	g := newStage(b, crowd(b, 500))
	g.refresh()
	b.ReportAllocs()
	for b.Loop() {
		g.sync()
	}
}
