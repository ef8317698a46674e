package quota

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// keptBlocks and keptBuckets bound a Standing: clients choose the names of models, upstreams those of headers.
	keptBlocks  = 256
	keptBuckets = 64

	familyKey = "family:"
	modelKey  = "model:"
)

// states are what the failing classes make of an account. A class that is not here is about the request alone.
var states = map[Class]State{
	RateLimited: StateRateLimited, QuotaExhausted: StateQuota, Billing: StateBilling, AuthExpired: StateAuthRequired,
	AuthInvalid: StateAuthRequired, Forbidden: StateForbidden, ModelNotFound: StateNoModel, Overloaded: StateCooldown,
	ServerError: StateCooldown, Timeout: StateCooldown,
}

// Apply folds one Reading in. A failure blocks the key of its scope, a success takes away what it disproves, and both
// bring their buckets up to date. A Reading about a request alone changes nothing.
func (s Standing) Apply(r Reading, c Call, p Policy) Standing {
	s.relook = p.QuotaCooldown
	if r.Class == OK {
		return s.with(disproved(s.blocks, c), s.served(c)).measured(r, c)
	}
	state, blocking := states[r.Class]
	if r.Scope == ScopeRequest || !blocking {
		return s
	}
	next := Block{
		State: state, Class: r.Class, Scope: r.Scope, Key: blockKey(r, c), Since: c.At, Source: r.Source, Reason: r.Reason,
	}
	if state == StateQuota {
		next.Bucket, r.Buckets = s.spend(r, c)
	}
	i := slices.IndexFunc(s.blocks, next.sameCause)
	if i >= 0 {
		next.Failures = s.blocks[i].Failures
	}
	if state == StateCooldown && (i < 0 || !c.StartedAt.Before(s.blocks[i].Since)) {
		next.Failures++ // a call that began before the last failure was seen is part of the same trouble
	}
	next.Until, next.Stated = until(state, next.Failures, r, c.At, p)
	blocks := slices.Clone(s.blocks)
	switch {
	case s.refillsLater(next):
	case i >= 0:
		blocks[i] = blocks[i].join(next)
	default:
		blocks = append(blocks, next)
	}
	return s.with(bounded(blocks), s.buckets).measured(r, c)
}

// measured is the Standing with what a Reading measured, without the quota blocks that this disproves.
func (s Standing) measured(r Reading, c Call) Standing {
	if len(r.Buckets) == 0 {
		return s
	}
	s = s.with(s.blocks, mergeBuckets(s.buckets, r.Buckets, r.Source, c))
	s.blocks = s.refuted(r.Buckets, c)
	return s
}

// until is how long a failure blocks, and whether the provider said so.
func until(state State, failures int, r Reading, at time.Time, p Policy) (t time.Time, stated bool) {
	switch state {
	case StateAuthRequired:
		return time.Time{}, false
	case StateBilling, StateForbidden, StateNoModel:
		return at.Add(p.CooldownMax), false
	}
	switch {
	case r.ResetAt.After(at):
		return r.ResetAt, true
	case r.RetryAfter > 0:
		return at.Add(r.RetryAfter), true
	case state == StateQuota:
		return at.Add(p.QuotaCooldown), false
	case state == StateRateLimited:
		return at.Add(p.RateLimitCooldown), false
	}
	return at.Add(p.backoff(failures)), false
}

// backoff is the wait after so many consecutive transient failures.
func (p Policy) backoff(failures int) time.Duration {
	wait, limit := p.CooldownBase, max(p.CooldownBase, p.CooldownMax)
	for range failures - 1 {
		if wait >= limit/2 {
			return limit
		}
		wait *= 2
	}
	return wait
}

// blockKey is what a failure is filed under.
func blockKey(r Reading, c Call) string {
	switch r.Scope {
	case ScopeFamily:
		family := r.Family
		if family == Variant {
			family = variant(c.Model)
		}
		own := c.family()
		if family = cmp.Or(family, own); family != own && !named(c.Model, family) {
			return modelKey + c.Model // the answer calls the model by another name: what else that covers is not known
		}
		return familyKey + family
	case ScopeModel:
		return modelKey + c.Model
	}
	return ""
}

// sameCause reports whether two blocks are about the same: joined, they are one.
func (b Block) sameCause(other Block) bool {
	return b.Key == other.Key && b.State == other.State && b.Bucket == other.Bucket
}

// join is what two pieces of evidence for one cause come to: the later end, and everything else of the evidence
// that gave it; the newer sighting. Joining in another order gives the same.
func (b Block) join(other Block) Block {
	joined, spare := b, other
	if cmp.Or(compareUntil(other, b), other.Since.Compare(b.Since), cmp.Compare(other.Reason, b.Reason)) > 0 {
		joined, spare = other, b
	}
	if spare.Since.After(joined.Since) {
		joined.Since = spare.Since
	}
	joined.Failures = max(joined.Failures, spare.Failures)
	return joined
}

// compareUntil compares how long two blocks last; a zero Until lasts for ever.
func compareUntil(x, y Block) int {
	switch {
	case x.Until.Equal(y.Until):
		return 0
	case x.Until.IsZero():
		return 1
	case y.Until.IsZero():
		return -1
	}
	return x.Until.Compare(y.Until)
}

// bounded orders the blocks and, above the bound, lets go of those of single models that end first.
func bounded(blocks []Block) []Block {
	if len(blocks) > keptBlocks {
		slices.SortFunc(blocks, func(x, y Block) int {
			return cmp.Or(-cmp.Compare(weight(x), weight(y)), -compareUntil(x, y))
		})
		blocks = blocks[:keptBlocks]
	}
	slices.SortFunc(blocks, func(x, y Block) int {
		return cmp.Or(strings.Compare(x.Key, y.Key), strings.Compare(string(x.State), string(y.State)), strings.Compare(x.Bucket, y.Bucket))
	})
	return blocks
}

// weight is how much of the account a block is about.
func weight(b Block) int {
	switch {
	case b.Key == "":
		return 2
	case strings.HasPrefix(b.Key, familyKey):
		return 1
	}
	return 0
}
