package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
)

func anyNode(*Node) bool { return true }

// inQueue makes a request of a session wait in the queue, without the goroutine that Wait would block.
func inQueue(t testing.TB, r *Router, session string) *waiter {
	t.Helper()
	w := &waiter{
		plan: &Plan{Query: Query{Role: r.Snapshot().Table.Roles[0], Model: "m", Session: session}},
		want: Want{Holder: Holder{Session: session}, Open: anyNode}, over: make(chan struct{}),
	}
	if !r.queue.join(w) {
		t.Fatal("the queue is full")
	}
	return w
}

// empty proves that the queue has forgotten everybody.
func empty(t interface {
	Helper()
	Errorf(format string, args ...any)
}, r *Router,
) {
	t.Helper()
	q := r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.lines) != 0 || len(q.sessions) != 0 || len(q.waiting) != 0 {
		t.Errorf("left in the queue: %d lines, %v, %v", len(q.lines), q.sessions, q.waiting)
	}
	for id, s := range r.leases.byProfile {
		if n := s.waiting.Load(); n != 0 {
			t.Errorf("%d still enrolled at %s", n, id)
		}
	}
}

// takeAll takes so many slots of the first node.
func takeAll(t testing.TB, r *Router, slots int) []*Lease {
	t.Helper()
	var leases []*Lease
	for range slots {
		l, no := r.Acquire(planned(r), Holder{})
		if l == nil {
			t.Fatalf("%+v", no)
		}
		leases = append(leases, l)
	}
	return leases
}

// order gives back the lease and every one that is handed over after it, and tells by whom they were held.
func order(r *Router, lease *Lease) string {
	var got []string
	for lease.Release(); ; {
		all := r.leases.of("a").list()
		if len(all) == 0 {
			return strings.Join(got, " ")
		}
		got = append(got, all[0].Holder.Session)
		all[0].Release()
	}
}

// Turns go round among the sessions: in the Python hub, as in every gateway with one FIFO, the sub-agents of one session
// keep all others out. Requests without a session are each on their own.
func TestWaitTurns(t *testing.T) {
	f := func(arrivals, want string) {
		t.Helper()
		r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
		one := takeAll(t, r, 1)[0]
		var anonymous []*waiter
		for session := range strings.FieldsSeq(arrivals) {
			if session == "-" {
				anonymous = append(anonymous, inQueue(t, r, ""))
				continue
			}
			inQueue(t, r, session)
		}
		for i, w := range anonymous {
			w.want.Holder.Session = fmt.Sprint(i)
		}
		if got := order(r, one); got != want {
			t.Errorf("%s: served %s, want %s", arrivals, got, want)
		}
		empty(t, r)
	}
	f("s", "s")
	f("s t", "s t")
	f("s s s t t u", "s t u s t s")
	f("- - s s -", "0 1 s 2 s")
	f(strings.Repeat("s ", 50)+"t", "s t"+strings.Repeat(" s", 49))
}

// Within a session the order is that of arrival.
func TestWaitFIFO(t *testing.T) {
	r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
	lease := takeAll(t, r, 1)[0]
	var line []*waiter
	for range 5 {
		line = append(line, inQueue(t, r, "s"))
	}
	for i, w := range line {
		lease.Release()
		if lease = w.lease; lease == nil {
			t.Fatalf("number %d was not served in its turn", i)
		}
	}
	lease.Release()
	empty(t, r)
}

// The first account of which a slot becomes free serves; of several, the first in the order of the plan.
func TestWaitSeveralAccounts(t *testing.T) {
	b := account("b", "m")
	b.MaxConcurrency = 1
	tab := table(t, []Profile{limited(1), b}, role("r", "a", "b"))
	r := New(tab, Options{})
	var p Plan
	r.Plan(Query{Role: tab.Roles[0], Model: "m"}, &p)
	onA, _ := r.Acquire(&p.Nodes[0], Holder{})
	onB, _ := r.Acquire(&p.Nodes[1], Holder{})
	first, second := inQueue(t, r, "s"), inQueue(t, r, "t")
	onB.Release()
	if first.lease == nil || first.lease.Profile.ID != "b" || second.left() {
		t.Fatalf("first: %+v, second left: %v", first.lease, second.left())
	}
	wider, widerB := limited(2), b
	widerB.MaxConcurrency = 2
	r.Swap(table(t, []Profile{wider, widerB}, role("r", "a", "b")))
	if second.lease == nil || second.lease.Profile.ID != "a" || second.node.Profile.MaxConcurrency != 2 {
		t.Fatalf("second: %+v", second.lease)
	}
	onA.Release()
	first.lease.Release()
	second.lease.Release()
	empty(t, r)
}

// A new table's slots go to those who wait, in their turn; an account without limit that it enables is no slot to queue
// for; and where it leaves nobody, nobody is waited for.
func TestWaitSwap(t *testing.T) {
	r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
	takeAll(t, r, 1)
	var line []*waiter
	for _, session := range []string{"s", "s", "t", "u", "v"} {
		line = append(line, inQueue(t, r, session))
	}
	state := func(want string) {
		t.Helper()
		var got strings.Builder
		for _, w := range line {
			switch {
			case w.lease != nil:
				got.WriteByte('+')
			case w.left():
				got.WriteByte('-')
			default:
				got.WriteByte('.')
			}
		}
		if got.String() != want {
			t.Errorf("got %s, want %s", &got, want)
		}
	}
	state(".....")
	r.Swap(table(t, []Profile{limited(3)}, role("r", "a")))
	state("+.+..")
	off := account("b", "m")
	off.Enabled = false
	r.Swap(table(t, []Profile{limited(3), off}, role("r", "a", "b")))
	state("+.+..")
	b := account("b", "m")
	b.MaxConcurrency = 1
	r.Swap(table(t, []Profile{limited(3), b}, role("r", "a", "b")))
	state("+.++.")
	r.Swap(table(t, []Profile{account("c", "m"), limited(3)}, role("r", "a", "c")))
	state("+-++-")
	empty(t, r)

	line = []*waiter{inQueue(t, r, "s")}
	state("-")
	off = limited(3)
	off.Enabled = false
	r.Swap(table(t, []Profile{limited(3)}, role("r", "a")))
	line = []*waiter{inQueue(t, r, "s")}
	state(".")
	r.Swap(table(t, []Profile{off}, role("r", "a")))
	state("-")
	empty(t, r)
}

// Who comes later gets no slot that one of those who wait could use, wherever it has become free; here another instance
// has given it back, of which nobody here was told. A slot that none of them can use is anybody's.
func TestWaitIsNotOvertaken(t *testing.T) {
	peers := &others{held: 1}
	r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{Peers: peers})
	w := inQueue(t, r, "s")
	peers.held = 0
	late := planned(r)
	if l, no := r.Acquire(late, Holder{}); l != nil || no.Reason != ReasonConcurrency || late.Reason != ReasonConcurrency {
		t.Errorf("the one who came later: %v %+v", l, no)
	}
	if w.lease == nil {
		t.Fatal("the one who waited got nothing")
	}

	picky := inQueue(t, r, "t")
	picky.want.Open = func(*Node) bool { return false }
	peers.held = 1
	w.lease.Release()
	peers.held = 0
	if l, no := r.Acquire(planned(r), Holder{}); l == nil {
		t.Errorf("nobody else could use it: %+v", no)
	}
	if !picky.left() {
		t.Error("waits for what it would not take")
	}
	empty(t, r)
}

// When the account that all wait for turns out to be spent, nobody waits for it any longer.
func TestWaitEndsWithTheAccount(t *testing.T) {
	r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
	lease := takeAll(t, r, 1)[0]
	first, second := inQueue(t, r, "s"), inQueue(t, r, "s")
	steadfast := inQueue(t, r, "t")
	steadfast.want.Stay = true
	r.Observe("a", call("m", time.Now()), refusal(quota.QuotaExhausted, quota.ScopeAccount, time.Now().Add(time.Hour)))
	lease.Release()
	if !first.left() || !second.left() || first.lease != nil || second.lease != nil {
		t.Error("they wait for an account that is out")
	}
	if steadfast.left() {
		t.Fatal("one who waits for the account to come back was sent away")
	}
	if r.ClearCooldown("a"); steadfast.lease == nil {
		t.Error("the account came back unheard")
	}
	empty(t, r)
}

func TestWaitQueueFull(t *testing.T) {
	r := New(table(t, []Profile{limited(1)}, role("r", "a"), role("other", "a")), Options{})
	takeAll(t, r, 1)
	line := make([]*waiter, 0, maxWaiting)
	for range maxWaiting {
		line = append(line, inQueue(t, r, ""))
	}
	p := Plan{Query: Query{Role: r.Snapshot().Table.Roles[0]}}
	if _, _, err := r.Wait(t.Context(), &p, Want{Open: anyNode, For: time.Hour}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("one more: %v", err)
	}
	other := &waiter{plan: &Plan{Query: Query{Role: r.Snapshot().Table.Roles[1]}}, want: Want{Open: anyNode}, over: make(chan struct{})}
	if !r.queue.join(other) {
		t.Error("another role has its own room")
	}
	for _, w := range append(line, other) {
		r.queue.leave(w)
	}
	empty(t, r)
}

// Nobody who gives up leaves a trace, whyever: no slot, no place in the queue, no goroutine (the bubble would not end).
func TestWaitGivesUp(t *testing.T) {
	left := errors.New("the client left")
	f := func(name string, wait time.Duration, cancelAfter time.Duration, want error, took time.Duration) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
				lease := takeAll(t, r, 1)[0]
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				stop := time.AfterFunc(cancelAfter, func() { cancel(left) })
				defer stop.Stop()
				p, began := Plan{Query: Query{Role: r.Snapshot().Table.Roles[0]}}, time.Now()
				n, l, err := r.Wait(ctx, &p, Want{Open: anyNode, For: wait})
				if n != nil || l != nil || !errors.Is(err, want) || time.Since(began) != took {
					t.Errorf("%v %v %v after %s", n, l, err, time.Since(began))
				}
				empty(t, r)
				if lease.Release(); len(r.Leases()) != 0 {
					t.Error("the slot went to one who had gone")
				}
			})
		})
	}
	f("time is over", 10*time.Second, time.Hour, nil, 10*time.Second)
	f("cancelled", 10*time.Second, 3*time.Second, left, 3*time.Second)
	f("cancelled before", 10*time.Second, 0, left, 0)
}

// A slot that is handed to one who has just given up goes to the next.
func TestWaitHandedToOneWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
		for range 50 {
			lease := takeAll(t, r, 1)[0]
			ctx, cancel := context.WithCancel(t.Context())
			var first, second *Lease
			wait := func(ctx context.Context, into **Lease) func() {
				return func() {
					p := Plan{Query: Query{Role: r.Snapshot().Table.Roles[0]}}
					_, *into, _ = r.Wait(ctx, &p, Want{Open: anyNode, For: time.Minute})
				}
			}
			var wg sync.WaitGroup
			wg.Go(wait(ctx, &first))
			synctest.Wait()
			wg.Go(wait(t.Context(), &second))
			synctest.Wait()
			cancel()
			lease.Release()
			wg.Wait()
			if first != nil || second == nil {
				t.Fatalf("first %v, second %v", first, second)
			}
			second.Release()
		}
		empty(t, r)
	})
}

// L02: 200 requests at once on five slots: never more than five hold one, and everyone is served; run under the race
// detector. Some give up on the way, and reloads change the number of slots meanwhile.
func TestWaitUnderLoad(t *testing.T) {
	const slots, calls = 5, 200
	wide, narrow := table(t, []Profile{limited(slots)}, role("r", "a")), table(t, []Profile{limited(2)}, role("r", "a"))
	r := New(wide, Options{})
	var running, most, served, gaveUp atomic.Int64
	serve := func(i int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if i%10 == 0 {
			cancel()
		}
		p := Plan{}
		r.Plan(Query{Role: wide.Roles[0], Model: "m", Session: fmt.Sprint(i % 7)}, &p)
		lease, _ := r.Acquire(&p.Nodes[0], Holder{})
		for lease == nil {
			var err error
			if _, lease, err = r.Wait(ctx, &p, Want{Open: anyNode, For: time.Minute}); err != nil {
				gaveUp.Add(1)
				return
			}
		}
		defer lease.Release()
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		served.Add(1)
	}
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			for range 10 {
				serve(i)
			}
		})
	}
	wg.Go(func() {
		for i := range 100 {
			r.Swap([]*Table{narrow, wide}[i%2])
		}
	})
	wg.Wait()
	if most.Load() > slots || served.Load()+gaveUp.Load() != 10*calls || served.Load() < 9*calls {
		t.Errorf("%d held at once, %d served, %d gave up", most.Load(), served.Load(), gaveUp.Load())
	}
	empty(t, r)
	if len(r.Leases()) != 0 {
		t.Error("leases left")
	}
}

// BenchmarkHandOver is one slot going from hand to hand while as many wait as may, each in a session of its own.
func BenchmarkHandOver(b *testing.B) {
	r := New(table(b, []Profile{limited(1)}, role("r", "a")), Options{})
	lease := takeAll(b, r, 1)[0]
	var line []*waiter
	for range maxWaiting {
		line = append(line, inQueue(b, r, ""))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lease.Release()
		next := &line[i%maxWaiting]
		lease = (*next).lease
		*next = inQueue(b, r, "")
	}
}
