package probe

import (
	"slices"
	"time"
)

// unit is an account, or twins that are one, with what the schedule knows of it.
type unit struct {
	targets []Target // of one group, in the order of the configuration; never changed

	// Guarded by Prober.mu.
	flight     *flight            // the look under way
	due        time.Time          // when the schedule looks next
	fresh      time.Time          // until when the last look stands
	held       time.Time          // until when the provider asked to be left alone, whoever asks
	discovered time.Time          // when the models were listed last
	refused    map[string]refusal // by profile
}

// flight is one look at a unit.
type flight struct {
	cancel  func()
	done    chan struct{}     // closed when results are there
	results map[string]Result // by profile
}

// startGap is how far apart looks begin when many accounts become known at once, on average.
const startGap = 100 * time.Millisecond

// Configure replaces the accounts. What is known of one that stays as it was is kept, and no look is made for it; looks
// at what has gone or changed are cancelled, and nothing of theirs is told.
func (p *Prober) Configure(targets []Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	units, places := p.arranged(targets)
	for key, old := range p.units {
		if units[key] != old && old.flight != nil {
			old.flight.cancel()
		}
	}
	for profile := range p.known {
		if places[profile].target != p.targets[profile].target {
			delete(p.known, profile)
		}
	}
	p.units, p.targets = units, places
	p.lanes = p.lanesOf(targets)
	p.poke()
}

// arranged groups the targets. A unit of the same targets as before is the one of before.
func (p *Prober) arranged(targets []Target) (map[string]*unit, map[string]placed) {
	groups := map[string][]Target{}
	for _, t := range targets {
		groups[t.key()] = append(groups[t.key()], t)
	}
	now, spread := p.now(), min(time.Duration(len(groups))*startGap, p.ttl)
	units, places := make(map[string]*unit, len(groups)), make(map[string]placed, len(targets))
	for key, group := range groups {
		u := p.units[key]
		if u == nil || !slices.Equal(u.targets, group) {
			u = &unit{targets: group, due: now.Add(p.share(spread)), refused: map[string]refusal{}}
		}
		units[key] = u
		for _, t := range group {
			places[t.Profile] = placed{t, u}
		}
	}
	return units, places
}

// key is what a target's unit is filed under.
func (t Target) key() string {
	if t.Group != "" {
		return "group " + t.Group
	}
	return "profile " + t.Profile
}

// lanesOf are the lanes of the targets, those in use taken over.
func (p *Prober) lanesOf(targets []Target) map[string]chan struct{} {
	lanes := make(map[string]chan struct{}, len(targets))
	for _, t := range targets {
		name := lane(t)
		if lanes[name] = p.lanes[name]; lanes[name] == nil {
			lanes[name] = make(chan struct{}, p.concurrency)
		}
	}
	return lanes
}

// share is a random part of a time.
func (p *Prober) share(of time.Duration) time.Duration {
	return time.Duration(p.jitter() * float64(of))
}

// CredentialChanged makes a look due where the last one found the credential no good. After any other look it does
// nothing: a token that was refreshed for a look is no reason for the next one.
func (p *Prober) CredentialChanged(profile string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.targets[profile].unit
	if u == nil {
		return
	}
	switch p.known[profile].Outcome {
	case Auth, Unconfigured, NotExposed, Entitlement, Forbidden:
		u.due, u.fresh = p.now(), p.now()
		p.poke()
	}
}
