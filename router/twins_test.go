package router

import (
	"fmt"
	"testing"
	"time"

	"hermes-hub/quota"
)

// twins is a router over accounts a and b of one provider with these account ids.
func twins(t *testing.T, ids ...string) *scene {
	t.Helper()
	var profiles []Profile
	for i, id := range []string{"a", "b", "c"} {
		p := account(id, "gpt-1")
		p.Provider.ID, p.AccountID = "acme", ids[i]
		profiles = append(profiles, p)
	}
	c := &clock{noon}
	return &scene{New(table(t, profiles, role("r", "a", "b", "c")), Options{Now: c.now}), t, c}
}

func (s *scene) wantTwins(want string) {
	s.t.Helper()
	if got := fmt.Sprint(s.Twins()); got != want {
		s.t.Errorf("twins %s, want %s", got, want)
	}
}

// Two profiles of one account share its quota: what one is refused, the other is not asked for; what is measured on one is
// known of both. Neither shares a refused credential or a failure on its way.
func TestTwinsShareQuota(t *testing.T) {
	s := twins(t, "acc-1", "acc-1", "c")
	s.wantTwins("[[a b]]")
	s.answered("12:00", "a", "gpt-1", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	s.answered("12:00", "a", "gpt-1", refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	s.answered("12:00", "c", "gpt-1", refusal(quota.ServerError, quota.ScopeAccount, time.Time{}))
	s.plan("12:01", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 quota_exhausted until 13:00
		2 c gpt-1 cooldown until 12:05`)
	s.measured("12:10", "a", window(t, "x.5h", 40, "15:00"))
	s.plan("12:11", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 usable
		2 c gpt-1 usable`)
	if b, ok := s.Snapshot().Standings[1].Governing("gpt-1", "gpt", s.c.t); !ok || b.RemainingPercent.Value != 40 {
		t.Errorf("b knows %+v", b)
	}
}

// The account that a credential names beats the configured one, outlives a reload that keeps the profile, and shares from
// then on what both know. Another account behind the same profile is a stranger.
func TestIdentify(t *testing.T) {
	s := twins(t, "a", "b", "c")
	s.wantTwins("[]")
	s.answered("12:00", "b", "gpt-1", refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	if !s.Identify("a", "acc-1") || !s.Identify("b", "acc-1") || !s.Identify("b", "acc-1") || s.Identify("nobody", "acc-1") {
		t.Error("not identified")
	}
	s.wantTwins("[[a b]]")
	s.plan("12:01", "gpt-1", `
		0 a gpt-1 quota_exhausted until 13:00
		1 b gpt-1 quota_exhausted until 13:00
		2 c gpt-1 usable`)
	var profiles []Profile
	for _, p := range s.Snapshot().Table.Profiles {
		profiles = append(profiles, *p)
	}
	s.Swap(table(t, profiles, role("r", "c", "b", "a")))
	s.wantTwins("[[a b]]")
	s.c.t = at(t, "12:02")
	s.Identify("b", "acc-2")
	s.wantTwins("[]")
	s.Observe("b", call("gpt-1", noon), refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "14:00"))) // of the one before
	s.plan("12:03", "gpt-1", `
		0 c gpt-1 usable
		1 b gpt-1 usable
		2 a gpt-1 quota_exhausted until 13:00`)

	s.Identify("b", "acc-1")
	profiles[0].Credential = NewSecret("another key")
	s.Swap(table(t, profiles, role("r", "a", "b", "c")))
	s.wantTwins("[]") // whose the new credential is, is not known yet
	next := restart(t, s.Router, s.Snapshot().Table, at(t, "12:05"))
	next.wantTwins("[]")
}

// Accounts of different providers are never one, whatever they are called, and nobody is the twin of the nameless.
func TestNoTwins(t *testing.T) {
	s := twins(t, "", "", "x")
	s.wantTwins("[]")
	a, b := account("a", "m"), account("b", "m")
	a.AccountID, b.AccountID, a.Provider.ID, b.Provider.ID = "x", "x", "acme", "other"
	s.Swap(table(t, []Profile{a, b}, role("r", "a", "b")))
	s.wantTwins("[]")
	b.Provider.ID = "acme"
	s.answered("12:00", "a", "m", refusal(quota.RateLimited, quota.ScopeAccount, at(t, "12:10")))
	s.Swap(table(t, []Profile{a, b}, role("r", "a", "b")))
	s.wantTwins("[[a b]]")
	if got := s.Snapshot().Standings[1].Account(s.c.t).State; got != quota.StateRateLimited {
		t.Errorf("b is %q", got)
	}
}
