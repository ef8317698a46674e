package quota

import (
	"slices"
	"time"
)

// Heard is the Standing with a block that was seen elsewhere, by another instance of the hub that uses the same account.
func (s Standing) Heard(b Block) Standing {
	blocks := slices.Clone(s.blocks)
	if i := slices.IndexFunc(blocks, b.sameCause); i >= 0 {
		blocks[i] = blocks[i].join(b)
	} else {
		blocks = append(blocks, b)
	}
	return s.with(bounded(blocks), s.buckets)
}

// Has reports whether anything of a block's cause stands, or has run out and is yet to be disproved.
func (s Standing) Has(b Block) bool {
	return slices.ContainsFunc(s.Blocks(time.Time{}), b.sameCause)
}

// Over is the Standing after it was disproved elsewhere that a block still stands: what is of its cause is gone, refused or
// measured, but for what was seen after b.Since.
func (s Standing) Over(b Block) Standing {
	return s.without(func(old *Block) bool { return b.sameCause(*old) && !old.Since.After(b.Since) })
}

// ClearedAt is Cleared by an operator of another instance, at a time: what was seen later stays.
func (s Standing) ClearedAt(at time.Time) Standing {
	return s.without(func(b *Block) bool { return b.State != StateAuthRequired && !b.Since.After(at) })
}

// without is the Standing without some of its blocks, and without the buckets that those stand for.
func (s Standing) without(gone func(*Block) bool) Standing {
	buckets := s.buckets
	for i := range s.pools {
		if p := &s.pools[i]; p.block.State != Ready && gone(&p.block) {
			buckets = slices.DeleteFunc(slices.Clone(buckets), func(b Bucket) bool { return b.ID == p.ID })
		}
	}
	return s.with(keep(s.blocks, func(b Block) bool { return !gone(&b) }), buckets)
}

// Shareable reports whether a block is worth telling other instances of the hub that use the same account: they would be
// refused likewise. A model that the account does not have is found out by one call.
func (b *Block) Shareable() bool { return b.State != Ready && b.State != StateNoModel }

// Cause names what a block is about: two of one account with the same cause are one.
func (b *Block) Cause() string { return string(b.State) + "|" + b.Key + "|" + b.Bucket }
