package redisshare

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/router"
)

// bound is the account that the hub prefers for a session, "" = none.
func (h *hub) bound(session string) string {
	var p router.Plan
	tab := h.Snapshot().Table
	h.Plan(router.Query{Role: tab.Roles[0], Model: "m", Session: session}, &p)
	if p.Bound < 0 {
		return ""
	}
	return tab.Profiles[p.Bound].ID
}

// A session keeps its account whichever hub it comes to, also one that starts later, and goes with the hub that bound it last.
// Its role is known too. Redis is told of it once, not for each answer.
func TestBonds(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 2, client, account("a", 0, ""), account("b", 0, ""))
		one, two := hubs[0], hubs[1]
		one.Bind("s", "r", "b")
		await(t, "the bond", func() bool { return two.bound("s") == "b" && two.SessionRole("s") == "r" })
		if got := two.bound("other"); got != "" {
			t.Errorf("another session is bound to %s", got)
		}
		two.Bind("s", "r", "a")
		await(t, "the new bond", func() bool { return one.bound("s") == "a" })

		members := client().ZRangeWithScores(t.Context(), "hh:{bonds}:t", 0, -1).Val()
		for range 100 {
			two.Bind("s", "r", "a")
		}
		one.Bind("t", "r", "b")
		await(t, "another bond", func() bool { return two.bound("t") == "b" })
		if got := client().ZRangeWithScores(t.Context(), "hh:{bonds}:t", 0, 0).Val(); len(members) != 1 || got[0] != members[0] {
			t.Errorf("a bond that was renewed at once was told again: %v, then %v", members, got)
		}

		late := start(t, client(), patient("late"), account("a", 0, ""), account("b", 0, ""))
		await(t, "the late hub", func() bool { return late.bound("s") == "a" && late.bound("t") == "b" })
	})
}

// Redis keeps as many bonds as a hub does, the newest.
func TestBondsAreFew(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		one := start(t, client(), patient("one"), account("a", 0, ""))
		c := client()
		for i := range 2 * keptBonds {
			one.Bind(fmt.Sprint("s", i), "r", "a")
			if i%200 == 199 {
				await(t, "the bonds to be told", func() bool {
					one.share.bonds.mu.Lock()
					defer one.share.bonds.mu.Unlock()
					return one.share.bonds.wait == nil
				})
			}
		}
		last := 2*keptBonds - 1
		late := start(t, client(), patient("late"), account("a", 0, ""))
		await(t, "the late hub", func() bool { return late.bound(fmt.Sprint("s", last)) == "a" })
		if n, m := c.ZCard(t.Context(), "hh:{bonds}:t").Val(), c.HLen(t.Context(), "hh:{bonds}:p").Val(); n != keptBonds || m != keptBonds {
			t.Errorf("Redis has %d bonds and %d profiles of them", n, m)
		}
		if late.bound("s0") != "" {
			t.Error("the oldest bond was kept")
		}
	})
}

// What was bound while Redis was away is told when it is back; and an older bond that is told late does not take the place of
// a newer one.
func TestBondsWait(t *testing.T) {
	var b bonds
	key := bondKey{"s", "r"}
	b.add(router.Bond{Session: "s", Role: "r", Profile: "a"})
	untold := b.take()
	b.add(router.Bond{Session: "s", Role: "r", Profile: "b"})
	b.add(router.Bond{Session: "t", Role: "r", Profile: "c"})
	untold[bondKey{"u", "r"}] = router.Bond{Session: "u", Role: "r", Profile: "d"}
	b.giveBack(untold)
	got := b.take()
	if len(got) != 3 || got[key].Profile != "b" || b.take() != nil {
		t.Errorf("waiting: %v", got)
	}
	b.giveBack(got)
	for i := range 2 * keptBonds {
		b.add(router.Bond{Session: fmt.Sprint(i)})
	}
	if got := b.take(); len(got) != keptBonds || got[key].Profile != "b" {
		t.Errorf("%d wait", len(got))
	}

	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		one := start(t, client(), patient("one"), account("a", 0, ""), account("b", 0, ""))
		two := start(t, client(), patient("two"), account("a", 0, ""), account("b", 0, ""))
		together(t, one, two)
		one.Bind("s", "r", "b")
		await(t, "the bond", func() bool { return two.bound("s") == "b" })
		session := ""
		for bond := range client().HGetAll(t.Context(), "hh:{bonds}:p").Val() {
			session = bond[:32]
		}
		two.share.Bound(router.Bond{Session: session, Role: "r", Profile: "a", At: time.Now().Add(-time.Minute)})
		one.Bind("t", "r", "b")
		await(t, "another bond", func() bool { return two.bound("t") == "b" })
		if got := one.bound("s"); got != "b" {
			t.Errorf("an older bond took the place of a newer one: %s", got)
		}
	})
}
