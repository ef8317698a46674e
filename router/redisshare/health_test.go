package redisshare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/router"
)

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

// join starts a hub in the cloud.
func join(t *testing.T, c *cloud, instance string, instances int, accounts ...router.Profile) *hub {
	t.Helper()
	return startOver(t, newShare(c, Options{Instance: instance, Instances: instances}), accounts...)
}

// crash ends a hub without a farewell.
func (h *hub) crash(c *cloud) {
	c.set(func() { c.away = true })
	h.stop()
	c.set(func() { c.away = false })
}

// L05: a hub dies with leases held; they are free when their time is over, and not before.
func TestCrash(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one, two := join(t, c, "one", 1, account("a", 2, "")), join(t, c, "two", 1, account("a", 2, ""))
		after(time.Second)
		one.acquires(t, "a", 2)
		after(time.Second)
		one.crash(c)
		after(9 * time.Second)
		if two.acquire("a") != nil {
			t.Error("a slot is free although its time is not over")
		}
		after(ttl)
		release(two.acquires(t, "a", 2))
	})
}

// L06: a call longer than a count's time keeps its slot.
func TestLongCall(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		for _, mode := range []router.LeaseMode{router.LeaseEventual, router.LeaseStrict} {
			one, two := join(t, c, "one", 1, account("a", 1, mode)), join(t, c, "two", 1, account("a", 1, mode))
			after(time.Second)
			held := one.acquires(t, "a", 1)
			for range 100 {
				after(time.Second)
				if two.acquire("a") != nil {
					t.Fatalf("%s: the slot was lent twice", mode)
				}
			}
			release(held)
			after(100 * time.Millisecond)
			release(two.acquires(t, "a", 1))
			one.stop()
			two.stop()
		}
	})
}

// What changes at once is told in one round trip, and within a gap.
func TestTellsTogether(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one, two := join(t, c, "one", 1, account("a", 100, "")), join(t, c, "two", 1, account("a", 100, ""))
		after(1500 * time.Millisecond)
		before := c.scripts()
		var held []*router.Lease
		for range 50 {
			held = append(held, one.acquires(t, "a", 1)...)
			time.Sleep(2 * time.Millisecond)
		}
		if n := c.scripts() - before; n > 10 {
			t.Errorf("50 changes in 100 ms took %d scripts", n)
		}
		after(2 * gap)
		if n := two.sees("a"); n != 50 {
			t.Errorf("the other hub sees %d", n)
		}
		release(held)
	})
}

// A strict lease is one script, and giving it back another: what was granted is told already.
func TestPermitTells(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one := join(t, c, "one", 1, account("a", 3, router.LeaseStrict))
		after(1100 * time.Millisecond)
		before := c.scripts()
		held := one.acquires(t, "a", 1)
		after(400 * time.Millisecond)
		release(held)
		after(400 * time.Millisecond)
		if n := c.scripts() - before; n != 2 || c.held("a") != "one=0" {
			t.Errorf("%d scripts, told: %s", n, c.held("a"))
		}
	})
}

// Redis hangs: strict calls wait for their patience, a few of them, and are decided by this hub's share from then on; others do
// not wait at all. When it goes on, so does everything. There is a line in the log for each of the two.
func TestRedisHangs(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		accounts := []router.Profile{account("strict", 4, router.LeaseStrict), account("loose", 4, "")}
		one, two := join(t, c, "one", 2, accounts...), join(t, c, "two", 2, accounts...)
		after(time.Second)
		c.set(func() { c.hanging = true })
		waited := 0
		for range 20 {
			began := time.Now()
			l := one.acquire("strict")
			if l == nil {
				t.Fatal("a call was refused for Redis's sake")
			}
			if took := time.Since(began); took > 15*time.Millisecond {
				t.Errorf("a call waited for %v", took)
			} else if took > 0 {
				waited++
			}
			began = time.Now()
			loose := one.acquires(t, "loose", 1)
			if took := time.Since(began); took > 0 {
				t.Errorf("a call to an account that is not strict waited for %v", took)
			}
			release(append(loose, l))
		}
		if waited > 5 {
			t.Errorf("%d calls waited", waited)
		}
		after(3 * time.Second)
		if one.share.Breaker() != int(open) {
			t.Errorf("the breaker is %d", one.share.Breaker())
		}
		for _, id := range []string{"strict", "loose"} {
			held := one.acquires(t, id, 2)
			if one.acquire(id) != nil {
				t.Errorf("%s: more than the hub's share was lent while Redis was away", id)
			}
			release(held)
		}
		c.set(func() { c.hanging = false })
		after(longestRest + 2*time.Second)
		if one.share.Breaker() != int(closed) || one.share.Stats().Hubs != 2 || two.share.Stats().Hubs != 2 {
			t.Errorf("after: breaker %d, %+v, %+v", one.share.Breaker(), one.share.Stats(), two.share.Stats())
		}
		for _, id := range []string{"strict", "loose"} {
			release(one.acquires(t, id, 4))
		}
	})
}

// Redis is away at the start: each hub has its share, at least one slot, and all that there is when they have met.
func TestRedisLate(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		c.away = true
		accounts := []router.Profile{account("a", 7, ""), account("b", 2, router.LeaseStrict)}
		one, two := join(t, c, "one", 3, accounts...), join(t, c, "two", 3, accounts...)
		after(10 * time.Second)
		a, b := one.acquires(t, "a", 2), one.acquires(t, "b", 1)
		if one.acquire("a") != nil || one.acquire("b") != nil {
			t.Error("more than a third was lent")
		}
		c.set(func() { c.away = false })
		after(longestRest + time.Second)
		if c.held("a") != "one=2 two=0" || c.held("b") != "one=1 two=0" {
			t.Errorf("told: %s, %s", c.held("a"), c.held("b"))
		}
		if two.sees("a") != 2 || two.acquire("b") == nil {
			t.Error("the hubs have not met")
		}
		after(ttl) // the third does not come
		a = append(a, one.acquires(t, "a", 5)...)
		release(append(a, b...))
	})
}

// Redis comes back empty, and the hubs one after the other: nobody takes what another holds and has not told yet.
func TestRedisBackEmpty(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one, two := join(t, c, "one", 1, account("a", 4, "")), join(t, c, "two", 1, account("a", 4, ""))
		after(time.Second)
		held := one.acquires(t, "a", 2)
		after(time.Second)
		c.set(func() { c.away = true; clear(c.counts) })
		after(4 * time.Second)
		mine := two.acquires(t, "a", 2)
		c.set(func() { c.away = false })
		for range 400 {
			after(50 * time.Millisecond)
			if l := two.acquire("a"); l != nil {
				t.Fatal("a fifth slot of four was lent")
			}
		}
		if got := c.held("a"); got != "one=2 two=2" {
			t.Errorf("told: %s", got)
		}
		release(append(held, mine...))
	})
}

// Redis is emptied under the hubs: what they hold is told again within a second, and that it was lost is counted.
func TestFlushed(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one := join(t, c, "one", 1, account("a", 4, ""), account("b", 4, ""))
		after(time.Second)
		held := append(one.acquires(t, "a", 2), one.acquires(t, "b", 1)...)
		after(100 * time.Millisecond)
		c.set(func() { clear(c.counts) })
		after(lookEvery + 2*gap)
		if c.held("a") != "one=2" || c.held("b") != "one=1" || one.share.Stats().Lost < 2 {
			t.Errorf("told: %s, %s; %+v", c.held("a"), c.held("b"), one.share.Stats())
		}
		release(held)
		after(100 * time.Millisecond)
		if c.held("a") != "one=0" {
			t.Errorf("told in the end: %s", c.held("a"))
		}
	})
}

// Redis's clock jumps: forward, all counts are over at once and told again; backward, they last longer, and are still the
// truth of who is alive.
func TestRedisClockJumps(t *testing.T) {
	inCloud(t, func(t *testing.T, c *cloud) {
		one, two := join(t, c, "one", 1, account("a", 3, "")), join(t, c, "two", 1, account("a", 3, ""))
		after(time.Second)
		held := one.acquires(t, "a", 2)
		after(time.Second)
		for _, jump := range []time.Duration{time.Hour, -time.Hour, 0} {
			c.set(func() { c.ahead = jump })
			after(2 * time.Second)
			if n := two.sees("a"); n != 2 || c.held("a") != "one=2" {
				t.Errorf("after a jump to %v: the other hub sees %d, told is %s", jump, n, c.held("a"))
			}
		}
		release(held)
		after(100 * time.Millisecond)
		if n := two.sees("a"); n != 0 {
			t.Errorf("in the end the other hub sees %d", n)
		}
	})
}
