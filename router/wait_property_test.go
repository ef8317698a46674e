package router

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes-hub/quota"
)

// Whatever happens in whatever order, after each step: no account lends out more slots than it has, none that comes back is
// tried by two, nobody waits beside a slot that is free and good for them, nobody waits for nothing, and within a session
// nobody is overtaken by one who wants the same.
func TestWaitInvariants(t *testing.T) {
	ids := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(most int, what string) int { return rapid.IntRange(0, most).Draw(t, what) }
		tab := func() *Table {
			var profiles []Profile
			for _, id := range ids {
				p := account(id, "m")
				p.MaxConcurrency = 1 + draw(2, "slots of "+id)
				p.Enabled = draw(5, id+" is off") > 0
				profiles = append(profiles, p)
			}
			built, err := NewTable(profiles, []Role{role("r", ids...)}, settings())
			if err != nil {
				t.Fatal(err)
			}
			return built
		}
		r := New(tab(), Options{})
		m := &waitModel{t: t, r: r, cap: map[string]int{}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch draw(12, "step") {
			case 0, 1, 2:
				m.join(fmt.Sprint(draw(2, "session")), 1+draw(6, "accounts wanted"))
			case 3, 4, 5:
				m.release(draw(20, "lease"))
			case 6:
				m.leave(draw(20, "waiter"))
			case 7:
				m.arrive(ids[draw(2, "account")])
			case 8:
				r.Swap(tab())
			case 9:
				if i := draw(20, "lease"); len(m.leases) > 0 && draw(1, "spent") == 1 {
					spent := refusal(quota.QuotaExhausted, quota.ScopeAccount, time.Now().Add(time.Hour))
					r.Observe(m.leases[i%len(m.leases)].Profile.ID, call("m", time.Now()), spent)
					m.release(i)
				} else {
					r.ClearCooldown(ids[draw(2, "account")])
				}
			case 10:
				m.comeBack(ids[draw(2, "account")])
			case 11:
				if i := draw(20, "lease"); len(m.leases) > 0 {
					m.leases[i%len(m.leases)].Accepted()
				}
			case 12:
				if i := draw(20, "lease"); len(m.leases) > 0 {
					l := m.leases[i%len(m.leases)]
					r.Observe(l.Profile.ID, quota.Call{Model: "m", StartedAt: time.Now(), At: time.Now()}, ok())
				}
			}
			m.check()
		}
		for len(m.waiting) > 0 {
			m.leave(0)
		}
		for len(m.leases) > 0 {
			m.release(0)
		}
		empty(t, r)
	})
}

// waitModel is what the test knows of the queue from outside.
type waitModel struct {
	t       *rapid.T
	r       *Router
	leases  []*Lease
	waiting []*waiter // by arrival
	cap     map[string]int
}

func (m *waitModel) join(session string, wanted int) {
	w := &waiter{
		plan: &Plan{Query: Query{Role: m.r.Snapshot().Table.Roles[0], Model: "m", Session: session}}, over: make(chan struct{}),
		want: Want{Holder: Holder{Session: session, RunID: fmt.Sprint(wanted)}, Open: func(n *Node) bool { return wanted>>(n.Profile.ID[0]-'a')&1 == 1 }},
	}
	m.r.queue.join(w)
	m.waiting = append(m.waiting, w)
}

func (m *waitModel) release(i int) {
	if len(m.leases) > 0 {
		i %= len(m.leases)
		m.leases[i].Release()
		m.leases = slices.Delete(m.leases, i, i+1)
	}
}

func (m *waitModel) leave(i int) {
	if len(m.waiting) > 0 {
		i %= len(m.waiting)
		m.r.queue.leave(m.waiting[i])
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

// arrive is a request that does not wait.
func (m *waitModel) arrive(id string) {
	var p Plan
	m.r.Plan(Query{Role: m.r.Snapshot().Table.Roles[0], Model: "m"}, &p)
	i := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Profile.ID == id })
	if l, _ := m.r.Acquire(&p.Nodes[i], Holder{}); l != nil {
		m.leases = append(m.leases, l)
	}
}

// comeBack is an account that was blocked until a moment ago.
func (m *waitModel) comeBack(id string) {
	past := time.Now().Add(-time.Hour)
	m.r.Observe(id, call("m", past), refusal(quota.RateLimited, quota.ScopeAccount, past.Add(time.Minute)))
}

func (m *waitModel) check() {
	m.t.Helper()
	var stay []*waiter
	for _, w := range m.waiting {
		switch {
		case !w.left():
			stay = append(stay, w)
		case w.lease != nil:
			m.leases = append(m.leases, w.lease)
			for _, before := range stay {
				if before.want.Holder == w.want.Holder {
					m.t.Fatalf("%+v was overtaken in its own session", w.want.Holder)
				}
			}
		}
	}
	m.waiting = stay
	var p Plan
	m.r.Plan(Query{Role: m.r.Snapshot().Table.Roles[0], Model: "m"}, &p)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		held := len(m.r.leases.of(n.Profile.ID).list())
		if m.cap[n.Profile.ID] = max(n.Profile.MaxConcurrency, min(m.cap[n.Profile.ID], held)); held > m.cap[n.Profile.ID] {
			m.t.Fatalf("%d of %d slots of %s held", held, n.Profile.MaxConcurrency, n.Profile.ID)
		}
		tried := 0
		for _, l := range m.r.leases.of(n.Profile.ID).list() {
			if l.trials[0] != nil && l.trials[0].lease == l {
				tried++
			}
		}
		if tried > 1 || tried == 0 && m.r.leases.of(n.Profile.ID).trial.lease != nil {
			m.t.Fatalf("%d calls try %s", tried, n.Profile.ID)
		}
		for _, w := range m.waiting {
			if n.Reason == Usable && w.want.Open(n) {
				m.t.Fatalf("%+v waits beside a free slot of %s", w.want.Holder, n.Profile.ID)
			}
		}
	}
	for _, w := range m.waiting {
		if !slices.ContainsFunc(p.Nodes, func(n Node) bool { return slotted(&n) && w.want.Open(&n) }) {
			m.t.Fatalf("%+v waits for nothing", w.want.Holder)
		}
	}
}
