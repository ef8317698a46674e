package redisshare

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/router"
)

// L08, L02: several hubs that ask before each lease never hold more than there is together, whoever storms, and all is free
// in the end.
func TestStrictIsNeverExceeded(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 4, client, account("a", 10, router.LeaseStrict))
		most, granted := storm(hubs, "a", 16, 60)
		if most > 10 || granted < 100 {
			t.Errorf("%d slots of 10 were held at once; %d leases", most, granted)
		}
		for _, h := range hubs {
			await(t, "all to be free", func() bool { return h.sees("a") == 0 })
			if n := h.share.Stats().Alone; n != 0 {
				t.Errorf("%d leases were decided alone", n)
			}
		}
	})
}

// An account of one slot is used, by one at a time.
func TestStrictOfOne(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 3, client, account("a", 1, router.LeaseStrict))
		if most, granted := storm(hubs, "a", 4, 200); most != 1 || granted < 10 {
			t.Errorf("%d held at once; %d leases", most, granted)
		}
	})
}

// Hubs that go by what they last heard may go beyond for the moment that it takes to be heard, by what others took in it, and
// no further.
func TestEventualOvershoots(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 2, client, account("a", 6, ""))
		one := hubs[0].acquires(t, "a", 4)
		await(t, "the other hub to hear", func() bool { return hubs[1].sees("a") == 4 })
		two := hubs[1].acquires(t, "a", 2)
		if hubs[1].acquire("a") != nil {
			t.Error("the other hub lends the first one's slots")
		}
		await(t, "the first hub to hear", func() bool { return hubs[0].sees("a") == 6 })
		if hubs[0].acquire("a") != nil {
			t.Error("the first hub lends the other one's slots")
		}
		release(append(one, two...))
		for _, h := range hubs {
			await(t, "all to be free", func() bool { return h.sees("a") == 0 })
		}
		if most, _ := storm(hubs, "a", 16, 100); most > 12 {
			t.Errorf("%d slots of 6 were held at once by two hubs", most)
		}
	})
}

// Who waits for a slot that another hub holds is served when that one gives it back, strict or not.
func TestWaitersAreServedFromAfar(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		for _, mode := range []router.LeaseMode{router.LeaseEventual, router.LeaseStrict} {
			hubs := everybody(t, 2, func() redis.UniversalClient { return client() }, account("a-"+string(mode), 1, mode))
			id := "a-" + string(mode)
			held := hubs[0].acquires(t, id, 1)
			await(t, "the other hub to hear", func() bool { return hubs[1].sees(id) == 1 })
			var served atomic.Int64
			got := make(chan *router.Lease)
			for range 2 {
				go func() {
					var p router.Plan
					q := router.Query{Role: hubs[1].Snapshot().Table.Roles[0], Model: "m"}
					hubs[1].Plan(q, &p)
					_, l, err := hubs[1].Wait(t.Context(), &p, router.Want{Open: func(*router.Node) bool { return true }, For: 20 * time.Second})
					if err != nil {
						t.Error(err)
					}
					served.Add(1)
					got <- l
				}()
			}
			held[0].Release()
			for range 2 {
				l := <-got
				if l == nil {
					t.Fatalf("%s: nothing came", mode)
				}
				await(t, "the first hub to hear", func() bool { return hubs[0].sees(id) == 1 })
				l.Release()
			}
			for _, h := range hubs {
				h.stop()
			}
		}
	})
}

// A hub that stops takes leave: what it held is free at once.
func TestLeave(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 2, client, account("a", 2, router.LeaseStrict))
		hubs[0].acquires(t, "a", 2)
		await(t, "the other hub to hear", func() bool { return hubs[1].sees("a") == 2 })
		hubs[0].stop()
		await(t, "the slots to be free", func() bool { return hubs[1].sees("a") == 0 })
		release(hubs[1].acquires(t, "a", 2))
		if n := hubs[1].share.Stats().Lost; n != 0 {
			t.Errorf("%d counts were lost", n)
		}
	})
}
