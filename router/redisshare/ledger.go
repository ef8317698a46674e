package redisshare

import (
	"slices"
	"sync/atomic"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// ledger is what Redis is known to have of an account. But for the first fields it is the exchanging loop's.
type ledger struct {
	stale atomic.Bool               // there is something newer
	clear atomic.Pointer[time.Time] // when an operator cleared the account here, which is yet to be told; nil = it is not
	key   atomic.Pointer[string]    // nil = which account this is has not been told yet
	stamp atomic.Pointer[string]    // of what was read or written last

	identity string
	read     bool // since the account is this one
	cleared  int64
	records  map[string]*record // by cause
	when     instant            // when it was read
}

// slack is how much longer a block has to last than it is known to, to be worth telling. Clocks are never told exactly.
const slack = time.Second

// keyOr is the hash's key, or another one that is as good as any.
func (l *ledger) keyOr(other string) string {
	if key := l.key.Load(); key != nil {
		return *key
	}
	return other
}

// stamped takes in the stamp that the hash was seen to have. It reports whether that is news.
func (l *ledger) stamped(stamp string) bool {
	known := l.stamp.Load()
	if known == nil || *known == stamp {
		return false
	}
	l.stale.Store(true)
	return true
}

// be makes the ledger that of an account.
func (l *ledger) be(identity, key string) {
	if l.identity == identity {
		return
	}
	l.identity, l.read, l.cleared, l.records = identity, false, 0, nil
	l.stamp.Store(nil)
	l.key.Store(&key)
}

// operations are what is to be told: what this hub has seen and Redis does not know of, and what it has disproved, by a call
// that began at proved. private states are nobody else's concern.
func (l *ledger) operations(st quota.Standing, private func(quota.State) bool, proved, now time.Time) []any {
	if !l.read || st.Spotless() && len(l.records) == 0 {
		return nil
	}
	blocks := slices.DeleteFunc(st.Blocks(time.Time{}), func(b quota.Block) bool { return !b.Shareable() || private(b.State) })
	longest := make(map[string]*quota.Block, len(blocks))
	for i := range blocks {
		if b := &blocks[i]; longest[b.Cause()] == nil || lasts(b, longest[b.Cause()].Until) {
			longest[b.Cause()] = b
		}
	}
	var ops []any
	for cause, r := range l.records {
		if l.disproved(r, longest[cause], proved, now) {
			ops = append(ops, "over", cause, max(0, now.Sub(proved).Milliseconds()), written(r.block), r.since, "")
			r.missing = true // what is seen of it now is another
		}
	}
	for _, b := range longest {
		ops = append(ops, l.tell(b, now)...)
	}
	return ops
}

// disproved reports whether what is recorded does not stand any more, as this hub knows: b is what it has of the same cause
// now, nil = nothing. What is about to end is gone because it has ended; and what has become shorter was disproved and then
// seen again, unless a clock was set.
func (l *ledger) disproved(r *record, b *quota.Block, proved, now time.Time) bool {
	if !r.ours || r.missing && r.since == 0 || !r.stands(l.when.redis) || r.until != forever && l.when.at(r.until).Sub(now) <= slack {
		return false
	}
	if b == nil {
		return true
	}
	shorter := !b.Until.IsZero() && (r.until == forever || l.when.at(r.until).Sub(b.Until) > slack)
	return shorter && proved.After(l.when.at(r.since))
}

// tell is the operation for a block, if there is to be one.
func (l *ledger) tell(b *quota.Block, now time.Time) []any {
	r := l.records[b.Cause()]
	left := int64(unknown)
	if !b.Until.IsZero() {
		if left = b.Until.Sub(now).Milliseconds(); left < slack.Milliseconds() || left > farthest.Milliseconds() {
			return nil
		}
	}
	var cleared int64
	if b.State != quota.StateAuthRequired {
		cleared = l.cleared
	}
	switch {
	case r == nil:
		l.records[b.Cause()] = &record{block: *b, ours: true, missing: true}
	case !r.missing && r.stands(l.when.redis) && (r.until == forever || !lasts(b, l.when.at(r.until).Add(slack))):
		return nil
	default:
		cleared = max(cleared, r.cleared)
	}
	return []any{"block", b.Cause(), max(0, now.Sub(b.Since).Milliseconds()), written(*b), left, cleared}
}

// lasts reports whether a block lasts longer than until; zero is for ever.
func lasts(b *quota.Block, until time.Time) bool {
	return !until.IsZero() && (b.Until.IsZero() || b.Until.After(until))
}

// take reads what Redis has now, and returns what of it is news to this hub.
func (l *ledger) take(got *told, private func(quota.State) bool) router.News {
	was := l.records
	l.records = make(map[string]*record, len(got.records))
	l.read, l.when = true, got.when
	l.stamp.Store(&got.stamp)
	var news router.News
	if got.cleared > l.cleared {
		news.Cleared = got.when.atLatest(got.cleared)
	}
	l.cleared = got.cleared
	for cause, value := range got.records {
		r, ok := readRecord(cause, value)
		if !ok || private(r.block.State) {
			continue
		}
		if r.block.State != quota.StateAuthRequired {
			r.cleared = max(r.cleared, l.cleared)
		}
		l.records[cause] = &r
		old := was[cause]
		if old != nil { // what ended, and stands again, is another
			r.ours = old.ours && (old.missing || old.stands(got.when.redis))
		}
		if (old == nil || r.cleared > old.cleared) && r.cleared > 0 {
			over := r.here(got.when)
			over.Since = got.when.atLatest(r.cleared)
			news.Over = append(news.Over, over)
		}
		switch {
		case !r.stands(got.when.redis):
		case !r.ours:
			news.Blocks = append(news.Blocks, r.here(got.when))
		case r.until > old.until || r.since > old.since:
			news.Again = append(news.Again, r.here(got.when))
		}
	}
	for cause, r := range was {
		if l.records[cause] == nil && r.ours && r.stands(got.when.redis) {
			r.missing = true
			l.records[cause] = r
		}
	}
	return news
}

// knows notes which of the blocks that stand this hub knows of.
func (l *ledger) knows(st quota.Standing) {
	for _, b := range st.Blocks(time.Time{}) {
		if r := l.records[b.Cause()]; r != nil && r.stands(l.when.redis) {
			r.ours = true
		}
	}
}
