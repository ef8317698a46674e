package quota

import "strings"

// rateWindowReach is how far before its numbers a rate may be named.
const rateWindowReach = 160

// rateUsage is what a message says in numbers about one rate, as OpenAI and its likes do: "on tokens per min (TPM): Limit
// 30000, Used 29937, Requested 385", and in 2023 "on requests per min. Limit: 3.000000 / min. Current: 3.000000 / min". Not
// every message says all of it; the zero value is nothing.
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
		c := cursor{s[i:]}
		if limit := c.labelled("limit"); limit.Known {
			u := rateUsage{window: rateWindowIn(s[max(i-rateWindowReach, 0):i]), limit: limit}
			c.mark(",")
			c.mark(".")
			if u.used = c.labelled("used"); !u.used.Known {
				u.used = c.labelled("current")
			}
			c.mark(",")
			u.requested = c.labelled("requested")
			return u
		}
		from = i + len("Limit")
	}
}

// labelled passes over "Limit: 3.000000 / min", "Requested ~12903" and the like, and returns the number.
func (c *cursor) labelled(label string) Number {
	was := *c
	if c.word(label) {
		c.mark(":")
		c.mark("~")
		if v, ok := c.number(); ok {
			if c.mark("/") {
				c.name()
			}
			return Known(v)
		}
	}
	*c = was
	return Number{}
}

// rateWindowIn reads the name of a rate from the end of the words before its numbers: "… on tokens per min (TPM): ".
func rateWindowIn(s string) string {
	i := strings.LastIndex(s, " per ")
	if i < 0 {
		return ""
	}
	behind := cursor{s[i+len(" per "):]}
	unit, ok := timeUnits[strings.ToLower(behind.name())]
	if !ok || strings.Trim(strings.TrimRight(behind.rest, ".: "), "(ABCDEFGHIJKLMNOPQRSTUVWXYZ) ") != "" {
		return ""
	}
	_, what, named := cutLast(" "+s[:i], " on ")
	if !named || strings.Count(what, " ") > 1 || what == "" {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(what), " ", "_") + "_per_" + unit
}

// timeUnits bring the spellings of a unit in the name of a rate to one.
var timeUnits = map[string]string{
	"second": "second", "sec": "second", "minute": "minute", "min": "minute", "hour": "hour", "day": "day", "month": "month",
}

// bucket makes a Bucket of the numbers, where the window is named and more than its limit is known.
func (u rateUsage) bucket(prefix string) (Bucket, bool) {
	if u.window == "" || !u.limit.Known || !u.used.Known && !u.requested.Known {
		return Bucket{}, false
	}
	b := Bucket{ID: prefix + "." + u.window, Limit: u.limit}
	if u.used.Known {
		b = b.withCount(u.used.Value, u.limit.Value)
	}
	return b, true
}
