package quota

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// resetBucket is a bucket of what a usage endpoint says: so many percent used, until then.
func resetBucket(id string, used float64, reset gjson.Result) Bucket {
	b := Bucket{ID: id}.withUsed(used)
	if t, ok := parseInstant(reset.String(), nil); ok {
		b.ResetAt = t
	}
	return b
}

// numberOf reads a number that may be written as a string.
func numberOf(v gjson.Result) Number {
	switch v.Type {
	case gjson.Number:
		return Known(v.Num)
	case gjson.String:
		s, negative := strings.CutPrefix(v.Str, "-")
		if n, ok := parseNumber(s); ok {
			if negative {
				n = -n
			}
			return Known(n)
		}
	}
	return Number{}
}

// countBucket is a bucket of counts, any of which may be missing. "remaining" may be negative: nothing is left then.
func countBucket(id string, limit, used, remaining Number, reset gjson.Result) Bucket {
	b := Bucket{ID: id}
	switch {
	case limit.Known && used.Known:
		b = b.withCount(used.Value, limit.Value)
	case limit.Known && remaining.Known:
		b = b.withCount(limit.Value-remaining.Value, limit.Value)
	default:
		b.Limit, b.Remaining = limit, remaining
	}
	if remaining.Known {
		b.Remaining = Known(max(remaining.Value, 0))
	}
	if t, ok := parseInstant(reset.String(), nil); ok {
		b.ResetAt = t
	}
	return b
}

// byID sorts buckets.
func byID(buckets []Bucket) []Bucket {
	slices.SortStableFunc(buckets, compareID)
	return buckets
}

// snapshotBucket reads "ent=1000&ov=0.0&ovPerm=false&rem=40.0&rst=2026-05-01T00%3A00%3A00Z": ent is how many there are, rem the
// percentage that remains. -1 and 0 are no number of anything: unlimited, or not counted.
func snapshotBucket(text string, at time.Time) (Bucket, bool) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return Bucket{}, false
	}
	left := signedNumber(values.Get("rem"))
	if !left.Known {
		return Bucket{}, false
	}
	b := Bucket{}.withUsed(100 - left.Value)
	if limit, ok := parseNumber(values.Get("ent")); ok && limit > 0 {
		b.Limit, b.Remaining = Known(limit), Known(limit*b.RemainingPercent.Value/100)
	}
	if t, ok := parseReset(values.Get("rst"), at, nil); ok {
		b.ResetAt = t
	}
	return b, true
}

// signedNumber reads a number that may be negative.
func signedNumber(s string) Number {
	return numberOf(gjson.Result{Type: gjson.String, Str: s})
}
