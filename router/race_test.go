package router

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"hermes-hub/quota"
)

// Requests, reloads, an operator and the admin plane at once, under the race detector: no plan is torn between two tables,
// and at the end no slot is held (L03) and every reading counts.
func TestRouterUnderLoad(t *testing.T) {
	small := table(t, []Profile{limited(3), account("b", "m")}, role("r", "a", "b"))
	large := table(t, []Profile{account("c", "m"), account("b", "m"), limited(2)}, role("r", "b", "c", "a"))
	r := New(small, Options{Store: &memory{}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var p Plan
			for range 300 {
				serveOne(t, r, &p, strconv.Itoa(i))
			}
		})
	}
	wg.Go(func() {
		for i := range 300 {
			r.Swap([]*Table{large, small}[i%2])
			r.ClearCooldown("a")
			r.Leases()
			Statuses(r.Snapshot(), r.Snapshot().Occupancy(), time.Now())
			if _, err := encodeState(r.Snapshot(), r.affinity.all(), time.Now()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if got := r.Leases(); len(got) != 0 {
		t.Errorf("still held: %+v", got)
	}
	r.Swap(small)
	r.Observe("b", call("m", time.Now()), refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	if got := r.Snapshot().Standings[1].Account(time.Now()).State; got != quota.StateAuthRequired {
		t.Errorf("b is %q", got)
	}
}

// serveOne is the life of a request, as the proxy lives it.
func serveOne(t *testing.T, r *Router, p *Plan, session string) {
	q := Query{Role: r.Snapshot().Table.Roles[0], Model: "m", Session: session}
	r.Plan(q, p)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if p.Snapshot.Table.Profiles[n.Index] != n.Profile {
			t.Errorf("node %s stands at index %d of another table", n.Profile.ID, n.Index)
		}
		lease, no := r.Acquire(n, Holder{Session: session})
		if no.Reason != Usable {
			continue
		}
		rd := ok()
		if i == 0 {
			rd = refusal(quota.ServerError, quota.ScopeAccount, time.Time{})
		}
		r.Observe(n.Profile.ID, quota.Call{Model: "m", Family: n.Family, StartedAt: lease.Started, At: time.Now()}, rd)
		r.Bind(session, "r", n.Profile.ID)
		lease.Release()
	}
	r.SessionRole(session)
}
