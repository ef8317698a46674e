package redisshare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// refusal is an answer that closes the whole account until then; zero = without saying how long.
func refusal(class quota.Class, until time.Time) quota.Reading {
	return quota.Reading{Class: class, Scope: quota.ScopeAccount, Failover: true, ResetAt: until, Source: quota.SourceRuntimeEvent, Reason: "code:" + string(class)}
}

func asked(model string) quota.Call {
	return quota.Call{Model: model, Family: quota.Family(model), StartedAt: time.Now(), At: time.Now()}
}

// says is what the hub says of an account for the model m.
func (h *hub) says(id string) string {
	n := h.node(id)
	if n.Reason == router.Usable {
		return "usable"
	}
	return string(n.Reason)
}

func (h *hub) awaitSays(t testing.TB, id, want string) {
	t.Helper()
	await(t, h.share.o.Instance+" to say "+want+" of "+id, func() bool { return h.says(id) == want })
}

// blocks are what stands against an account, by cause.
func (h *hub) blocks(id string) string {
	s := h.Snapshot()
	i, _ := s.Table.ProfileIndex(id)
	var words []string
	for _, b := range s.Standings[i].Blocks(time.Now()) {
		words = append(words, b.Cause())
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// One hub's account is spent: the others know, for as long as the provider has said, and whoever proves that it is not, or an
// operator, tells all.
func TestNews(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 3, client, account("a", 0, ""), account("b", 0, ""))
		one, two, three := hubs[0], hubs[1], hubs[2]
		reset := time.Now().Add(3 * time.Hour)
		one.Observe("a", asked("m"), refusal(quota.QuotaExhausted, reset))
		two.awaitSays(t, "a", "quota_exhausted")
		three.awaitSays(t, "a", "quota_exhausted")
		if b := two.node("a").Block; !b.Stated || b.Until.Sub(reset).Abs() > 500*time.Millisecond || b.Class != quota.QuotaExhausted || b.Reason != "code:quota_exhausted" {
			t.Errorf("the other hub has %+v", b)
		}
		if two.says("b") != "usable" {
			t.Error("the other account is closed too")
		}

		// A refusal of the same kind for a longer time lengthens it everywhere; a shorter one does not.
		two.Observe("a", asked("m"), refusal(quota.QuotaExhausted, reset.Add(time.Hour)))
		await(t, "the longer end", func() bool { return one.node("a").Block.Until.Sub(reset) > 59*time.Minute })
		three.Observe("a", asked("m"), refusal(quota.QuotaExhausted, reset.Add(-time.Hour)))
		one.Observe("b", asked("m"), refusal(quota.Overloaded, time.Time{}))
		three.awaitSays(t, "b", "cooldown")
		if b := one.node("a").Block; b.Until.Sub(reset) < 59*time.Minute {
			t.Errorf("a later refusal has shortened the block: %+v", b)
		}

		// A call that began after proves the account.
		two.Observe("a", asked("m"), quota.Reading{Class: quota.OK})
		one.awaitSays(t, "a", "usable")
		three.awaitSays(t, "a", "usable")
		three.Observe("a", asked("m"), refusal(quota.RateLimited, time.Now().Add(time.Hour)))
		one.awaitSays(t, "a", "rate_limited")

		// An operator's word reaches all, about every state.
		two.ClearCooldown("a")
		two.ClearCooldown("b")
		for _, h := range hubs {
			h.awaitSays(t, "a", "usable")
			h.awaitSays(t, "b", "usable")
		}
	})
}

// A hub that joins later, or comes back with what it knew, agrees with the others.
func TestNewsForTheLate(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		one := start(t, client(), patient("one"), account("a", 0, ""), account("b", 0, ""))
		one.Observe("a", asked("m"), refusal(quota.Billing, time.Time{}))
		one.Observe("b", asked("m"), refusal(quota.AuthInvalid, time.Time{}))
		late := newShare(&redisLine{client: client(), channel: "hh:accounts"}, patient("late"))
		h := &hub{Router: router.New(tableOf(t, account("a", 0, ""), account("b", 0, "")), router.Options{Peers: late}), share: late}
		// It knew of something that an operator has cleared since.
		h.Observe("a", quota.Call{Model: "m", StartedAt: time.Now().Add(-time.Hour), At: time.Now().Add(-time.Hour)}, refusal(quota.Forbidden, time.Time{}))
		await(t, "the first to be heard", func() bool { return one.share.known("a").ledger.stamp.Load() != nil })
		one.ClearCooldown("a")
		await(t, "that to be told", func() bool {
			return client().HExists(t.Context(), *one.share.known("a").ledger.key.Load(), "!").Val()
		})
		one.Observe("a", asked("m"), refusal(quota.QuotaExhausted, time.Now().Add(time.Hour)))
		h.run(t)
		await(t, "both to agree", func() bool {
			return h.blocks("a") == "quota_exhausted||" && h.blocks("b") == "auth_required||" && one.blocks("a") == h.blocks("a")
		})
	})
}

// A credential that each hub has in a file of its own is each one's own trouble; and an account that is configured otherwise is
// another one.
func TestNewsOfStrangers(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		file, key, other := account("file", 0, ""), account("key", 0, ""), account("key", 0, "")
		file.Credential, other.Credential = router.Secret{}, router.NewSecret("another")
		one := start(t, client(), patient("one"), file, key)
		two := start(t, client(), patient("two"), file, other)
		three := start(t, client(), patient("three"), file, key)
		together(t, one, two, three)
		one.Observe("file", asked("m"), refusal(quota.AuthInvalid, time.Time{}))
		one.Observe("key", asked("m"), refusal(quota.AuthInvalid, time.Time{}))
		one.Observe("file", asked("m"), refusal(quota.RateLimited, time.Now().Add(time.Hour)))
		three.awaitSays(t, "key", "auth_required")
		two.awaitSays(t, "file", "rate_limited")
		three.awaitSays(t, "file", "rate_limited")
		if got := two.says("key"); got != "usable" {
			t.Errorf("an account with another credential is %s", got)
		}
		if got := two.blocks("file"); got != "rate_limited||" {
			t.Errorf("an account with a file of its own has %s", got)
		}
	})
}

// Redis loses everything: what stands is told again, by whoever knows of it.
func TestNewsFlushed(t *testing.T) {
	everywhere(t, func(t *testing.T, client func() redis.UniversalClient) {
		hubs := everybody(t, 2, client, account("a", 0, ""))
		hubs[0].Observe("a", asked("m"), refusal(quota.QuotaExhausted, time.Now().Add(time.Hour)))
		hubs[1].awaitSays(t, "a", "quota_exhausted")
		c := client()
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		third := start(t, client(), patient("hub-3"), account("a", 0, ""))
		third.awaitSays(t, "a", "quota_exhausted")
		hubs[1].Observe("a", asked("m"), quota.Reading{Class: quota.OK})
		third.awaitSays(t, "a", "usable")
		hubs[0].awaitSays(t, "a", "usable")
	})
}
