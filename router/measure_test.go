package router

import (
	"testing"
	"time"

	"hermes-hub/quota"
)

// window is a bucket of the whole account: so many percent remain until a time of the day.
func window(t testing.TB, id string, percent float64, reset string) quota.Bucket {
	b := quota.Bucket{ID: id, UsedPercent: quota.Known(100 - percent), RemainingPercent: quota.Known(percent)}
	if reset != "" {
		b.ResetAt = at(t, reset)
	}
	return b
}

// measured tells what a usage endpoint said at a time.
func (s *scene) measured(clock, profile string, buckets ...quota.Bucket) {
	s.t.Helper()
	s.c.t = at(s.t, clock)
	s.Measure(profile, quota.Reading{Class: quota.OK, Scope: quota.ScopeAccount, Source: quota.SourceProviderAPI, Buckets: buckets}, s.c.t)
}

// Q18, P03: a measured window without anything left keeps its account out until it is reset, whatever another one holds.
// Q20: something measured in the window that was refused brings the account back. A probe that failed changes nothing (Q23).
func TestMeasure(t *testing.T) {
	s := newScene(t)
	s.measured("12:00", "a", window(t, "x.5h", 90, "15:00"), window(t, "x.7d", 0, "18:00"))
	s.plan("17:59", "gpt-1", `
		0 a gpt-1 quota_exhausted until 18:00
		1 b gpt-1 usable`)
	s.plan("18:00", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)

	next := restart(t, s.Router, s.Snapshot().Table, at(t, "17:00"))
	next.plan("17:01", "gpt-1", `
		0 a gpt-1 quota_exhausted until 18:00
		1 b gpt-1 usable`)

	s = newScene(t)
	spent := refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "18:00"))
	s.answered("12:00", "a", "gpt-1", spent)
	s.answered("12:00", "b", "gpt-1", refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	version := s.Snapshot().Version
	s.c.t = at(t, "12:01")
	s.Measure("a", quota.Reading{Class: quota.AuthExpired, Scope: quota.ScopeAccount, Source: quota.SourceRuntimeEvent}, s.c.t)
	s.Measure("nobody", quota.Reading{Class: quota.OK, Buckets: []quota.Bucket{window(t, "x.5h", 90, "")}}, s.c.t)
	if s.Snapshot().Version != version {
		t.Error("a failed probe was published")
	}
	for _, id := range []string{"a", "b"} {
		s.measured("12:02", id, window(t, "x.5h", 90, "15:00"))
	}
	s.plan("12:03", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 auth_required`)
}

// P05, P07: a refused credential stays refused until there is another. A call that began with the old one says nothing of
// the new one; what it says of the account's quota is true all the same.
func TestCredentialChanged(t *testing.T) {
	s := newScene(t)
	s.AuthRequired("a", "refresh:invalid_grant", noon)
	s.plan("12:01", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 usable`)
	if !s.CredentialChanged("a") || s.CredentialChanged("nobody") {
		t.Error("the wrong account")
	}
	s.plan("12:02", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
	old := quota.Call{Model: "gpt-1", Family: "gpt", StartedAt: noon, At: at(t, "12:03")}
	s.Observe("a", old, refusal(quota.AuthInvalid, quota.ScopeAccount, time.Time{}))
	s.AuthRequired("a", "refresh:invalid_grant", noon)
	s.plan("12:03", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
	s.Observe("a", old, refusal(quota.QuotaExhausted, quota.ScopeAccount, at(t, "13:00")))
	s.plan("12:04", "gpt-1", `
		0 a gpt-1 quota_exhausted until 13:00
		1 b gpt-1 usable`)
	s.AuthRequired("a", "refresh:invalid_grant", at(t, "12:05"))
	s.plan("12:06", "gpt-1", `
		0 a gpt-1 auth_required
		1 b gpt-1 usable`)
}

// Who waits for an account to come back is served when its usage or its credential says that it has.
func TestMeasureServesWaiters(t *testing.T) {
	for name, news := range map[string]func(*Router){
		"measured": func(r *Router) {
			r.Measure("a", quota.Reading{Class: quota.OK, Buckets: []quota.Bucket{{ID: "x.5h", RemainingPercent: quota.Known(50)}}}, time.Now())
		},
		"renewed": func(r *Router) { r.CredentialChanged("a") },
	} {
		t.Run(name, func(t *testing.T) {
			r := New(table(t, []Profile{limited(1)}, role("r", "a")), Options{})
			class := map[string]quota.Class{"measured": quota.QuotaExhausted, "renewed": quota.AuthInvalid}[name]
			r.Observe("a", call("m", time.Now().Add(-time.Minute)), refusal(class, quota.ScopeAccount, time.Now().Add(time.Hour)))
			w := &waiter{
				plan: &Plan{Query: Query{Role: r.Snapshot().Table.Roles[0], Model: "m"}},
				want: Want{Open: anyNode, Stay: true}, over: make(chan struct{}),
			}
			if r.queue.join(w); w.left() {
				t.Fatal("not waiting")
			}
			if news(r); w.lease == nil {
				t.Error("not served")
			}
			r.queue.leave(w)
			empty(t, r)
		})
	}
}
