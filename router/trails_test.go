package router

import (
	"strconv"
	"testing"
)

func TestTrails(t *testing.T) {
	var trails Trails
	p := explained(t)
	tried := []Tried{{Profile: "a", Model: "m", Class: "timeout", At: noon}, {Profile: "b", Model: "m", Class: Succeeded, At: noon}}
	want := explanationText(Explain(p, RoleExplicit, tried, "req-1"))
	trails.Record("req-1", p, RoleExplicit, tried)
	trails.Record("req-2", p, RoleExplicit, nil)

	// What was handed in is the caller's again.
	*p = Plan{Nodes: p.Nodes[:0], Snapshot: p.Snapshot, Query: p.Query}
	tried[0], tried[1] = Tried{}, Tried{}
	if e, ok := trails.Find("req-1"); !ok || explanationText(e) != want {
		t.Errorf("got:\n%s\nwant:\n%s", explanationText(e), want)
	}
	if e, ok := trails.Find("req-2"); !ok || e.Chosen != nil {
		t.Errorf("a request that was sent to nobody: %+v", e)
	}
	trails.Record("req-3", &Plan{}, RoleExplicit, nil)
	trails.Seq = func() uint64 { return 77 }
	trails.Record("req-4", p, RoleExplicit, nil)
	if e, _ := trails.Find("req-4"); e.SnapshotSeq != 77 {
		t.Errorf("it tells of snapshot %d", e.SnapshotSeq)
	}
	for _, id := range []string{"req-3", "", "req-9"} {
		if _, ok := trails.Find(id); ok {
			t.Errorf("%q has a story", id)
		}
	}
}

// The ring is bounded: the oldest trail makes room, and a trail keeps no snapshot and no account of another alive.
func TestTrailsForget(t *testing.T) {
	var trails Trails
	long := explained(t)
	short := Plan{Snapshot: long.Snapshot, Query: long.Query, Nodes: long.Nodes[:1]}
	trails.Record("first", long, RoleExplicit, nil)
	for i := range trailsCap {
		trails.Record(strconv.Itoa(i), &short, RoleExplicit, nil)
	}
	if _, ok := trails.Find("first"); ok || len(trails.byID) != trailsCap {
		t.Errorf("the oldest is still there, %d known", len(trails.byID))
	}
	for i := range trailsCap {
		if e, ok := trails.Find(strconv.Itoa(i)); !ok || len(e.Candidates) != 1 {
			t.Errorf("trail %d: %v %v", i, ok, e)
		}
	}
	// "first" had the ring's first place, which the last request took over.
	reused := &trails.ring[0].plan
	if rest := reused.Nodes[:cap(reused.Nodes)]; len(rest) < len(long.Nodes) || rest[1].Profile != nil {
		t.Errorf("memory of %d nodes still names %v", len(rest), rest[1].Profile)
	}
	if reused.Snapshot.Table != nil || reused.Snapshot.Version != 7 {
		t.Errorf("snapshot %+v is kept alive", reused.Snapshot)
	}
	// An id that comes twice is found as it was last, and forgotten once.
	trails.Record("twice", &short, RoleExplicit, nil)
	trails.Record("twice", &short, RoleClientKey, nil)
	if e, _ := trails.Find("twice"); e.RoleSource != RoleClientKey {
		t.Errorf("found %s", e.RoleSource)
	}
	for i := range trailsCap - 1 {
		trails.Record("more "+strconv.Itoa(i), &short, RoleExplicit, nil)
	}
	if _, ok := trails.Find("twice"); !ok {
		t.Error("the second was forgotten with the first")
	}
}
