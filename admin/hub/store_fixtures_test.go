package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// stage is a store over a scene, whose sources it collects.
type stage struct {
	*scene
	store    *Store
	follower *Subscription
	mu       sync.Mutex // of the scene: the store collects on whatever goroutine
	broken   any        // what collecting panics with
	calls    *telemetry.Breakdown
	machine  *host.Metrics
}

func newStage(t testing.TB, s *scene) *stage { return stageOver(t, s, memory("e1")) }

// memory is a sequence of its own epoch that forgets.
func memory(epoch string) *Counter {
	c, _ := OpenCounter(context.Background(), CounterOptions{NewEpoch: func() string { return epoch }}) // nothing to load: it cannot fail
	return c
}

func stageOver(t testing.TB, s *scene, sequence Sequence) *stage {
	t.Helper()
	g := &stage{scene: s}
	g.store = NewStore(t.Context(), StoreOptions{Sequence: sequence, Collect: g.collect, Measure: g.measured, Now: func() time.Time { return s.now }})
	g.follower = g.store.Bus().Subscribe("")
	return g
}

func (g *stage) collect(context.Context) Sources {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		panic(g.broken)
	}
	src := g.Sources
	src.Router = g.router.Snapshot()
	// The scene's maps change; what was collected does not.
	src.Identities, src.Looks, src.ActiveCalls = maps.Clone(src.Identities), maps.Clone(src.Looks), maps.Clone(src.ActiveCalls)
	return src
}

func (g *stage) measured(context.Context) (*telemetry.Breakdown, *host.Metrics) {
	return g.calls, g.machine
}

// refresh is a refresh of everything that finds out nothing.
func (g *stage) refresh() {
	g.t.Helper()
	if err := g.store.Complete(g.t.Context(), g.store.Begin(g.t.Context(), KeyAll)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *stage) sync() {
	g.t.Helper()
	if err := g.store.Sync(g.t.Context()); err != nil {
		g.t.Fatal(err)
	}
}

// numbers are those of the current picture, as "generation/seq".
func (g *stage) numbers() string {
	s := g.store.Current().Stamp()
	return fmt.Sprintf("%d/%d", s.Generation, s.Seq)
}

// events are those since the last call, each as "NAME whom generation/seq".
func (g *stage) events() []string {
	g.t.Helper()
	var all []string
	for {
		events, _ := g.follower.take()
		if len(events) == 0 {
			return all
		}
		for _, e := range events {
			all = append(all, eventText(g.t, e))
		}
	}
}

func eventText(t testing.TB, e Event) string {
	t.Helper()
	var p struct {
		ProfileID  string  `json:"profile_id"`
		RoleID     string  `json:"role_id"`
		Key        string  `json:"key"`
		Error      string  `json:"error"`
		Generation *uint64 `json:"generation"`
		Seq        *uint64 `json:"seq"`
	}
	if err := json.Unmarshal([]byte(e.Data), &p); err != nil || p.Generation == nil || p.Seq == nil {
		t.Fatalf("%s %s: %v", e.Name, e.Data, err)
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %d/%d", e.Name, p.ProfileID+p.RoleID+p.Key, p.Error, *p.Generation, *p.Seq)), " ")
}

func expectEvents(t *testing.T, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", text, strings.TrimSpace(want))
	}
}

// decoded is an edition as a reader gets it.
func decoded(t testing.TB, e *Edition, now time.Time) HubSnapshot {
	t.Helper()
	var b strings.Builder
	if err := e.WriteJSON(&b, now); err != nil {
		t.Fatal(err)
	}
	if b.Len() != e.Size(now) {
		t.Errorf("%d bytes were written, %d were told", b.Len(), e.Size(now))
	}
	var s HubSnapshot
	if err := json.Unmarshal([]byte(b.String()), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
