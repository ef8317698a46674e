package quota

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// family is the family of the called model.
func (c Call) family() string { return cmp.Or(c.Family, Family(c.Model)) }

// disproved copies the blocks without those that a successful call disproves: those in its way that were seen before it
// began. A success that began before a failure says nothing about it.
func disproved(blocks []Block, c Call) []Block {
	return keep(blocks, func(b Block) bool { return !b.covers(c.Model, c.family()) || !c.StartedAt.After(b.Since) })
}

// served is the buckets without those that a successful call disproves: they were seen spent before it began. What is in
// them now is not known.
func (s Standing) served(c Call) []Bucket {
	buckets := s.buckets
	for i := range s.pools {
		p := &s.pools[i]
		if p.block.State == Ready || !c.StartedAt.After(p.SeenAt) || !s.draws(p, c.Model, c.family()) {
			continue
		}
		buckets = slices.DeleteFunc(slices.Clone(buckets), func(b Bucket) bool { return b.ID == p.ID })
	}
	return buckets
}

// refuted is the quota blocks that stand after a measurement. One that names its window falls when something is left in that
// window; one that names none, when something is left in every window that it can be about. The measurement must be newer
// than the block. It clears neither a refused credential nor a bill.
func (s Standing) refuted(measured []Bucket, c Call) []Block {
	return keep(s.blocks, func(b Block) bool {
		if b.State != StateQuota || !c.StartedAt.After(b.Since) {
			return true
		}
		if b.Bucket == "" {
			return !s.leftIn(b)
		}
		return !slices.ContainsFunc(measured, func(m Bucket) bool { return m.ID == b.Bucket && m.left().Value > 0 })
	})
}

// leftIn reports whether newer measurements found something in every pool that a block without a name can be about, and in
// at least one that is exactly for what it blocks.
func (s Standing) leftIn(b Block) bool {
	exactly := false
	for i := range s.pools {
		switch p := &s.pools[i]; {
		case p.key != "" && p.key != b.Key:
		case !p.SeenAt.After(b.Since) || p.left().Value <= 0:
			return false
		default:
			exactly = exactly || p.key == b.Key
		}
	}
	return exactly
}

// refillsLater reports whether a newer measurement than a refusal found something in the window that it names: the refusal
// was heard late.
func (s Standing) refillsLater(b Block) bool {
	i, known := slices.BinarySearchFunc(s.buckets, Bucket{ID: b.Bucket}, compareID)
	return b.Bucket != "" && known && s.buckets[i].SeenAt.After(b.Since) && s.buckets[i].left().Value > 0
}

// Measure folds in what a usage endpoint said, asked at a time: the buckets, and the end of the quota blocks that they
// disprove. It never changes health otherwise: a probe that failed says nothing of the account's calls.
func (s Standing) Measure(r Reading, at time.Time, p Policy) Standing {
	if r.Class != OK {
		return s
	}
	s.relook = p.QuotaCooldown
	return s.measured(r, Call{StartedAt: at, At: at})
}

// shared are the states that two credentials of one account have in common.
var shared = []State{StateQuota, StateRateLimited, StateBilling}

// ApplyTwin folds in a Reading of another credential of the same account: what it says of quota, rates and bills, and
// nothing of its credential or its path.
func (s Standing) ApplyTwin(r Reading, c Call, p Policy) Standing {
	state, blocking := states[r.Class]
	switch {
	case r.Class == OK:
		own := keep(s.blocks, func(b Block) bool { return !slices.Contains(shared, b.State) })
		s.blocks = keep(s.blocks, func(b Block) bool { return slices.Contains(shared, b.State) })
		s = s.Apply(r, c, p)
		s.blocks = bounded(append(own, s.blocks...))
		return s
	case blocking && slices.Contains(shared, state):
		return s.Apply(r, c, p)
	}
	return s
}

// Share is the Standing with what another credential of the same account has taught: its blocks for quota, rates and bills,
// and the newest value of each bucket.
func (s Standing) Share(twin Standing) Standing {
	blocks, buckets := slices.Clone(s.blocks), slices.Clone(s.buckets)
	for _, b := range twin.blocks {
		if !slices.Contains(shared, b.State) {
			continue
		}
		if i := slices.IndexFunc(blocks, b.sameCause); i >= 0 {
			blocks[i] = blocks[i].join(b)
		} else {
			blocks = append(blocks, b)
		}
	}
	for _, b := range twin.buckets {
		i, known := slices.BinarySearchFunc(buckets, b, compareID)
		switch {
		case !known && len(buckets) < keptBuckets:
			buckets = slices.Insert(buckets, i, b)
		case known && b.SeenAt.After(buckets[i].SeenAt):
			buckets[i] = b
		}
	}
	s.relook = max(s.relook, twin.relook)
	return s.with(bounded(blocks), buckets)
}

// covers reports whether what is filed under a key is about a model.
func covers(key, model, family string) bool {
	if key == "" {
		return true
	}
	if name, ok := strings.CutPrefix(key, modelKey); ok {
		return strings.EqualFold(name, model)
	}
	name, ok := strings.CutPrefix(key, familyKey)
	return ok && (name == family || named(model, name))
}
