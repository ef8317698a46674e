package quota

import (
	"net/http"
	"strings"
	"time"
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
		if w, ok := a.instantHint(zone); ok {
			return w
		}
	}
	if w, ok := a.headerWait(zone); ok {
		return w
	}
	if w, ok := a.delayWait(c); ok {
		return w
	}
	if w, ok := a.spentBucket(); ok {
		return w
	}
	w, _ := a.wordsWait(zone)
	return w
}

// headerWait is retry-after-ms, then Retry-After.
func (a *answer) headerWait(zone *time.Location) (statedWait, bool) {
	if v, ok := parseNumber(a.Header.Get("Retry-After-Ms")); ok {
		if w, ok := a.afterWait(scaled(v, time.Millisecond), true); ok {
			return w, true
		}
	}
	return a.retryAfter(a.Header.Get("Retry-After"), zone)
}

// retryAfter reads a Retry-After: seconds, also broken ones, a duration with its unit, a date, or an instant. What it says
// is relative to the server's own clock, where it is a date.
func (a *answer) retryAfter(value string, zone *time.Location) (statedWait, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return statedWait{}, false
	}
	first, _, _ := strings.Cut(value, ",") // a proxy that adds its own joins the two
	if v, ok := parseNumber(first); ok && v < epochSecondsFrom {
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

// delayWait is a relative time in a member of an error object. One of a reset means a window; beside an error that is none
// it is a leftover.
func (a *answer) delayWait(c Class) (statedWait, bool) {
	for _, kind := range []hintKind{hintRetryMillis, hintResetDelay, hintRetryDelay} {
		if kind == hintResetDelay && !limitClass(c) {
			continue
		}
		if w, ok := a.delayHint(kind); ok {
			return w, true
		}
	}
	return statedWait{}, false
}

// spentBucket is the reset of the buckets with nothing remaining; of several the last, for all must be refilled.
func (a *answer) spentBucket() (statedWait, bool) {
	var last time.Time
	for _, b := range a.buckets {
		if b.isSpent() && b.ResetAt.After(last) {
			last = b.ResetAt
		}
	}
	return a.untilWait(last, !last.IsZero())
}

// wordsWait is a wait or an instant in the messages.
func (a *answer) wordsWait(zone *time.Location) (statedWait, bool) {
	if a.signs[signLead] {
		if w, ok := a.afterWait(proseDuration(a.words)); ok {
			return w, true
		}
		if w, ok := a.untilWait(proseInstant(a.words, a.At, zone)); ok {
			return w, true
		}
	}
	return a.untilWait(pipedEpoch(a.words))
}
