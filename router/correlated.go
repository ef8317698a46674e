package router

import (
	"fmt"
	"log/slog"
	"time"

	"hermes-hub/quota"
)

const (
	// together is how close the failures of two accounts must be to count as one trouble of what they share.
	together = 10 * time.Second
	// restBase is the first rest of a provider of which nobody says how long it lasts. It is short, because what several
	// accounts meet at once is over at once; each trial that fails doubles it, up to the rest of a single account.
	restBase = 5 * time.Second
)

// egress is what accounts share apart from their provider's capacity: where they are called and by which way.
type egress struct{ provider, baseURL, proxy string }

func egressOf(p *Profile) egress { return egress{p.Provider.ID, p.BaseURL, p.ProxyURL} }

// outage is the trouble that the accounts of one egress have in common. Two of them that fail the same way within seconds,
// and not for anything of their own, say that a third would fail too: all rest for a short time, and then one call tries on
// behalf of all. A role whose other accounts are out may still try one during the rest. The zero outage is none.
type outage struct {
	class   quota.Class // of the last failure
	profile string      // whose it was
	at      time.Time
	rest    quota.Block // zero = the provider never had to rest, or has proved itself since
	resort  bool        // the rest is new: one more account may be tried in it where nothing else is left
}

// common reports whether a failure is about what accounts share.
func common(rd quota.Reading) bool {
	if rd.Scope != quota.ScopeProvider {
		return false
	}
	switch rd.Class {
	case quota.Overloaded, quota.ServerError, quota.Timeout, quota.Forbidden, quota.RateLimited:
		return true
	default:
		return false
	}
}

// after is the outage after one more answer. A success to a call that began after the last failure ends it. Failures of
// calls that were under way when the rest began are part of the same trouble.
func (o outage) after(rd quota.Reading, c quota.Call, p *Profile, policy quota.Policy) outage {
	if rd.Class == quota.OK {
		if o != (outage{}) && c.StartedAt.After(o.at) {
			return outage{}
		}
		return o
	}
	if !common(rd) {
		return o
	}
	first := o.class == rd.Class && o.profile != p.ID && c.At.Sub(o.at).Abs() <= together
	o.class, o.profile, o.at = rd.Class, p.ID, later(c.At, o.at)
	switch {
	case o.rest.State == quota.Ready && !first, o.rest.State != quota.Ready && c.StartedAt.Before(o.rest.Since):
		return o
	case o.rest.State == quota.Ready:
		o.resort = true
	default:
		o.resort = false
	}
	o.rest = quota.Block{
		State: quota.StateCooldown, Class: rd.Class, Scope: quota.ScopeProvider, Since: c.At, Failures: o.rest.Failures + 1,
		Source: quota.SourceRuntimeEvent, Reason: fmt.Sprintf("accounts of %s fail together: %s (%s)", p.Provider.ID, rd.Class, rd.Reason),
	}
	o.rest.Until, o.rest.Stated = restUntil(rd, c.At, o.rest.Failures, policy)
	return o
}

// restUntil is how long a provider rests: as long as its answer says, else by a short guess.
func restUntil(rd quota.Reading, at time.Time, failures int, policy quota.Policy) (until time.Time, stated bool) {
	switch {
	case rd.ResetAt.After(at):
		return rd.ResetAt, true
	case rd.RetryAfter > 0:
		return at.Add(rd.RetryAfter), true
	}
	wait := restBase
	for range failures - 1 {
		if wait >= policy.CooldownBase {
			break
		}
		wait *= 2
	}
	return at.Add(min(wait, max(policy.CooldownBase, time.Second))), false
}

func later(x, y time.Time) time.Time {
	if y.After(x) {
		return y
	}
	return x
}

// resting reports whether every account of the egress is to be left alone at now.
func (o *outage) resting(now time.Time) bool { return o != nil && now.Before(o.rest.Until) }

// unproven reports whether the provider had to rest and nobody has proved it since.
func (o *outage) unproven() bool { return o != nil && o.rest.State != quota.Ready }

// openTo reports whether a node may be tried during the rest, which is all that holds it back.
func (o *outage) openTo(n *Node, now time.Time) bool {
	return o.resting(now) && o.resort && n.Block == o.rest
}

// outageOf is the trouble of a profile's egress, nil where it has that to itself.
func (s *Snapshot) outageOf(i int) *outage {
	if e := s.Table.egress[i]; e >= 0 {
		return &s.outages[e]
	}
	return nil
}

// withOutage is the outages after an answer of profile i; changed is false where they are as before.
func (s *Snapshot) withOutage(i int, rd quota.Reading, c quota.Call) (all []outage, changed bool) {
	e := s.Table.egress[i]
	if e < 0 {
		return s.outages, false
	}
	next := s.outages[e].after(rd, c, s.Table.Profiles[i], s.Table.Settings.Policy)
	if next == s.outages[e] {
		return s.outages, false
	}
	all = append([]outage(nil), s.outages...)
	all[e] = next
	return all, true
}

// shareEgress numbers the egresses that several enabled accounts share, and tells each account its number, -1 = its own.
func (t *Table) shareEgress() {
	members := make(map[egress]int)
	for _, p := range t.Profiles {
		if p.Enabled {
			members[egressOf(p)]++
		}
	}
	numbers := make(map[egress]int)
	for _, p := range t.Profiles {
		e := egressOf(p)
		if !p.Enabled || members[e] < 2 {
			t.egress = append(t.egress, -1)
			continue
		}
		number, known := numbers[e]
		if !known {
			number = len(t.egresses)
			numbers[e], t.egresses = number, append(t.egresses, e)
		}
		t.egress = append(t.egress, number)
	}
}

// Outage is a provider that rests as a whole, or that is yet to be tried after it did.
type Outage struct {
	Provider string   // its id
	Profiles []string // the accounts that share it, in file order
	Block    quota.Block
}

// Outages lists the providers that rest at now, for metrics and reports.
func Outages(s *Snapshot, now time.Time) []Outage {
	var all []Outage
	for e := range s.outages {
		if !s.outages[e].resting(now) {
			continue
		}
		out := Outage{Provider: s.Table.egresses[e].provider, Block: s.outages[e].rest}
		for i, p := range s.Table.Profiles {
			if s.Table.egress[i] == e {
				out.Profiles = append(out.Profiles, p.ID)
			}
		}
		all = append(all, out)
	}
	return all
}

// logOutage writes one line when a provider begins to rest, and one when it has proved itself; it reports the latter.
func (r *Router) logOutage(s *Snapshot, i int, before, after []outage) (freed bool) {
	e := s.Table.egress[i]
	was, is := before[e].rest, after[e].rest
	provider := slog.String("provider", s.Table.egresses[e].provider)
	switch {
	case was.State == quota.Ready && is.State != quota.Ready:
		r.logger.Warn("provider rests", provider, slog.String("reason", is.Reason), slog.Time("until", is.Until))
	case was.State != quota.Ready && is.State == quota.Ready:
		r.logger.Info("provider usable again", provider)
		return true
	}
	return false
}
