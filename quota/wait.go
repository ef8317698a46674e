package quota

import (
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Members of an error object that state a time, in the order in which they are believed. Those of a reset mean a window;
// beside an error that is none they are a leftover.
var (
	resetInstantKeys = []string{"resets_at", "reset_at", "resetsAt", "resetAt", "reset_time", "resetTime"}
	resetDelayKeys   = []string{"resets_in_seconds", "reset_in_seconds", "reset_after_seconds"}
	retryMillisKeys  = []string{"retry_after_ms", "retryAfterMs"}
	retryDelayKeys   = []string{"retry_after", "retry_after_seconds", "retryAfter", "retryAfterSeconds"}
)

// statedWait is what an answer says about when to come back; the zero value is nothing.
type statedWait struct {
	until time.Time
	after time.Duration
}

// afterWait is a relative wait.
func (a *answer) afterWait(d time.Duration, ok bool) (statedWait, bool) {
	if d, ok = aheadIf(d, ok); !ok {
		return statedWait{}, false
	}
	if a.At.IsZero() {
		return statedWait{after: d}, true
	}
	return statedWait{until: a.At.Add(d), after: d}, true
}

// untilWait is an absolute wait. One that is not ahead of the answer is no information.
func (a *answer) untilWait(t time.Time, ok bool) (statedWait, bool) {
	if !ok || a.At.IsZero() {
		return statedWait{}, false
	}
	d, ok := ahead(t.Sub(a.At))
	if !ok {
		return statedWait{}, false
	}
	return statedWait{until: t, after: d}, true
}

func aheadIf(d time.Duration, ok bool) (time.Duration, bool) {
	if !ok {
		return 0, false
	}
	return ahead(d)
}

// wait weighs what the answer states about time, the most exact first. A hint that cannot be true is passed over. zone is
// that of times that the provider writes without one; nil is unknown.
func (a *answer) wait(c Class, zone *time.Location) statedWait {
	if limitClass(c) {
		if w, ok := a.resetInstant(zone); ok {
			return w
		}
	}
	if w, ok := a.headerWait(zone); ok {
		return w
	}
	if w, ok := a.bodyDelay(c); ok {
		return w
	}
	if w, ok := a.spentBucket(); ok {
		return w
	}
	w, _ := a.wordsWait(zone)
	return w
}

// resetInstant is an absolute time in a member of an error object, or beside it.
func (a *answer) resetInstant(zone *time.Location) (statedWait, bool) {
	for _, key := range resetInstantKeys {
		for _, v := range a.members(key) {
			if w, ok := a.untilWait(parseInstant(v.String(), zone)); ok {
				return w, true
			}
		}
	}
	return statedWait{}, false
}

// headerWait is retry-after-ms, then Retry-After.
func (a *answer) headerWait(zone *time.Location) (statedWait, bool) {
	if v, ok := parseNumber(a.Header.Get("Retry-After-Ms")); ok {
		if w, ok := a.afterWait(scaled(v, time.Millisecond), true); ok {
			return w, true
		}
	}
	value := strings.TrimSpace(a.Header.Get("Retry-After"))
	if v, ok := parseNumber(value); ok && v < epochSecondsFrom {
		return a.afterWait(scaled(v, time.Second), true)
	}
	if d, ok := parseDuration(value); ok {
		return a.afterWait(d, true)
	}
	if date, err := http.ParseTime(value); err == nil {
		return a.afterWait(date.Sub(a.serverTime()), true)
	}
	return a.untilWait(parseInstant(value, zone))
}

// serverTime is the server's own clock when it answered: an HTTP date is relative to that, not to our clock.
func (a *answer) serverTime() time.Time {
	if t, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		return t
	}
	return a.At
}

// bodyDelay is a relative time in a member of an error object, or beside it.
func (a *answer) bodyDelay(c Class) (statedWait, bool) {
	if w, ok := a.delayIn(retryMillisKeys, time.Millisecond); ok {
		return w, true
	}
	if w, ok := a.delayIn(retryDelayKeys, time.Second); ok || !limitClass(c) {
		return w, ok
	}
	return a.delayIn(resetDelayKeys, time.Second)
}

// delayIn is the first wait in these members; a bare number counts units.
func (a *answer) delayIn(keys []string, unit time.Duration) (statedWait, bool) {
	for _, key := range keys {
		for _, v := range a.members(key) {
			d, ok := parseDuration(v.String())
			if n, plain := parseNumber(v.String()); plain {
				d, ok = scaled(n, unit), true
			}
			if w, ok := a.afterWait(d, ok); ok {
				return w, true
			}
		}
	}
	return statedWait{}, false
}

// spentBucket is the reset of the buckets with nothing remaining; of several the last, for all must be refilled.
func (a *answer) spentBucket() (statedWait, bool) {
	var last time.Time
	for _, b := range a.buckets {
		if b.Remaining.Known && b.Remaining.Value <= 0 && b.ResetAt.After(last) {
			last = b.ResetAt
		}
	}
	return a.untilWait(last, !last.IsZero())
}

// wordsWait is a wait or an instant in the messages.
func (a *answer) wordsWait(zone *time.Location) (statedWait, bool) {
	if w, ok := a.afterWait(proseDuration(a.prose.raw)); ok {
		return w, true
	}
	t, ok := proseInstant(a.prose.raw, a.At, zone)
	return a.untilWait(t, ok)
}

// members finds a member in the error objects, innermost first, and at the top of the body.
func (a *answer) members(key string) []gjson.Result {
	var found []gjson.Result
	for _, f := range a.faults {
		if v := f.object.Get(key); v.Exists() {
			found = append(found, v)
		}
	}
	if v := a.root.Get(key); v.Exists() {
		found = append(found, v)
	}
	return found
}
