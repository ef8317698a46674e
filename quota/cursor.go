package quota

import (
	"strconv"
	"strings"
)

// cursor reads a text from left to right. Every method that returns false leaves it where it was.
type cursor struct{ rest string }

// blanks passes over white space.
func (c *cursor) blanks() { c.rest = strings.TrimLeft(c.rest, " \t\r\n\u00a0\u202f") }

// word passes over a word, or several, in any case, and the blanks before it: "per minute".
func (c *cursor) word(w string) bool {
	s := strings.TrimLeft(c.rest, " \t\r\n\u00a0\u202f")
	end, ok := matchAt(s, 0, w)
	if ok {
		c.rest = s[end:]
	}
	return ok
}

// anyWord passes over the first of the words that is there.
func (c *cursor) anyWord(words ...string) (string, bool) {
	for _, w := range words {
		if c.word(w) {
			return w, true
		}
	}
	return "", false
}

// mark passes over punctuation and the blanks before it.
func (c *cursor) mark(m string) bool {
	s, ok := strings.CutPrefix(strings.TrimLeft(c.rest, " \t\r\n"), m)
	if ok {
		c.rest = s
	}
	return ok
}

// number passes over a decimal number that is not negative and may have thousands separators, and the blanks before it. A
// full stop or comma behind it is not part of it.
func (c *cursor) number() (float64, bool) {
	s := strings.TrimLeft(c.rest, " \t\r\n")
	end := 0
	for end < len(s) && (digit(s[end]) || (s[end] == '.' || s[end] == ',') && end > 0 && end+1 < len(s) && digit(s[end+1])) {
		end++
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s[:end], ",", ""), 64)
	if err != nil {
		return 0, false
	}
	c.rest = s[end:]
	return v, true
}

// name passes over a word of letters, digits and what joins them in names, and the blanks before it.
func (c *cursor) name() string {
	s := strings.TrimLeft(c.rest, " \t\r\n")
	end := 0
	for end < len(s) && (alphanumeric(s[end]) || strings.IndexByte("_-./", s[end]) >= 0) {
		end++
	}
	for end > 0 && (s[end-1] == '.' || s[end-1] == '-') {
		end--
	}
	c.rest = s[end:]
	return s[:end]
}

// past returns a cursor behind the first occurrence of a phrase.
func past(text, phrase string) (cursor, bool) {
	for i := nextWord(text, 0); i < len(text); i = nextWord(text, i+1) {
		if end, ok := matchAt(text, i, phrase); ok {
			return cursor{text[end:]}, true
		}
	}
	return cursor{}, false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
