package router

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// causes are what stands against account a at noon, with when each ends.
func causes(r *Router) string {
	var words []string
	for _, b := range r.Snapshot().Standings[0].Blocks(noon) {
		words = append(words, b.Cause()+" "+b.Until.Format("15:04"))
	}
	return strings.Join(words, ", ")
}

func block(state quota.State, since, until time.Time) quota.Block {
	return quota.Block{State: state, Class: quota.QuotaExhausted, Scope: quota.ScopeAccount, Since: since, Until: until}
}

// What peers have learnt counts as if it had been seen here, for the account that it is about and no other.
func TestHear(t *testing.T) {
	r := New(table(t, []Profile{account("a", "m"), account("b", "m")}, role("r", "a", "b")), Options{Now: func() time.Time { return noon }})
	id := r.Snapshot().Identity(0)
	hear := func(want string, n News) {
		t.Helper()
		before := r.Snapshot()
		st, ok := r.Hear("a", id, n)
		if got := causes(r); got != want || !ok || !st.Equal(r.Snapshot().Standings[0]) {
			t.Errorf("stands: %s, want %s; heard: %v", got, want, ok)
		}
		if unchanged := before.Standings[0].Equal(st); unchanged != (before == r.Snapshot()) {
			t.Error("a snapshot was published for nothing, or none for something")
		}
	}
	quotaUntil := func(since, until string) quota.Block {
		return block(quota.StateQuota, at(t, since), at(t, until))
	}
	hear("quota_exhausted|| 14:00", News{Blocks: []quota.Block{quotaUntil("11:00", "14:00")}})
	hear("quota_exhausted|| 14:00", News{Blocks: []quota.Block{quotaUntil("11:00", "14:00")}})
	hear("quota_exhausted|| 14:00", News{Blocks: []quota.Block{quotaUntil("11:30", "13:00")}})
	hear("quota_exhausted|| 14:00", News{Over: []quota.Block{quotaUntil("11:29", "12:00")}})
	hear("", News{Over: []quota.Block{quotaUntil("11:30", "12:00")}})
	hear("quota_exhausted|| 14:00, rate_limited|| 13:00",
		News{Blocks: []quota.Block{quotaUntil("11:50", "14:00"), block(quota.StateRateLimited, at(t, "11:55"), at(t, "13:00"))}})
	hear("rate_limited|| 13:00", News{Cleared: at(t, "11:54")})
	hear("auth_required|| 00:00", News{Cleared: noon, Blocks: []quota.Block{block(quota.StateAuthRequired, at(t, "11:00"), time.Time{})}})
	if n := planned(r); n.Reason != ReasonAuth {
		t.Errorf("the plan says %q", n.Reason)
	}
	if _, ok := r.Hear("a", r.Snapshot().Identity(1), News{Cleared: noon}); ok {
		t.Error("news of another account were heard")
	}
	if _, ok := r.Hear("c", id, News{}); ok {
		t.Error("news of no account were heard")
	}
	other := account("a", "m")
	other.Credential = NewSecret("another")
	r.Swap(table(t, []Profile{other, account("b", "m")}, role("r", "a", "b")))
	if _, ok := r.Hear("a", id, News{Blocks: []quota.Block{quotaUntil("11:00", "14:00")}}); ok || causes(r) != "" {
		t.Errorf("news of the account before were heard: %s", causes(r))
	}
}

// What a call has just disproved here may still be on its way from the peers: only what was seen later stands again.
func TestHearAgain(t *testing.T) {
	c := &clock{noon}
	r := New(table(t, []Profile{account("a", "m")}, role("r", "a")), Options{Now: c.now})
	id := r.Snapshot().Identity(0)
	r.Observe("a", call("m", at(t, "11:00")), refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "14:00")))
	r.Observe("a", call("m", at(t, "11:10")), refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "15:00")))
	if got := r.Snapshot().Proved(0); !got.IsZero() {
		t.Errorf("a refusal has proved the account at %v", got)
	}
	r.Observe("a", call("m", at(t, "11:30")), ok())
	if got := r.Snapshot().Proved(0); !got.Equal(at(t, "11:30")) {
		t.Errorf("proved at %v", got)
	}
	r.Hear("a", id, News{Again: []quota.Block{block(quota.StateQuota, at(t, "11:30"), at(t, "14:00"))}})
	if got := causes(r); got != "" {
		t.Errorf("what was disproved stands: %s", got)
	}
	r.Hear("a", id, News{Again: []quota.Block{block(quota.StateQuota, at(t, "11:31"), at(t, "14:00"))}})
	if got := causes(r); got != "quota_exhausted|| 14:00" {
		t.Errorf("what was seen later: %q", got)
	}
}

// Identity is one for accounts that are configured alike, and another for another place, credential or account.
func TestIdentity(t *testing.T) {
	of := func(change func(p *Profile)) string {
		p := account("a", "m")
		if change != nil {
			change(&p)
		}
		return NewSnapshot(table(t, []Profile{p}, role("r", "a"))).Identity(0)
	}
	same := of(nil)
	if same != of(func(p *Profile) { p.MaxConcurrency, p.DisplayName = 3, "x" }) {
		t.Error("what says nothing of the account changes its identity")
	}
	for name, change := range map[string]func(p *Profile){
		"base URL":   func(p *Profile) { p.BaseURL += "/x" },
		"credential": func(p *Profile) { p.Credential = NewSecret("x") },
		"account id": func(p *Profile) { p.AccountID = "x" },
	} {
		if of(change) == same {
			t.Errorf("another %s is the same account", name)
		}
	}
}

// A bond of a peer counts like one's own, unless a younger one is known; a hub hears its own without saving for it.
func TestHearBond(t *testing.T) {
	c := &clock{noon}
	r := affinityRouter(t, c, time.Hour)
	var told []Bond
	peers := &listener{bound: func(b Bond) { told = append(told, b) }}
	r.peers = peers
	r.Bind("s", "r1", "b")
	mine := told[0]
	if mine.Profile != "b" || mine.Role != "r1" || len(mine.Session) != 32 {
		t.Errorf("told: %+v", mine)
	}
	hear := func(profile, role string, at time.Time) {
		b := mine
		b.Profile, b.Role, b.At = profile, role, at
		r.HearBond(b)
	}
	hear("a", "r1", noon.Add(-time.Second))
	if got := boundTo(t, r, "s", "r1"); got != "b" {
		t.Errorf("an older bond: %s", got)
	}
	hear("a", "r1", noon.Add(time.Second))
	hear("b", "r2", noon.Add(-time.Minute))
	if got := boundTo(t, r, "s", "r1") + boundTo(t, r, "s", "r2") + r.SessionRole("s"); got != "abr1" {
		t.Errorf("heard: %s", got)
	}
	hear("b", "r2", noon.Add(time.Minute))
	if got := r.SessionRole("s"); got != "r2" {
		t.Errorf("the last role is %s", got)
	}
	<-r.changed
	hear("b", "r2", noon.Add(2*time.Minute))
	select {
	case <-r.changed:
		t.Error("a bond that was only renewed is saved")
	default:
	}
	r.HearBond(Bond{Session: "zz", Role: "r1", Profile: "a", At: noon.Add(time.Hour)})
	if len(told) != 1 {
		t.Errorf("what was heard was told: %v", told)
	}
}

// Peers hear of a bond when it is new, when it goes elsewhere, and once in a quarter of its time.
func TestBoundIsTold(t *testing.T) {
	c := &clock{noon}
	r := affinityRouter(t, c, time.Hour)
	n := 0
	r.peers = &listener{bound: func(Bond) { n++ }}
	bind := func(profile string, later time.Duration, want int) {
		t.Helper()
		c.t = noon.Add(later)
		if r.Bind("s", "r1", profile); n != want {
			t.Errorf("%v later: told %d times, want %d", later, n, want)
		}
	}
	bind("a", 0, 1)
	bind("a", 10*time.Minute, 1)
	bind("a", 14*time.Minute, 1)
	bind("a", 15*time.Minute, 2)
	bind("a", 16*time.Minute, 2)
	bind("b", 17*time.Minute, 3)
	bind("b", 31*time.Minute, 3)
	bind("b", 32*time.Minute, 4)
}

// listener are Peers of whom a test hears.
type listener struct {
	Solo
	bound   func(Bond)
	cleared []string
	learnt  int
}

func (l *listener) Learnt()           { l.learnt++ }
func (l *listener) Cleared(id string) { l.cleared = append(l.cleared, id) }
func (l *listener) Bound(b Bond)      { l.bound(b) }

// Peers hear that there is something new to look at, and what an operator has cleared, which may not be new here.
func TestPeersHear(t *testing.T) {
	peers := &listener{}
	r := New(table(t, []Profile{account("a", "m")}, role("r", "a")), Options{Peers: peers})
	r.ClearCooldown("a")
	if peers.learnt != 0 || !slices.Equal(peers.cleared, []string{"a"}) {
		t.Errorf("learnt %d, cleared %v", peers.learnt, peers.cleared)
	}
	r.Observe("a", call("m", time.Now()), refusal(quota.RateLimited, quota.ScopeAccount, time.Now().Add(time.Hour)))
	if peers.learnt != 1 {
		t.Errorf("learnt %d", peers.learnt)
	}
}
