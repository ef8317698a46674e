package quota

import (
	"strings"
	"time"
)

// months are the names of months, in lower case.
var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// clockTime reads an instant as a person writes it: "8pm (America/New_York)", "10:57 PM GMT-3", "10:00 UTC",
// "Oct 9 at 5pm (Asia/Calcutta)", "Jul 14th, 2026 7:23 PM UTC". Without a date it is the next one after at. Without a zone
// it means nothing, unless the provider's is known: it is the local time of a machine that is not ours.
func clockTime(s string, at time.Time, zone *time.Location) (time.Time, bool) {
	c := cursor{s}
	month, day, year, dated := c.date()
	hour, minute, second, ok := c.timeOfDay()
	if !ok || at.IsZero() {
		return time.Time{}, false
	}
	if named := c.zone(); named != nil {
		zone = named
	}
	if zone == nil {
		return time.Time{}, false
	}
	today := at.In(zone)
	if !dated {
		month, day = today.Month(), today.Day()
	}
	if year == 0 {
		year = today.Year()
	} else if year < 2000 || year > 2200 {
		return time.Time{}, false
	}
	t := time.Date(year, month, day, hour, minute, second, 0, zone)
	switch {
	case t.After(at):
	case !dated:
		t = time.Date(year, month, day+1, hour, minute, second, 0, zone)
	case month < today.Month(): // "Jan 2" in December
		t = time.Date(year+1, month, day, hour, minute, second, 0, zone)
	}
	return t.UTC(), true
}

// date reads "Jul 14th, 2026", "Oct 9" or "9 October". The year is 0 where there is none.
func (c *cursor) date() (month time.Month, day, year int, ok bool) {
	was := *c
	c.weekday()
	if month = c.month(); month == 0 {
		day, ok = c.integer(31)
		c.ordinal()
		if month = c.month(); !ok || month == 0 {
			*c = was
			return 0, 0, 0, false
		}
	} else if day, ok = c.integer(31); !ok {
		*c = was
		return 0, 0, 0, false
	} else {
		c.ordinal()
	}
	c.mark(",")
	before := *c
	if year, ok = c.integer(9999); !ok || year < 1000 {
		*c, year = before, 0
	}
	c.mark(",")
	c.word("at")
	return month, day, year, true
}

// weekday passes over the name of a day.
func (c *cursor) weekday() bool {
	for _, d := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		if c.word(d) || c.word(d[:3]) {
			c.mark(",")
			return true
		}
	}
	return false
}

// month passes over the name of a month, or its first three letters.
func (c *cursor) month() time.Month {
	for i, m := range months {
		if c.word(m) || c.word(m[:3]) {
			c.mark(".")
			return time.Month(i + 1)
		}
	}
	return 0
}

// ordinal passes over the letters behind the number of a day.
func (c *cursor) ordinal() {
	for _, suffix := range []string{"st", "nd", "rd", "th"} {
		if rest, ok := strings.CutPrefix(c.rest, suffix); ok {
			c.rest = rest
			return
		}
	}
}

// timeOfDay reads "8pm", "9:10 pm", "16:00", "16:00:30". A bare number is none.
func (c *cursor) timeOfDay() (hour, minute, second int, ok bool) {
	was := *c
	hour, ok = c.integer(23)
	colon := ok && strings.HasPrefix(c.rest, ":")
	if colon {
		c.rest = c.rest[1:]
		if minute, ok = c.integer(59); ok && strings.HasPrefix(c.rest, ":") {
			c.rest = c.rest[1:]
			second, ok = c.integer(59)
		}
	}
	half, halved := c.anyWord("am", "pm", "a.m.", "p.m.")
	if !ok || !colon && !halved || halved && (hour == 0 || hour > 12) {
		*c = was
		return 0, 0, 0, false
	}
	if halved {
		hour %= 12
		if half[0] == 'p' {
			hour += 12
		}
	}
	return hour, minute, second, true
}

// integer reads a whole number of at most most.
func (c *cursor) integer(most int) (int, bool) {
	s := strings.TrimLeft(c.rest, " ")
	n, end := 0, 0
	for end < len(s) && end < 4 && digit(s[end]) {
		n = 10*n + int(s[end]-'0')
		end++
	}
	if end == 0 || n > most || end < len(s) && digit(s[end]) {
		return 0, false
	}
	c.rest = s[end:]
	return n, true
}

// zone reads a zone that says how far it is from UTC: the name of an IANA zone, in parentheses or not, UTC, GMT, an offset,
// or an offset from one of these. An abbreviation alone is ambiguous.
func (c *cursor) zone() *time.Location {
	was := *c
	c.mark("(")
	if _, ok := c.anyWord("utc", "gmt", "z"); ok {
		if offset, ok := c.offset(); ok {
			return time.FixedZone("", offset)
		}
		return time.UTC
	}
	if offset, ok := c.offset(); ok {
		return time.FixedZone("", offset)
	}
	c.blanks()
	end := strings.IndexFunc(c.rest, func(r rune) bool {
		return !(r == '/' || r == '_' || r == '-' || r == '+' || r < 0x80 && alphanumeric(byte(r)))
	})
	if end < 0 {
		end = len(c.rest)
	}
	name := c.rest[:end]
	if !strings.Contains(name, "/") {
		*c = was
		return nil
	}
	return zoneNamed(name)
}

// offset reads "+8", "-03:00" or "+0530", in seconds east of UTC.
func (c *cursor) offset() (int, bool) {
	s := strings.TrimLeft(c.rest, " ")
	if s == "" || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := 0
	for digits+1 < len(s) && digit(s[digits+1]) {
		digits++
	}
	n := cursor{s[1:]}
	hours, ok := n.integer(1400)
	if !ok || digits > 4 {
		return 0, false
	}
	seconds := hours * 3600
	if digits > 2 {
		seconds = hours/100*3600 + hours%100*60
	} else if strings.HasPrefix(n.rest, ":") {
		n.rest = n.rest[1:]
		minutes, ok := n.integer(59)
		if !ok {
			return 0, false
		}
		seconds += minutes * 60
	}
	if seconds > 14*3600 {
		return 0, false
	}
	c.rest = n.rest
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}
