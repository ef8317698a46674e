package router

import (
	"log/slog"
	"slices"
	"time"

	"hermes-hub/quota"
)

// Observe folds what an answer said into what is known of the account, of its twins and of their provider. A profile that is
// gone, and a call that began before the account had its present address and credential, tell nothing. The common case, a
// success that measured nothing on an account nothing stands against, costs one atomic load.
func (r *Router) Observe(profileID string, c quota.Call, rd quota.Reading) {
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || rd.Class == quota.OK && len(rd.Buckets) == 0 && s.spotless(i) {
		return
	}
	r.learn(profileID, c, heard(rd, c, s.Table.Settings.Policy))
}

// heard is the lesson of an answer to a call.
func heard(rd quota.Reading, c quota.Call, policy quota.Policy) lesson {
	return lesson{
		reading: &rd,
		own:     func(st quota.Standing) quota.Standing { return st.Apply(rd, c, policy) },
		twin:    func(st quota.Standing) quota.Standing { return st.ApplyTwin(rd, c, policy) },
	}
}

// Measure folds in what a usage endpoint said when it was asked at a time: the buckets, and the end of the quota blocks that
// they disprove. Nothing else of an account's health changes by it, and nothing at all by a reading that is no success.
func (r *Router) Measure(profileID string, rd quota.Reading, at time.Time) {
	policy := r.Snapshot().Table.Settings.Policy
	measure := func(st quota.Standing) quota.Standing { return st.Measure(rd, at, policy) }
	r.learn(profileID, quota.Call{StartedAt: at, At: at}, lesson{own: measure, twin: measure})
}

// AuthRequired tells that an account's credential is refused for good, as when it can no longer be refreshed. reason is
// short and made by a machine.
func (r *Router) AuthRequired(profileID, reason string, at time.Time) {
	r.Observe(profileID, quota.Call{StartedAt: at, At: at}, quota.Reading{
		Class: quota.AuthInvalid, Scope: quota.ScopeAccount, Failover: true, Source: quota.SourceRuntimeEvent, Reason: reason,
	})
}

// lesson is what one piece of news makes of the standings.
type lesson struct {
	reading   *quota.Reading // of a call; nil = of nothing that its provider is blamed for
	own, twin func(quota.Standing) quota.Standing
}

// learn publishes what a lesson about an account changes, if it changes anything, and tells whom it concerns.
func (r *Router) learn(profileID string, c quota.Call, l lesson) {
	events, freed := r.publishLesson(profileID, c, l)
	if freed {
		r.queue.serveAll()
	}
	r.tell(events)
}

func (r *Router) publishLesson(profileID string, c quota.Call, l lesson) (events []ThresholdEvent, freed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok || c.StartedAt.Before(s.since[i]) || l.late(c, s.renewed[i]) {
		return nil, false
	}
	next := *s
	next.Standings = nil
	learnt := func(i int, how func(quota.Standing) quota.Standing) {
		before := s.Standings[i]
		after := how(before)
		if before.Equal(after) {
			return
		}
		if next.Standings == nil {
			next.Standings = slices.Clone(s.Standings)
		}
		next.Standings[i] = after
		events = append(events, s.Table.Settings.Threshold.crossed(s.Table.Profiles[i].ID, before, after, c.At)...)
		if lifted(before, after) {
			freed = true
			if l.reading == nil || l.reading.Class == quota.OK {
				next.proved = slices.Clone(next.proved)
				next.proved[i] = later(c.StartedAt, next.proved[i])
			}
		}
		r.logTurn(s.Table.Profiles[i].ID, c, before, after)
	}
	learnt(i, l.own)
	for _, j := range s.twins[i] {
		learnt(j, l.twin)
	}
	rests := false
	if l.reading != nil {
		if next.outages, rests = s.withOutage(i, *l.reading, c); rests {
			freed = r.logOutage(s, i, s.outages, next.outages) || freed
		}
	}
	if next.Standings == nil && !rests {
		return nil, false
	}
	if next.Standings == nil {
		next.Standings = s.Standings
	}
	next.Version++
	r.publish(&next)
	return events, freed
}

// late reports whether a credential was refused that has been replaced since the call began.
func (l lesson) late(c quota.Call, renewed time.Time) bool {
	if l.reading == nil {
		return false
	}
	refused := l.reading.Class == quota.AuthInvalid || l.reading.Class == quota.AuthExpired
	return refused && c.StartedAt.Before(renewed)
}

// CredentialChanged tells that an account has another credential from now on: what the old one was refused for is gone. It
// reports whether there is such an account.
func (r *Router) CredentialChanged(profileID string) bool {
	return r.amend(profileID, "account has another credential", func(next *Snapshot, i int) {
		next.renewed = slices.Clone(next.renewed)
		next.renewed[i] = r.now()
		next.Standings[i] = next.Standings[i].CredentialChanged()
	})
}

// ClearCooldown forgets what stands against an account, on an operator's word, which its peers hear. It reports whether
// there is such an account.
func (r *Router) ClearCooldown(profileID string) bool {
	r.peers.Cleared(profileID)
	return r.amend(profileID, "account cleared", func(next *Snapshot, i int) {
		next.Standings[i] = next.Standings[i].Cleared()
		next.calm(i, r.now())
	})
}

// amend publishes a change to one account that no call has brought, and logs it where it changes what stands against it.
func (r *Router) amend(profileID, what string, change func(next *Snapshot, i int)) bool {
	defer r.queue.serveAll()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.Snapshot()
	i, ok := s.Table.ProfileIndex(profileID)
	if !ok {
		return false
	}
	next := *s
	next.Standings = slices.Clone(s.Standings)
	change(&next, i)
	turned := !s.Standings[i].Equal(next.Standings[i]) || !slices.Equal(s.outages, next.outages)
	if !turned && slices.Equal(s.renewed, next.renewed) {
		return true
	}
	next.Version++
	r.publish(&next)
	if turned {
		r.logger.Info(what, "profile", profileID)
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
	r.peers.Learnt()
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

// lifted reports whether anything that stood against an account is gone. What had run out counts: it kept others waiting.
func lifted(before, after quota.Standing) bool {
	left := after.Blocks(time.Time{})
	return slices.ContainsFunc(before.Blocks(time.Time{}), func(b quota.Block) bool { return !slices.Contains(left, b) })
}

// spotless reports that nothing at all stands against an account or what it shares, not even a block that has run out and
// was not disproved.
func (s *Snapshot) spotless(i int) bool {
	o := s.outageOf(i)
	return s.Standings[i].Spotless() && (o == nil || *o == outage{})
}
