package quota

import (
	"strings"
	"time"
)

// readBuckets reads what the headers measure and, of a refusal, what its body states.
func (a *answer) readBuckets() []Bucket {
	buckets := headerBuckets(a.dialect, a.Header, a.At)
	if events := a.dialect.rules.events; events != nil && a.kind == bodyStream {
		buckets = merged(buckets, events(a))
	}
	if len(a.faults) == 0 && a.words == "" {
		return buckets
	}
	if measure := a.dialect.rules.measure; measure != nil {
		if stated := measure(a); len(stated) > 0 {
			return merged(buckets, stated)
		}
	}
	if len(buckets) == 0 {
		if b, ok := a.usage.bucket(a.dialect.bucketPrefix()); ok {
			buckets = append(buckets, b)
		}
	}
	return buckets
}

// idLimit bounds the id of a bucket and the name of a family, which upstreams write.
const idLimit = 96

// within cuts what an upstream may have made long: the list, and the ids in it.
func within(buckets []Bucket) []Bucket {
	buckets = buckets[:min(len(buckets), usageLimit)]
	for i := range buckets {
		buckets[i].ID = buckets[i].ID[:min(len(buckets[i].ID), idLimit)]
	}
	return buckets
}

// merged adds the stated buckets to the measured ones, which are the more exact where both are of one window.
func merged(measured, stated []Bucket) []Bucket {
	for _, b := range stated {
		known := false
		for i := range measured {
			known = known || measured[i].ID == b.ID
		}
		if !known {
			measured = append(measured, b)
		}
	}
	return measured
}

// bucket makes a Bucket of a window's headers. A window whose numbers are unknown (-1, empty, no limit) is none. The
// reset may have passed: that the window is full again is what the answer says.
func (w *window) bucket(at time.Time, zone *time.Location) (Bucket, bool) {
	var b Bucket
	if w.values[fieldSnapshot] != "" {
		return snapshotBucket(w.values[fieldSnapshot], at)
	}
	// `100, 100;w=60` of the older IETF draft: the first number counts.
	limit, _, _ := strings.Cut(w.values[fieldLimit], ",")
	if v, ok := parseNumber(limit); ok && v > 0 {
		b.Limit = Known(v)
	}
	if v, ok := parseNumber(w.values[fieldRemaining]); ok && (b.Limit.Known || v > 0 || strings.TrimSpace(limit) == "") {
		b.Remaining = Known(v)
	}
	b = b.withPercent()
	if v, ok := parseNumber(w.values[fieldUsed]); ok {
		b = b.withUsed(v)
	}
	if v, ok := parseNumber(w.values[fieldFraction]); ok {
		b = b.withUsed(v * 100)
	}
	if w.rejected() && !b.UsedPercent.Known {
		b = b.spent()
	}
	if !b.measured() {
		return Bucket{}, false
	}
	t, ok := parseReset(w.values[fieldReset], at, zone)
	if !ok {
		t, ok = parseReset(w.values[fieldAfter], at, zone)
	}
	if ok {
		b.ResetAt = t
	}
	return b, true
}

// rejected reports whether a status says that the window refuses.
func (w *window) rejected() bool { return w.values[fieldStatus] == "rejected" }

// measured reports whether anything is known of a bucket but its name and its reset.
func (b Bucket) measured() bool {
	return b.Limit.Known || b.Remaining.Known || b.UsedPercent.Known || b.RemainingPercent.Known
}

// withPercent fills in the percentages that limit and remainder give.
func (b Bucket) withPercent() Bucket {
	if b.Limit.Known && b.Limit.Value > 0 && b.Remaining.Known {
		left := min(100*b.Remaining.Value/b.Limit.Value, 100)
		b.RemainingPercent, b.UsedPercent = Known(left), Known(100-left)
	}
	return b
}

// withUsed fills in the percentages of what is used. It may exceed 100; what remains is not less than nothing.
func (b Bucket) withUsed(percent float64) Bucket {
	b.UsedPercent, b.RemainingPercent = Known(percent), Known(max(100-percent, 0))
	return b
}

// withCount fills in what a count of a limit gives.
func (b Bucket) withCount(used, limit float64) Bucket {
	b.Limit, b.Remaining = Known(limit), Known(max(limit-used, 0))
	if limit > 0 {
		b = b.withUsed(100 * used / limit)
	}
	return b
}

// spent is the bucket with nothing left.
func (b Bucket) spent() Bucket { return b.withUsed(100) }

// isSpent reports whether nothing is left.
func (b Bucket) isSpent() bool {
	return b.Remaining.Known && b.Remaining.Value <= 0 || b.RemainingPercent.Known && b.RemainingPercent.Value <= 0
}

// named adds the window that a spent quota's words name, where nothing else of the answer measures a spent one.
func (a *answer) named(v verdict, w statedWait) []Bucket {
	if v.class != QuotaExhausted || a.dialect.rules.scopes[v.class] != "" && v.scope == "" || v.scope != "" && v.scope != ScopeAccount {
		return a.buckets
	}
	name := ""
	for _, h := range a.common {
		switch window := commonBook.groups[h.group].window; {
		case window == "" || window == name:
		case name != "":
			return a.buckets // it names several
		default:
			name = window
		}
	}
	if id, ok := a.dialect.rules.windows[name]; ok {
		name = id
	}
	if name == "" {
		return a.buckets
	}
	b := Bucket{ID: a.dialect.bucketPrefix() + "." + name, ResetAt: w.until}.spent()
	for _, known := range a.buckets {
		if known.isSpent() || known.ID == b.ID {
			return a.buckets
		}
	}
	return append(a.buckets, b)
}
