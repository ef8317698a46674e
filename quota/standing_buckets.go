package quota

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// pool is a bucket that decides about calls: whose, how long its window is, and what stands against them while it is spent.
//
// Only windows of plans and balances are pools: those that an id names by their length or by what they hold. The rates of
// headers ("requests", "tokens_minute") are not: they are those of one model with most providers, without saying of which,
// and their reset is the time to a full refill, long after the next call would be taken. An answer that leaves none of them
// is no refusal; when a 429 comes, that blocks, for as long as it says.
type pool struct {
	Bucket
	key     string        // whose it is, as a Block's Key
	length  time.Duration // of the window; 0 = unknown
	derived bool          // the least of a family's models: nothing that a model with a bucket of its own draws from
	block   Block         // zero while something is left
}

// poolsOf works the pools out of the buckets. relook is how long a spent one counts that does not say when it resets.
func poolsOf(buckets []Bucket, relook time.Duration) []pool {
	var pools []pool
	for _, b := range buckets {
		p, ok := poolOfBucket(b)
		if !ok {
			continue
		}
		if b.isSpent() && !otherBalance(buckets, b) {
			p.block = p.spentBlock(relook)
		}
		pools = append(pools, p)
	}
	return pools
}

// poolOfBucket reads an id of the contract: "<provider>.<window>" is the account's, "<provider>.<window>.<words>" that of the
// models with these words in their names, "<provider>.<family>.<window>" a family's, "<provider>.<family>.<model>" a model's.
func poolOfBucket(b Bucket) (pool, bool) {
	_, name, _ := strings.Cut(b.ID, ".")
	first, rest, divided := strings.Cut(name, ".")
	p := pool{Bucket: b}
	length, window := windowLength(first)
	switch {
	case window && divided:
		p.key, p.length = familyKey+rest, length
	case window:
		p.length = length
	case divided && slices.Contains(families, first):
		if p.length, window = windowLength(rest); window {
			p.key = familyKey + first
			p.derived = rest == modelPool
		} else {
			p.key = modelKey + rest
		}
	case !divided && (isMoney(first) || strings.HasPrefix(first, "key_")):
	default:
		return pool{}, false
	}
	return p, true
}

// modelPool is the window of a family's pool of which only its models were measured.
const modelPool = "model_pool"

// windowLength is the length of a window by its name, 0 where the name does not tell.
func windowLength(name string) (length time.Duration, ok bool) {
	switch name {
	case "session":
		return 5 * time.Hour, true
	case "hourly":
		return time.Hour, true
	case "daily":
		return 24 * time.Hour, true
	case "weekly":
		return 7 * 24 * time.Hour, true
	case "monthly":
		return 31 * 24 * time.Hour, true
	case modelPool:
		return 0, true
	}
	if len(name) < 2 || len(name) > 6 {
		return 0, false
	}
	for _, c := range []byte(name[:len(name)-1]) {
		if !digit(c) {
			return 0, false
		}
		length = 10*length + time.Duration(c-'0')
	}
	switch name[len(name)-1] {
	case 'm':
		length *= time.Minute
	case 'h':
		length *= time.Hour
	case 'd':
		length *= 24 * time.Hour
	default:
		return 0, false
	}
	return length, length > 0
}

// isMoney reports whether a bucket is a balance: only a payment fills it. Credits are none: some models are free.
func isMoney(name string) bool {
	return name == "key" || name == "balance" || strings.HasPrefix(name, "balance_")
}

// otherBalance reports whether an empty balance has a sibling in another currency with something in it.
func otherBalance(buckets []Bucket, b Bucket) bool {
	purse, _, ok := strings.Cut(b.ID, ".balance_")
	return ok && slices.ContainsFunc(buckets, func(o Bucket) bool {
		return strings.HasPrefix(o.ID, purse+".balance_") && !o.isSpent()
	})
}

// spentBlock is what stands against calls while nothing is left: until the reset, or, where none is known, until it is worth
// another look. A reset that had passed when the bucket was measured says that it is full again.
func (p *pool) spentBlock(relook time.Duration) Block {
	b := Block{
		State: StateQuota, Class: QuotaExhausted, Scope: ScopeAccount, Key: p.key, Bucket: p.ID,
		Since: p.SeenAt, Until: p.ResetAt, Stated: true, Source: p.Source, Reason: "bucket:" + p.ID,
	}
	switch {
	case strings.HasPrefix(p.key, familyKey):
		b.Scope = ScopeFamily
	case strings.HasPrefix(p.key, modelKey):
		b.Scope = ScopeModel
	}
	_, name, _ := strings.Cut(p.ID, ".")
	switch {
	case isMoney(name):
		b.State, b.Class = StateBilling, Billing
	case p.length > 0 && p.length < fixedWindow:
		b.State, b.Class = StateRateLimited, RateLimited
	}
	switch {
	case p.ResetAt.IsZero() && b.State == StateRateLimited, !p.ResetAt.IsZero() && !p.ResetAt.After(p.SeenAt):
		return Block{}
	case p.ResetAt.IsZero():
		b.Until, b.Stated = p.SeenAt.Add(relook), false
	}
	return b
}

// Governing is the bucket that a call of the model is bounded by: of all that it draws from the one with the least left, and
// of several equal ones the one that resets last. ok is false where none is measured: unknown is neither empty nor full. A
// bucket whose window has been reset since it was measured is not known any more. It does not allocate.
func (s Standing) Governing(model, family string, now time.Time) (b Bucket, ok bool) {
	for i := range s.pools {
		p := &s.pools[i]
		left := p.left()
		if !left.Known || !p.holds(now) || !s.draws(p, model, family) {
			continue
		}
		if worst := b.left(); !ok || left.Value < worst.Value || left.Value == worst.Value && laterReset(p.ResetAt, b.ResetAt) {
			b, ok = p.Bucket, true
		}
	}
	return b, ok
}

// Bounded reports whether any bucket is measured that calls could be bounded by: without one Governing need not be asked.
func (s Standing) Bounded() bool { return len(s.pools) > 0 }

// Windows lists the buckets that bound calls, by ID, without those whose window has been reset since.
func (s Standing) Windows(now time.Time) []Bucket {
	var windows []Bucket
	for i := range s.pools {
		if s.pools[i].holds(now) {
			windows = append(windows, s.pools[i].Bucket)
		}
	}
	return windows
}

// left is the remaining percentage, 0 of one that is spent by its count.
func (b *Bucket) left() Number {
	if b.isSpent() {
		return Known(0)
	}
	return b.RemainingPercent
}

// holds reports whether the numbers of a pool are still those of the window that runs.
func (p *pool) holds(now time.Time) bool {
	return p.ResetAt.IsZero() || p.ResetAt.After(now) && p.ResetAt.After(p.SeenAt)
}

// laterReset compares resets; an unknown one is the latest.
func laterReset(x, y time.Time) bool { return !y.IsZero() && (x.IsZero() || x.After(y)) }

// draws reports whether calls of a model draw from a pool.
func (s Standing) draws(p *pool, model, family string) bool {
	if !covers(p.key, model, family) {
		return false
	}
	return !p.derived || !slices.ContainsFunc(s.pools, func(o pool) bool {
		name, ok := strings.CutPrefix(o.key, modelKey)
		return ok && strings.EqualFold(name, model)
	})
}

// mergeBuckets brings the buckets up to date with what a Reading measured. An answer that was read before the one that gave
// a bucket its value does not overwrite it, and neither does one to a call that began before a pool was seen spent.
func mergeBuckets(old, measured []Bucket, source Source, c Call) []Bucket {
	if len(measured) == 0 {
		return old
	}
	merged := slices.Clone(old)
	for _, b := range measured {
		b.SeenAt, b.Source = c.At, cmp.Or(b.Source, source)
		i, known := slices.BinarySearchFunc(merged, b, compareID)
		switch {
		case !known && len(merged) < keptBuckets:
			merged = slices.Insert(merged, i, b)
		case known && b.supersedes(&merged[i], c):
			merged[i] = b
		}
	}
	return merged
}

// supersedes reports whether a measurement takes the place of an earlier one of the same bucket.
func (b *Bucket) supersedes(old *Bucket, c Call) bool {
	if c.At.Before(old.SeenAt) {
		return false
	}
	inForce := old.isSpent() && (old.ResetAt.IsZero() || old.ResetAt.After(c.At))
	if inForce {
		_, inForce = poolOfBucket(*old)
	}
	if inForce && b.isSpent() && (b.ResetAt.IsZero() || b.Source == SourceRuntimeEvent && old.ResetAt.After(b.ResetAt)) {
		b.ResetAt = old.ResetAt // of two refusals by one window the later deadline counts; silence takes none away
	}
	return !inForce || b.isSpent() || c.StartedAt.After(old.SeenAt)
}

// compareID orders buckets.
func compareID(x, y Bucket) int { return strings.Compare(x.ID, y.ID) }
