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
	var ops []any
	blocks := slices.DeleteFunc(st.Blocks(time.Time{}), func(b quota.Block) bool { return !b.Shareable() || private(b.State) })
	longest := make(map[string]*quota.Block, len(blocks))
	for i := range blocks {
		if b := &blocks[i]; longest[b.Cause()] == nil || lasts(b, longest[b.Cause()].Until) {
			longest[b.Cause()] = b
		}
	}
	for i := range blocks {
		if b := &blocks[i]; longest[b.Cause()] == b {
			ops = append(ops, l.tell(b, now)...)
		}
	}
	for cause, r := range l.records {
		// What is about to end is no longer there, and not because it was disproved.
		if r.ours && longest[cause] == nil && r.stands(l.when.redis) && (r.until == forever || l.when.at(r.until).Sub(now) > slack) {
			if data, err := write(&r.block); err == nil { // nothing in it could be an error
				ops = append(ops, "over", cause, max(0, now.Sub(proved).Milliseconds()), data, r.since, "")
			}
		}
	}
	return ops
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
	if r != nil {
		cleared = max(cleared, r.cleared)
		if !r.missing && r.since > cleared && r.stands(l.when.redis) && (r.until == forever || !b.Until.IsZero() && !lasts(b, l.when.at(r.until).Add(slack))) {
			return nil
		}
	}
	data, err := write(b)
	if err != nil { // nothing in it could be
		return nil
	}
	return []any{"block", b.Cause(), max(0, now.Sub(b.Since).Milliseconds()), data, left, cleared}
}

// lasts reports whether a block lasts longer than until; zero is for ever.
func lasts(b *quota.Block, until time.Time) bool {
	return !until.IsZero() && (b.Until.IsZero() || b.Until.After(until))
}

// take reads what Redis has now, and returns what of it is news to this hub.
func (l *ledger) take(got *told, private func(quota.State) bool) router.News {
	was, first := l.records, !l.read
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
		if old != nil {
			r.ours = old.ours
		}
		if (old == nil || r.cleared > old.cleared) && r.cleared > 0 {
			over := r.here(got.when)
			over.Since = got.when.atLatest(r.cleared)
			news.Over = append(news.Over, over)
		}
		if r.stands(got.when.redis) && (first || old == nil || !old.stands(got.when.redis) || r.until > old.until || r.since > old.since) {
			news.Blocks = append(news.Blocks, r.here(got.when))
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
