package router

import (
	"fmt"
	"testing"
	"time"

	"hermes-hub/quota"
)

// household is a role over 22 accounts, the size of the Python hub's default, some of them in trouble and one bound.
func household(t testing.TB) *Router {
	t.Helper()
	var profiles []Profile
	var ids []string
	for i := range 22 {
		p := account(fmt.Sprintf("p%d", i), "gpt-5.5", "claude-sonnet-4-6", "gemini-3.7-flash")
		p.MaxConcurrency = 4
		p.Capabilities = []string{"coding"}
		profiles = append(profiles, p)
		if i < 4 {
			ids = append(ids, p.ID)
		}
	}
	r := role("r", ids...)
	r.FallbackCapabilities = []string{"coding"}
	s := settings()
	s.AutoReturnPrimary = false
	router := New(tableWith(t, s, profiles, r), Options{})
	for i := range 6 {
		rd := refusal(quota.QuotaExhausted, quota.ScopeFamily, time.Now().Add(time.Hour))
		router.Observe(profiles[i].ID, call("gpt-5.5", time.Now()), rd)
	}
	router.Bind("session", "r", "p9")
	return router
}

// Choosing costs no allocation once the plan's memory is there, whichever way the model is decided.
func TestChooseAllocatesNothing(t *testing.T) {
	r := household(t)
	s, now := r.Snapshot(), time.Now()
	for _, q := range []Query{
		{Role: s.Table.Roles[0], Model: "gpt-5.5"}, {Role: s.Table.Roles[0], Model: "unheard-of"}, {Role: s.Table.Roles[0], AnyNode: true},
	} {
		var p Plan
		Choose(s, q, 9, s.Occupancy(), now, &p)
		if len(p.Nodes) != 22 {
			t.Fatalf("%d nodes", len(p.Nodes))
		}
		if got := testing.AllocsPerRun(100, func() { Choose(s, q, 9, s.Occupancy(), now, &p) }); got != 0 {
			t.Errorf("%+v: %v allocations", q, got)
		}
	}
}

// A success that measured nothing on an account nothing stands against costs no allocation and publishes nothing.
func TestObserveOKAllocatesNothing(t *testing.T) {
	r := household(t)
	before, c := r.Snapshot(), call("gpt-5.5", time.Now())
	if got := testing.AllocsPerRun(100, func() { r.Observe("p9", c, ok()) }); got != 0 || r.Snapshot() != before {
		t.Errorf("%v allocations, published: %v", got, r.Snapshot() != before)
	}
}

func BenchmarkChoose(b *testing.B) {
	r := household(b)
	s, now := r.Snapshot(), time.Now()
	q := Query{Role: s.Table.Roles[0], Model: "gpt-5.5", Session: "session"}
	var p Plan
	b.ReportAllocs()
	for b.Loop() {
		Choose(s, q, 9, s.Occupancy(), now, &p)
	}
}

// BenchmarkPlan is Choose with the look-up of the session's account before it.
func BenchmarkPlan(b *testing.B) {
	r := household(b)
	q := Query{Role: r.Snapshot().Table.Roles[0], Model: "gpt-5.5", Session: "session"}
	var p Plan
	b.ReportAllocs()
	for b.Loop() {
		r.Plan(q, &p)
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	r := household(b)
	var p Plan
	r.Plan(Query{Role: r.Snapshot().Table.Roles[0], Model: "gpt-5.5", Session: "session"}, &p)
	b.ReportAllocs()
	for b.Loop() {
		lease, no := r.Acquire(&p.Nodes[0], Holder{Session: "session", Role: "r"})
		if lease == nil {
			b.Fatal(no)
		}
		lease.Release()
	}
}

func BenchmarkObserveOK(b *testing.B) {
	r := household(b)
	c := call("gpt-5.5", time.Now())
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Observe("p9", c, ok())
		}
	})
}

// BenchmarkObserveMeasured is a success whose headers measured a window: a new snapshot each time.
func BenchmarkObserveMeasured(b *testing.B) {
	r := household(b)
	c, rd := call("gpt-5.5", time.Now()), ok()
	rd.Source = quota.SourceProviderAPI
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		rd.Buckets = []quota.Bucket{{ID: "p9.minute", Remaining: quota.Known(float64(i))}}
		c.At = c.At.Add(time.Millisecond)
		r.Observe("p9", c, rd)
	}
}

func BenchmarkTrailsRecord(b *testing.B) {
	r := household(b)
	var p Plan
	r.Plan(Query{Role: r.Snapshot().Table.Roles[0], Model: "gpt-5.5"}, &p)
	tried := []Tried{{Profile: "p6", Model: "gpt-5.5", Class: Succeeded, At: time.Now()}}
	ids := make([]string, 2*trailsCap)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	var trails Trails
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		trails.Record(ids[i%len(ids)], &p, RoleExplicit, tried)
	}
}
