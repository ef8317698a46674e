package quota

import (
	"net/http"
	"strings"
	"time"
)

// The magnitudes that tell what an ambiguous number means: seconds from now, seconds or milliseconds since 1970.
const (
	epochSecondsFrom = 1e9
	epochMillisFrom  = 1e11
)

// instantLayouts are the ways in which an instant is written with its zone. A comma or "T" between the parts, fractions
// and a zone's name after its offset are settled before.
var instantLayouts = []string{
	time.RFC3339Nano,
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05 UTC",
	"2006-01-02 15:04:05 GMT",
	"2006-01-02 15:04 UTC",
}

// naiveLayouts are instants without a zone: they mean nothing unless the provider's zone is known.
var naiveLayouts = []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05"}

// parseInstant reads an absolute time: RFC 3339, an HTTP date in any of its three forms, epoch seconds or milliseconds. A
// time without a zone is read in zone; nil means that the zone is unknown, and so is the instant.
func parseInstant(s string, zone *time.Location) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if v, ok := parseNumber(s); ok {
		return epoch(v)
	}
	for _, layout := range instantLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	if head, name, ok := cutLast(s, " "); ok && isZoneName(name) { // "2026-08-03 23:59:59 +0800 CST": the offset decides
		if t, err := time.Parse("2006-01-02 15:04:05 -0700", head); err == nil {
			return t.UTC(), true
		}
	}
	if t, err := http.ParseTime(s); err == nil {
		return t.UTC(), true
	}
	if zone != nil {
		for _, layout := range naiveLayouts {
			if t, err := time.ParseInLocation(layout, s, zone); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// epoch reads seconds or milliseconds since 1970.
func epoch(v float64) (time.Time, bool) {
	switch {
	case v >= epochMillisFrom && v < epochMillisFrom*1000:
		return time.UnixMicro(int64(v * 1e3)).UTC(), true
	case v >= epochSecondsFrom && v < epochMillisFrom:
		return time.UnixMicro(int64(v * 1e6)).UTC(), true
	}
	return time.Time{}, false
}

// parseReset reads a header that says when a window resets, in any of the units in use: a Go duration, seconds from now,
// epoch seconds, epoch milliseconds, RFC 3339 or an HTTP date. Empty, 0 and -1 are absent. It may lie in the past.
func parseReset(s string, at time.Time, zone *time.Location) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if v, ok := parseNumber(s); ok && v < epochSecondsFrom {
		d, ok := ahead(scaled(v, time.Second))
		return at.Add(d), ok && !at.IsZero()
	}
	if d, ok := parseDuration(s); ok {
		d, ok = ahead(d)
		return at.Add(d), ok && !at.IsZero()
	}
	t, ok := parseInstant(s, zone)
	return t, ok && t.Sub(at).Abs() <= maxAhead
}

// cutLast splits around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// isZoneName reports whether s looks like the abbreviation of a zone.
func isZoneName(s string) bool {
	if len(s) < 2 || len(s) > 5 {
		return false
	}
	for i := range len(s) {
		if s[i] < 'A' || s[i] > 'Z' {
			return false
		}
	}
	return true
}
