package quota

import (
	"strings"
	"time"
)

// waitLeads stand before a duration in a message, waitClocks before an instant. In lower case; the longer first.
var (
	waitLeads = []string{
		"try again in", "try again after", "retry in", "retry after", "retrying in", "retry again in", "please wait", "wait for",
		"reset after", "resets after", "resets in", "reset in", "available again in", "available in", "quota refreshes in",
	}
	waitClocks = []string{
		"resets at", "reset at", "resets on", "reset on", "try again at", "try again on", "retry at", "regain access on",
		"regain access at", "available at", "available again at", "until",
	}
)

// clockLimit is how much text after a lead may belong to an instant.
const clockLimit = 48

// proseDuration finds the first stated wait of a message: "Please try again in 9.816s", "Resets in 2hr 15min".
func proseDuration(s string) (time.Duration, bool) {
	lower := lowerASCII(s)
	at, found := len(lower), time.Duration(0)
	for _, lead := range waitLeads {
		for rest, offset := lower, 0; ; {
			i := findPhrase(rest, lead)
			if i < 0 || offset+i >= at {
				break
			}
			offset += i + len(lead)
			rest = lower[offset:]
			if d, _, ok := leadingDuration(strings.TrimLeft(rest, " :~")); ok {
				if d, ok = ahead(d); ok {
					at, found = offset-len(lead), d
				}
				break
			}
		}
	}
	return found, found > 0
}

// proseInstant finds the first stated instant of a message whose zone is known: "Resets at 2026-07-25T18:00:00+08:00",
// "regain access on 2026-04-01 at 00:00 UTC", "Resets at 10:00 UTC" (the next one after at).
func proseInstant(s string, at time.Time, zone *time.Location) (time.Time, bool) {
	lower := lowerASCII(s)
	for _, lead := range waitClocks {
		for offset := 0; ; {
			i := findPhrase(lower[offset:], lead)
			if i < 0 {
				break
			}
			offset += i + len(lead)
			text := strings.TrimLeft(s[offset:], " :")
			if t, ok := leadingInstant(text[:min(len(text), clockLimit)], at, zone); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// leadingInstant reads the instant that s begins with: the longest run of up to four words that is one.
func leadingInstant(s string, at time.Time, zone *time.Location) (time.Time, bool) {
	words := strings.Fields(strings.Replace(s, " at ", " ", 1))
	words = words[:min(len(words), 4)]
	for n := len(words); n > 0; n-- {
		text := strings.TrimRight(strings.Join(words[:n], " "), ".,;:!)")
		if _, number := parseNumber(text); number {
			continue // a bare number in prose is not an instant
		}
		if t, ok := parseInstant(text, zone); ok {
			return t, true
		}
		if t, ok := nextClock(text, at); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// nextClock reads a time of day in a zone whose offset it states, and returns its next occurrence.
func nextClock(s string, at time.Time) (time.Time, bool) {
	for _, layout := range []string{"15:04 MST", "15:04:05 MST", "3:04 PM MST", "3:04PM MST", "3PM MST"} {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		name, offset := t.Zone()
		if name != "UTC" && name != "GMT" && !strings.HasPrefix(name, "GMT+") && !strings.HasPrefix(name, "GMT-") {
			return time.Time{}, false // an abbreviation alone is ambiguous
		}
		written := t.UTC() // package time keeps the digits of a fabricated zone as UTC
		day := at.In(time.FixedZone(name, offset))
		next := time.Date(day.Year(), day.Month(), day.Day(), written.Hour(), written.Minute(), written.Second(), 0, day.Location())
		if !next.After(at) {
			next = next.AddDate(0, 0, 1)
		}
		return next.UTC(), true
	}
	return time.Time{}, false
}

// lowerASCII lowers Latin letters only, so that offsets into the result are offsets into s.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
