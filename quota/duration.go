package quota

import (
	"strconv"
	"strings"
	"time"
)

// maxAhead is how far away an instant may be. Waits of a week are real; above this a number is not a wait.
const maxAhead = 400 * 24 * time.Hour

// durationUnits are the spellings of a unit, in lower case.
var durationUnits = map[string]time.Duration{
	"ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond,
	"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// parseDuration reads a duration that takes up all of s: "6m0s", "1.984999999s", "25h20m26.18s", "10h 37m",
// "3 days 4 hours", "2hr 15min". It does not take bare numbers: their unit is the field's.
func parseDuration(s string) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	d, rest, ok := leadingDuration(s)
	return d, ok && rest == ""
}

// leadingDuration reads the duration that s begins with and returns what follows it. Units only get smaller: in
// "2 hours 30 days" the second number is another one.
func leadingDuration(s string) (d time.Duration, rest string, ok bool) {
	rest = s
	var total float64
	last := time.Duration(0) // the unit before
	for {
		number, after := leadingNumber(trimJoint(rest, last != 0))
		if number == "" {
			break
		}
		unit, after, known := leadingUnit(after)
		if !known || last != 0 && unit >= last {
			break
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			break
		}
		total += value * float64(unit)
		if total > float64(maxAhead) {
			return 0, s, false
		}
		last, rest = unit, after
	}
	return time.Duration(total), rest, last != 0
}

// trimJoint drops what stands between the parts of a duration.
func trimJoint(s string, inside bool) string {
	s = strings.TrimLeft(s, " ")
	if !inside {
		return s
	}
	s = strings.TrimLeft(s, ", ")
	s, _ = strings.CutPrefix(s, "and ")
	return strings.TrimLeft(s, " ")
}

// leadingNumber splits off a plain decimal number.
func leadingNumber(s string) (number, rest string) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' && end > 0) {
		end++
	}
	return s[:end], s[end:]
}

// leadingUnit splits off a unit that is a whole word; "(s)" after it is the plural of an undecided writer. A digit may
// follow at once, as in "1m30s".
func leadingUnit(s string) (unit time.Duration, rest string, ok bool) {
	s = strings.TrimLeft(s, " ")
	end := 0
	for end < len(s) && (s[end] >= 'a' && s[end] <= 'z' || s[end] >= 'A' && s[end] <= 'Z' || s[end] >= 0x80) {
		end++
	}
	unit, ok = durationUnits[strings.ToLower(s[:end])]
	rest, _ = strings.CutPrefix(s[end:], "(s)")
	return unit, rest, ok
}

// parseNumber reads a plain non-negative decimal number: no sign, exponent, infinity or thousands separator.
func parseNumber(s string) (float64, bool) {
	number, rest := leadingNumber(strings.TrimSpace(s))
	if number == "" || rest != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(number, 64)
	return v, err == nil
}

// ahead returns a wait if it can be one: more than nothing, at most 400 days. Fractions of a millisecond count as one.
func ahead(d time.Duration) (time.Duration, bool) {
	if d <= 0 || d > maxAhead {
		return 0, false
	}
	if r := d % time.Millisecond; r != 0 {
		d += time.Millisecond - r
	}
	return d, true
}

// scaled is v units as a duration, 0 when it is above every wait.
func scaled(v float64, unit time.Duration) time.Duration {
	if v*float64(unit) > float64(maxAhead) {
		return 0
	}
	return time.Duration(v * float64(unit))
}
