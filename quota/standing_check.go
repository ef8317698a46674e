package quota

import (
	"slices"
	"strings"
	"time"
)

// Check says whether a model may be called now: the zero Block, or what is in the way. Of several blocks a refused
// credential comes first, then the one that lasts longest. It does not allocate.
func (s Standing) Check(model, family string, now time.Time) Block {
	return s.governing(now, func(b *Block) bool { return b.covers(model, family) })
}

// Account is Check for the account as a whole, whatever the model.
func (s Standing) Account(now time.Time) Block {
	return s.governing(now, func(b *Block) bool { return b.Key == "" })
}

// governing is the weightiest of the blocks that are in the way and have not expired.
func (s Standing) governing(now time.Time, inTheWay func(*Block) bool) Block {
	var worst *Block
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.expired(now) || !inTheWay(b) {
			continue
		}
		if worst == nil || b.outweighs(worst) {
			worst = b
		}
	}
	if worst == nil {
		return Block{}
	}
	return *worst
}

// Blocks lists every block that has not expired at now, by key and state: a copy.
func (s Standing) Blocks(now time.Time) []Block {
	var active []Block
	for _, b := range s.blocks {
		if !b.expired(now) {
			active = append(active, b)
		}
	}
	return active
}

// Buckets lists the newest value of every bucket, by ID: a copy.
func (s Standing) Buckets() []Bucket { return slices.Clone(s.buckets) }

// Cleared is the Standing after an operator cleared its cool-downs: all blocks are gone but a refused credential, which
// no waiting and no operator mends. What was measured stays.
func (s Standing) Cleared() Standing {
	return Standing{blocks: keep(s.blocks, func(b Block) bool { return b.State == StateAuthRequired }), buckets: s.buckets}
}

// CredentialChanged is the Standing after the account got another credential: what the old one was refused for is gone.
func (s Standing) CredentialChanged() Standing {
	return Standing{blocks: keep(s.blocks, func(b Block) bool { return b.State != StateAuthRequired }), buckets: s.buckets}
}

// keep copies the blocks that satisfy a condition.
func keep(blocks []Block, wanted func(Block) bool) []Block {
	var kept []Block
	for _, b := range blocks {
		if wanted(b) {
			kept = append(kept, b)
		}
	}
	return kept
}

// expired reports whether a block is over. The instant of its end is already free.
func (b *Block) expired(now time.Time) bool { return !b.Until.IsZero() && !now.Before(b.Until) }

// covers reports whether a block is in the way of a model.
func (b *Block) covers(model, family string) bool {
	if b.Key == "" {
		return true
	}
	if name, ok := strings.CutPrefix(b.Key, modelKey); ok {
		return name == model
	}
	name, ok := strings.CutPrefix(b.Key, familyKey)
	return ok && (name == family || named(model, name))
}

// outweighs reports whether b is to be told rather than other when both are in the way.
func (b *Block) outweighs(other *Block) bool {
	if auth := b.State == StateAuthRequired; auth != (other.State == StateAuthRequired) {
		return auth
	}
	return compareUntil(*b, *other) > 0
}
