package quota

import (
	"regexp"
	"strconv"
	"strings"
)

// rateNumbers is how OpenAI and its likes state a rate: "Limit 30000, Used 29937, Requested 385", and in 2023
// "Limit: 3.000000 / min. Current: 3.000000 / min". rateWindow is which one: "on tokens per min (TPM)".
var (
	rateNumbers = regexp.MustCompile(`\bLimit:? ~?([\d.,]*\d)(?: / \w+)?[,.;]?` +
		`(?: (?:Used|Current):? ~?([\d.,]*\d)(?: / \w+)?[,.;]?)?(?: Requested:? ~?([\d.,]*\d))?`)
	rateWindow = regexp.MustCompile(`(?i)\bon ([a-z]+(?: [a-z]+)?) per (second|sec|minute|min|hour|day)\b`)
)

// rateUsage is what a message says in numbers about one rate. Not every message says all of them.
type rateUsage struct{ limit, used, requested Number }

// tooLarge reports whether the one request is above the whole rate: waiting never helps.
func (u rateUsage) tooLarge() bool {
	return u.limit.Known && u.requested.Known && u.requested.Value > u.limit.Value
}

// rateUsageIn finds the numbers of a rate in a message.
func rateUsageIn(s string) (rateUsage, bool) {
	if !strings.Contains(s, "Limit") {
		return rateUsage{}, false
	}
	m := rateNumbers.FindStringSubmatch(s)
	if m == nil {
		return rateUsage{}, false
	}
	u := rateUsage{limit: groupedNumber(m[1]), used: groupedNumber(m[2]), requested: groupedNumber(m[3])}
	return u, u.limit.Known
}

// groupedNumber reads a number that may have thousands separators.
func groupedNumber(s string) Number {
	v, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	if err != nil {
		return Number{}
	}
	return Known(v)
}

// proseBucket makes a Bucket of the numbers in a message, where it names the window and says more than the limit.
func proseBucket(s, prefix string) (Bucket, bool) {
	u, ok := rateUsageIn(s)
	if !ok || !u.used.Known && !u.requested.Known {
		return Bucket{}, false
	}
	m := rateWindow.FindStringSubmatch(s)
	if m == nil {
		return Bucket{}, false
	}
	what := strings.ReplaceAll(strings.ToLower(m[1]), " ", "_")
	b := Bucket{ID: prefix + "." + what + "_per_" + wholeUnit(m[2]), Limit: u.limit}
	if u.used.Known {
		b.Remaining = Known(max(u.limit.Value-u.used.Value, 0))
	}
	return b.withPercent(), true
}

// wholeUnit spells a unit of time out.
func wholeUnit(s string) string {
	switch s = strings.ToLower(s); s {
	case "sec":
		return "second"
	case "min":
		return "minute"
	}
	return s
}
