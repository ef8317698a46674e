package quota

import (
	"slices"
	"time"
)

// spend finds the window that a refusal for quota is about, and what the refusal says of the buckets. It is the one that
// the answer says is spent; else the one of which that was known; else the shortest of those measured that the refusal can
// be about, which then is spent. Others keep their values.
func (s Standing) spend(r Reading, c Call) (id string, measured []Bucket) {
	var named Bucket
	for _, b := range r.Buckets {
		if b.isSpent() && (named.ID == "" || laterReset(b.ResetAt, named.ResetAt)) {
			named = b
		}
	}
	if named.ID != "" {
		return named.ID, r.Buckets
	}
	wait := r.RetryAfter
	if r.ResetAt.After(c.At) {
		wait = r.ResetAt.Sub(c.At)
	}
	p, ok := s.culprit(r, c, wait)
	if !ok {
		return "", r.Buckets
	}
	b := p.spent()
	b.Source = SourceRuntimeEvent
	if b.Remaining.Known {
		b.Remaining = Known(0)
	}
	if wait > 0 {
		b.ResetAt = c.At.Add(wait)
	} else if !p.holds(c.At) {
		b.ResetAt = time.Time{}
	}
	return p.ID, append(slices.Clip(r.Buckets), b)
}

// culprit is the pool that a refusal which names none is about: one that is spent already, else the one with the shortest
// window that is not shorter than the stated wait. What the refusal itself measured is not spent.
func (s Standing) culprit(r Reading, c Call, wait time.Duration) (found pool, ok bool) {
	key := blockKey(r, c)
	for _, p := range s.pools {
		measured := slices.ContainsFunc(r.Buckets, func(b Bucket) bool { return b.ID == p.ID })
		if measured || p.block.State == StateBilling || !p.within(key, c) || p.length > 0 && p.length < wait {
			continue
		}
		spent, best := p.block.State != Ready && !p.block.expired(c.At), found.block.State != Ready && !found.block.expired(c.At)
		if !ok || spent && !best || spent == best && p.shorter(&found) {
			found, ok = p, true
		}
	}
	return found, ok
}

// within reports whether a pool lies within what a refusal is about, so that spending it closes no more than was refused. A
// refusal of the whole account may come from the pool of the family that was called.
func (p *pool) within(key string, c Call) bool {
	if key == "" {
		return covers(p.key, c.Model, c.family())
	}
	return p.key == key
}

// shorter compares the lengths of windows; an unknown one is the longest.
func (p *pool) shorter(than *pool) bool {
	return p.length > 0 && (than.length == 0 || p.length < than.length)
}
