package quota

import (
	"slices"
	"time"
)

// Check says whether a model may be called now: the zero Block, or what is in the way, refused or measured. Of several
// blocks a refused credential comes first, then the one that lasts longest. It does not allocate.
func (s Standing) Check(model, family string, now time.Time) Block {
	if s.Spotless() {
		return Block{}
	}
	return s.weightiest(func(b *Block) bool { return !b.expired(now) && b.covers(model, family) },
		func(p *pool) bool { return !p.block.expired(now) && s.draws(p, model, family) })
}

// Account is Check for the account as a whole, whatever the model.
func (s Standing) Account(now time.Time) Block {
	whole := func(b *Block) bool { return !b.expired(now) && b.Key == "" }
	return s.weightiest(whole, func(p *pool) bool { return whole(&p.block) })
}

// Unproven is what stood against a model until its time was over and no call has disproved since: that it may be called
// again is a hope that one call is enough to try. The zero Block: nothing did. It does not allocate.
func (s Standing) Unproven(model, family string, now time.Time) Block {
	return s.weightiest(func(b *Block) bool { return b.expired(now) && b.covers(model, family) },
		func(p *pool) bool { return p.block.expired(now) && s.draws(p, model, family) })
}

// weightiest is the block that outweighs all others of those that are meant, refused or measured.
func (s Standing) weightiest(refused func(*Block) bool, measured func(*pool) bool) Block {
	var worst *Block
	for i := range s.blocks {
		if b := &s.blocks[i]; refused(b) && (worst == nil || b.outweighs(worst)) {
			worst = b
		}
	}
	for i := range s.pools {
		if p := &s.pools[i]; p.block.State != Ready && measured(p) && (worst == nil || p.block.outweighs(worst)) {
			worst = &p.block
		}
	}
	if worst == nil {
		return Block{}
	}
	return *worst
}

// Blocks lists every block that has not expired at now, refused ones by key, state and bucket, then those of spent buckets:
// a copy.
func (s Standing) Blocks(now time.Time) []Block {
	var active []Block
	for _, b := range s.blocks {
		if !b.expired(now) {
			active = append(active, b)
		}
	}
	for _, p := range s.pools {
		if p.block.State != Ready && !p.block.expired(now) {
			active = append(active, p.block)
		}
	}
	return active
}

// Spotless reports that nothing stands against the account and nothing is yet to be disproved.
func (s Standing) Spotless() bool {
	for i := range s.pools {
		if s.pools[i].block.State != Ready {
			return false
		}
	}
	return len(s.blocks) == 0
}

// Buckets lists the newest value of every bucket, by ID: a copy.
func (s Standing) Buckets() []Bucket { return slices.Clone(s.buckets) }

// Cleared is the Standing after an operator cleared its cool-downs: all blocks are gone but a refused credential, which
// no waiting and no operator mends, and so are buckets that were seen spent. What else was measured stays.
func (s Standing) Cleared() Standing {
	return s.without(func(b *Block) bool { return b.State != StateAuthRequired })
}

// CredentialChanged is the Standing after the account got another credential: what the old one was refused for is gone.
func (s Standing) CredentialChanged() Standing {
	return s.with(keep(s.blocks, func(b Block) bool { return b.State != StateAuthRequired }), s.buckets)
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
func (b *Block) covers(model, family string) bool { return covers(b.Key, model, family) }

// outweighs reports whether b is to be told rather than other when both are in the way.
func (b *Block) outweighs(other *Block) bool {
	if auth := b.State == StateAuthRequired; auth != (other.State == StateAuthRequired) {
		return auth
	}
	return compareUntil(*b, *other) > 0
}

// Equal reports whether two Standings know the same.
func (s Standing) Equal(other Standing) bool {
	return slices.Equal(s.blocks, other.blocks) && slices.Equal(s.buckets, other.buckets)
}
