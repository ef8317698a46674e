package quota

import (
	"strings"
	"time"
)

// durationLeads are the words that stand before a duration in a message, instantLeads those before an instant.
var (
	durationLeads = []string{
		"try again in", "try again after", "retry in", "retry after", "retrying in", "retry again in", "please wait", "wait", "wait for",
		"reset after", "resets after", "resets in", "reset in", "available again in", "available in", "quota refreshes in",
		"refreshes in", "refreshed in", "wait another", "again within",
	}
	instantLeads = []string{
		"resets", "reset", "try again", "retry", "regain access", "available", "available again", "until", "refreshes", "renews",
		"将在", "将于",
	}
	leadBook = newBook([]phraseGroup{{phrases: durationLeads}, {phrases: instantLeads}})
)

// clockLimit is how much text after a lead may belong to an instant.
const clockLimit = 64

// proseDuration finds the first stated wait of a message: "Please try again in 9.816s", "Resets in 2hr 15min".
func proseDuration(s string) (found time.Duration, ok bool) {
	leadBook.each(s, func(e *bookEntry, end int) bool {
		if e.group == 0 {
			rest := strings.TrimLeft(s[end:], " :~")
			for _, vague := range []string{"about ", "approximately ", "another "} {
				rest = strings.TrimPrefix(rest, vague)
			}
			if d, _, stated := leadingDuration(rest); stated {
				found, ok = ahead(d)
			}
		}
		return !ok
	})
	return found, ok
}

// proseInstant finds the first stated instant of a message whose zone is known: "Resets at 2026-07-25T18:00:00+08:00",
// "regain access on 2026-04-01 at 00:00 UTC", "resets 8pm (America/New_York)" (the next one after at).
func proseInstant(s string, at time.Time, zone *time.Location) (found time.Time, ok bool) {
	leadBook.each(s, func(e *bookEntry, end int) bool {
		if e.group == 1 {
			c := cursor{s[end:min(len(s), end+clockLimit)]}
			c.anyWord("at", "on", "by", "again at")
			c.mark(":")
			c.blanks()
			found, ok = leadingInstant(c.rest, at, zone)
		}
		return !ok
	})
	return found, ok
}

// pipedEpoch reads the seconds since 1970 behind a pipe at the end of a message, as Claude's command line writes them
// (claude-code#2087).
func pipedEpoch(s string) (time.Time, bool) {
	if _, text, ok := cutLast(strings.TrimSpace(s), "|"); ok {
		if v, number := parseNumber(text); number {
			return epoch(v)
		}
	}
	return time.Time{}, false
}

// leadingInstant reads the instant that s begins with: the longest run of up to four words that a machine wrote, or what
// a person would.
func leadingInstant(s string, at time.Time, zone *time.Location) (time.Time, bool) {
	if c := (cursor{s}); s == "" || !digit(s[0]) && !c.weekday() && c.month() == 0 {
		return time.Time{}, false
	}
	machine, _, _ := strings.Cut(s, "]") // "[1310][… reset at 2026-08-01 10:03:40][…]"
	words := strings.Fields(strings.Replace(machine, " at ", " ", 1))
	words = words[:min(len(words), 4)]
	for n := len(words); n > 0; n-- {
		text := strings.TrimRight(strings.Join(words[:n], " "), ".,;:!)，。；")
		if _, number := parseNumber(text); number {
			continue // a bare number in prose is not an instant
		}
		if t, ok := parseInstant(text, zone); ok {
			return t, true
		}
	}
	return clockTime(s, at, zone)
}
