package redisshare

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// BenchmarkAcquire is a lease taken and given back: in one hub without peers, by what was last heard, and by asking a Redis on
// this machine.
func BenchmarkAcquire(b *testing.B) {
	f := func(name string, mode router.LeaseMode, peers func(b *testing.B) router.Peers) {
		b.Run(name, func(b *testing.B) {
			accounts := []router.Profile{account("a", 1000, mode)}
			h := &hub{}
			switch p := peers(b).(type) {
			case *Share:
				h = startOver(b, p, accounts...)
				together(b, h)
			default:
				h.Router = router.New(tableOf(b, accounts...), router.Options{})
			}
			n := h.node("a")
			b.ReportAllocs()
			for b.Loop() {
				l, no := h.Acquire(n, router.Holder{})
				if l == nil {
					b.Fatal(no)
				}
				l.Release()
			}
		})
	}
	shared := func(b *testing.B) router.Peers {
		return New(redis.UniversalClient(dial(b, serve(b).addr)), patient("one"))
	}
	f("alone", "", func(*testing.B) router.Peers { return nil })
	f("eventual", router.LeaseEventual, shared)
	f("strict", router.LeaseStrict, shared)
}

// BenchmarkAcquireStrictParallel is strict leases that many ask for at once: what waits together asks together.
func BenchmarkAcquireStrictParallel(b *testing.B) {
	h := start(b, dial(b, serve(b).addr), patient("one"), account("a", 1000, router.LeaseStrict))
	together(b, h)
	n := h.node("a")
	b.SetParallelism(16)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		mine := *n
		for pb.Next() {
			l, no := h.Acquire(&mine, router.Holder{})
			if l == nil {
				b.Fatal(no)
			}
			l.Release()
		}
	})
}

// BenchmarkLeft is what every plan pays for each account.
func BenchmarkLeft(b *testing.B) {
	s := newShare(newCloud(), Options{})
	a := s.Slots("a")
	s.apart.meet(1, s.now(), s.ttl)
	b.ReportAllocs()
	for b.Loop() {
		if a.Left(10) != 10 {
			b.Fatal("there are none")
		}
	}
}

// BenchmarkExchangeIdle is a look through a hundred accounts, some of them blocked, of which there is nothing to tell.
func BenchmarkExchangeIdle(b *testing.B) {
	var accounts []router.Profile
	for i := range 100 {
		accounts = append(accounts, account("p"+string(rune('0'+i/10))+string(rune('0'+i%10)), 1, ""))
	}
	h := start(b, dial(b, serve(b).addr), patient("one"), accounts...)
	for _, p := range accounts[:20] {
		h.Observe(p.ID, asked("m"), refusal(quota.QuotaExhausted, time.Now().Add(time.Hour)))
	}
	await(b, "all to be told", func() bool {
		return h.share.known("p19").ledger.stamp.Load() != nil && *h.share.known("p19").ledger.stamp.Load() != ""
	})
	h.stop()
	h.share.router.Store(h.Router)
	b.ReportAllocs()
	for b.Loop() {
		h.share.exchange(b.Context(), false)
	}
}
