package quota

import (
	"regexp"
	"strconv"
	"strings"
)

// rateNumbers is how OpenAI and its likes state a rate: "Limit 30000, Used 29937, Requested 385", and in 2023
// "Limit: 3.000000 / min. Current: 3.000000 / min". rateWindow is which one: "on tokens per min (TPM)".
var (
	rateNumbers = regexp.MustCompile(`^Limit:? ~?([\d.,]*\d)(?: / \w+)?[,.;]?` +
		`(?: (?:Used|Current):? ~?([\d.,]*\d)(?: / \w+)?[,.;]?)?(?: Requested:? ~?([\d.,]*\d))?`)
	rateWindow = regexp.MustCompile(`\bon ([A-Za-z]+(?: [a-z]+)?) per (second|sec|minute|min|hour|day)\b[^.]*[.:] ?$`)
)

// rateWindowReach is how far before its numbers a rate may be named.
const rateWindowReach = 160

// rateUsage is what a message says in numbers about one rate. Not every message says all of it; the zero value is nothing.
type rateUsage struct {
	window                 string // "tokens_per_minute"; "" = not named
	limit, used, requested Number
}

// tooLarge reports whether the one request is above the whole rate: waiting never helps.
func (u rateUsage) tooLarge() bool {
	return u.limit.Known && u.requested.Known && u.requested.Value > u.limit.Value
}

// rateUsageIn finds the numbers of a rate in a message.
func rateUsageIn(s string) rateUsage {
	for from := 0; ; {
		i := strings.Index(s[from:], "Limit")
		if i < 0 {
			return rateUsage{}
		}
		i += from
		if m := rateNumbers.FindStringSubmatch(s[i:]); m != nil {
			return rateUsage{
				window: rateWindowIn(s[max(i-rateWindowReach, 0):i]),
				limit:  groupedNumber(m[1]), used: groupedNumber(m[2]), requested: groupedNumber(m[3]),
			}
		}
		from = i + 1
	}
}

// rateWindowIn reads the name of a rate from the words before its numbers.
func rateWindowIn(s string) string {
	m := rateWindow.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	unit := m[2]
	switch unit {
	case "sec":
		unit = "second"
	case "min":
		unit = "minute"
	}
	return strings.ReplaceAll(strings.ToLower(m[1]), " ", "_") + "_per_" + unit
}

// groupedNumber reads a number that may have thousands separators.
func groupedNumber(s string) Number {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil {
		return Number{}
	}
	return Known(v)
}

// bucket makes a Bucket of the numbers, where the window is named and more than its limit is known.
func (u rateUsage) bucket(prefix string) (Bucket, bool) {
	if u.window == "" || !u.limit.Known || !u.used.Known && !u.requested.Known {
		return Bucket{}, false
	}
	b := Bucket{ID: prefix + "." + u.window, Limit: u.limit}
	if u.used.Known {
		b.Remaining = Known(max(u.limit.Value-u.used.Value, 0))
	}
	return b.withPercent(), true
}
