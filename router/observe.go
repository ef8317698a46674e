package router

import (
	"log/slog"
	"slices"
	"time"

	"hermes-hub/quota"
)

// Observe folds what an answer said into what is known of the account. A profile that is gone, and a call that began before
// the account had its present address and credential, tell nothing. The common case, a success that measured nothing on an
// account nothing stands against, costs one atomic load.
func (r *Router) Observe(profileID string, c quota.Call, rd quota.Reading) {
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || rd.Class == quota.OK && len(rd.Buckets) == 0 && spotless(&s.Standings[i]) {
		return
	}
	r.fold(profileID, c, rd)
}

func (r *Router) fold(profileID string, c quota.Call, rd quota.Reading) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || c.StartedAt.Before(s.since[i]) {
		return
	}
	before := s.Standings[i]
	after := before.Apply(rd, c, s.Table.Settings.Policy)
	if same(before, after) {
		return
	}
	r.publish(s.withStanding(i, after))
	r.logTurn(profileID, c, before, after)
}

// ClearCooldown forgets what stands against an account, on an operator's word. It reports whether there is such an account.
func (r *Router) ClearCooldown(profileID string) bool {
	defer r.queue.serveAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok {
		return false
	}
	if cleared := s.Standings[i].Cleared(); !same(s.Standings[i], cleared) {
		r.publish(s.withStanding(i, cleared))
		r.logger.Info("account cleared", "profile", profileID)
	}
	return true
}

// Swap puts the router under another table. Requests under way finish on what they hold; leases stay held and counted.
// Those who wait keep their turn and are given what the new table has for them.
func (r *Router) Swap(t *Table) Change {
	defer r.queue.serveAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	next, change := r.Snapshot().withTable(t, r.now())
	next.live = r.leases.behind(t)
	r.publish(next)
	return change
}

// publish runs under mu.
func (r *Router) publish(next *Snapshot) {
	r.snapshot.Store(next)
	r.touch()
}

// logTurn writes one line when the account became unusable for the call's model, or usable again.
func (r *Router) logTurn(profileID string, c quota.Call, before, after quota.Standing) {
	was, is := before.Check(c.Model, c.Family, c.At), after.Check(c.Model, c.Family, c.At)
	if was.State == is.State {
		return
	}
	if is.State == quota.Ready {
		r.logger.Info("account usable again", "profile", profileID, "model", c.Model)
		return
	}
	attrs := []any{"profile", profileID, "model", c.Model, "state", string(is.State), "reason", is.Reason}
	if !is.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", is.Until))
	}
	r.logger.Info("account unusable", attrs...)
}

// spotless reports that nothing at all stands against the account, not even a block that has run out but still counts
// failures: before any time there is, no block has run out.
func spotless(st *quota.Standing) bool { return len(st.Blocks(time.Time{})) == 0 }

func same(a, b quota.Standing) bool {
	return slices.Equal(a.Blocks(time.Time{}), b.Blocks(time.Time{})) && slices.Equal(a.Buckets(), b.Buckets())
}
