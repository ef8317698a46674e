package quota

import (
	"slices"
	"time"
)

// Simulate is the Standing with a bucket of an operator's own in the place of what is known of it. It counts as if it had been
// measured at that time, and its Source says what it is: a measurement takes its place again.
func (s Standing) Simulate(b Bucket, at time.Time, p Policy) Standing {
	b.SeenAt, b.Source = at, SourceSimulated
	buckets := slices.Clone(s.buckets)
	i, known := slices.BinarySearchFunc(buckets, b, compareID)
	switch {
	case known:
		buckets[i] = b
	case len(buckets) < keptBuckets:
		buckets = slices.Insert(buckets, i, b)
	}
	s.relook = p.QuotaCooldown
	return s.with(s.blocks, buckets)
}

// WithoutSimulation is the Standing without what was simulated. What was known before is not known any more.
func (s Standing) WithoutSimulation() Standing {
	measured := slices.DeleteFunc(slices.Clone(s.buckets), func(b Bucket) bool { return b.Source == SourceSimulated })
	return s.with(s.blocks, measured)
}
