package probe

import (
	"cmp"
	"context"
	"time"
)

const (
	// rarely is how many TTLs lie between looks that promise nothing: a provider without a usage endpoint gets none
	// overnight, and a refusal is not lifted by being asked again. It is also how often models are listed, and how soon a
	// credential that was refused is sent again.
	rarely = 12
	// longestWait bounds how long a provider can ask to be left alone.
	longestWait = 24 * time.Hour
)

// fly makes one look at a unit and takes in what it brings. Who waits for it is let go after everything was told.
func (p *Prober) fly(ctx context.Context, u *unit, f *flight, force bool) {
	looks := p.survey(ctx, u, force)
	for _, l := range looks {
		f.results[l.result.Profile] = l.result
	}
	if p.settle(ctx, u, looks) {
		for _, l := range looks {
			p.report(l.result)
		}
	}
	p.mu.Lock()
	u.flight = nil
	p.mu.Unlock()
	close(f.done)
	p.poke()
}

// looked is what a look came to for one profile.
type looked struct {
	result     Result
	wait       time.Duration
	refused    refusal
	discovered bool
}

// survey looks at the targets of a unit: at the first one, and at the next where that one's credential is no use. What was
// found out with one is true of all, since they are one account.
func (p *Prober) survey(ctx context.Context, u *unit, force bool) []looked {
	looks := make([]looked, 0, len(u.targets))
	var shared *looked
	for _, t := range u.targets {
		if shared != nil {
			twin := *shared
			twin.result.Profile = t.Profile
			looks = append(looks, twin)
			continue
		}
		mine := p.lookAt(ctx, u, t, force)
		looks = append(looks, mine)
		if o := mine.result.Outcome; o != Auth && o != Unconfigured {
			shared = &mine
		}
	}
	return looks
}

// lookAt looks at one target.
func (p *Prober) lookAt(ctx context.Context, u *unit, t Target, force bool) looked {
	p.mu.Lock()
	now, before, slots := p.now(), p.known[t.Profile], p.lanes[lane(t)]
	refused := u.refused[t.Profile]
	discover := force || now.Sub(u.discovered) >= rarely*p.ttl
	p.mu.Unlock()
	if force || now.Sub(refused.at) >= rarely*p.ttl {
		refused = refusal{}
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
	}
	l := &look{prober: p, target: t, row: rowOf(t), discover: discover, project: before.Project, refused: refused}
	began := p.now()
	v := l.run(ctx)
	ended := p.now()
	if v.outcome != Auth {
		l.refused = refusal{}
	}
	return looked{
		result:     l.result(v, before, ended, ended.Sub(began)),
		wait:       v.wait,
		refused:    l.refused,
		discovered: l.discover && (l.models != nil || v.outcome == Measured),
	}
}

// result is what is known after a look: what it found out, and what was known before of what it did not.
func (l *look) result(v verdict, before Result, ended time.Time, took time.Duration) Result {
	r := Result{
		Profile: l.target.Profile, Outcome: v.outcome, TriedAt: ended, Took: took,
		At: before.At, Readings: before.Readings, Models: before.Models,
		Plan: cmp.Or(l.plan, before.Plan), Project: cmp.Or(l.project, before.Project),
	}
	switch v.outcome {
	case Measured:
		r.At, r.Readings = l.at, l.readings
	case Unconfigured:
		r.At, r.Readings = time.Time{}, nil // whose they were is not known
	}
	if l.models != nil {
		r.Models = l.models
	}
	if r.Plan != "" {
		r.PlanSource = "provider_api"
	}
	r.UnavailableRU, r.UnavailableEN = unavailable(v.outcome, l.displayName())
	if v.err != nil && v.outcome != NotExposed {
		r.Err = v.err
	}
	return r
}

// settle takes in what a unit's look came to, and reports whether it counts: the account may have gone, or changed.
func (p *Prober) settle(ctx context.Context, u *unit, looks []looked) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil || p.units[u.targets[0].key()] != u {
		return false
	}
	now, stands, held := p.now(), time.Duration(0), time.Duration(0)
	for _, l := range looks {
		was := p.known[l.result.Profile]
		p.known[l.result.Profile] = l.result
		p.tell(was, l.result)
		u.refused[l.result.Profile] = l.refused
		if l.discovered {
			u.discovered = now
		}
		stands, held = max(stands, p.standsFor(l)), max(held, l.wait)
	}
	u.fresh = now.Add(stands)
	if u.held = now; held > 0 {
		u.held = u.fresh
	}
	u.due = u.fresh.Add(p.share(p.ttl / 10))
	return true
}

// standsFor is how long a look is not repeated.
func (p *Prober) standsFor(l looked) time.Duration {
	switch l.result.Outcome {
	case NotExposed, Entitlement, Forbidden:
		return rarely * p.ttl
	}
	return min(max(p.ttl, l.wait), max(p.ttl, longestWait))
}

// tell logs what has changed: one line when an account's outcome does.
func (p *Prober) tell(was, is Result) {
	switch attrs := []any{"profile", is.Profile, "outcome", is.Outcome, "took_ms", is.Took.Milliseconds()}; {
	case was.Outcome == is.Outcome:
	case is.Err != nil:
		p.log.Warn("quota probe", append(attrs, "error", is.Err)...)
	case was.Outcome != "":
		p.log.Info("quota probe", attrs...)
	}
}
