package quota

import (
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

const (
	codeLimit  = 80 // a machine code longer than this is not one
	braceLimit = 8  // how many braces of a string are tried
)

// jsonIn finds a JSON object inside a string, behind any prefix and before any suffix. One that is cut off at the end is
// read as far as it goes. around is the string without it.
func jsonIn(s string) (v gjson.Result, around string, ok bool) {
	at := 0
	for range braceLimit {
		open := strings.IndexByte(s[at:], '{')
		if open < 0 {
			break
		}
		at += open
		rest := s[at:]
		end := balanced(rest)
		switch {
		case end > 0 && gjson.Valid(rest[:end]):
			v = gjson.Parse(rest[:end])
			return v, joined(s[:at], rest[end:]), present(v)
		case strings.HasPrefix(rest, `{\"`): // quoted once more than it was unquoted
			v, around, ok = jsonIn(strings.ReplaceAll(rest, `\"`, `"`))
			return v, joined(s[:at], around), ok
		case end == 0 && strings.HasPrefix(rest, `{"`):
			v = gjson.Parse(rest)
			return v, s[:at], present(v)
		}
		at++
	}
	return gjson.Result{}, s, false
}

// joined puts the text before and behind an object together, in two sentences.
func joined(before, behind string) string {
	if behind = strings.TrimSpace(behind); behind == "" {
		return before
	}
	return before + ". " + behind
}

// balanced is where the object that s begins with ends, or 0.
func balanced(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// addCode adds a machine code in snake case, once.
func (f *fault) addCode(s string) {
	if s = codeName(s); s != "" && s != "error" {
		f.codes = append(f.codes, s)
	}
}

// codeName brings the spellings of a machine code to one: "RateLimitError", "rate-limit-error" and "RATE_LIMIT_ERROR" are
// all "rate_limit_error". Amazon's namespace before a '#' goes, and the address after a ':' of its header. It is "" for
// what cannot be a code.
func codeName(s string) string {
	s = strings.TrimSpace(s)
	s = s[strings.LastIndexByte(s, '#')+1:]
	s, _, _ = strings.Cut(s, ":http")
	if s == "" || len(s) > codeLimit {
		return ""
	}
	if isCodeName(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	lower := false // whether the last rune was a lower-case letter or a digit
	for _, r := range s {
		switch {
		case r == '-' || r == ' ' || r == '_':
			b.WriteByte('_')
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// isCodeName reports whether a code is in snake case as it came.
func isCodeName(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(wordByte(c) && c == folds[c]) && c != '_' && c != ':' && c != '.' {
			return false
		}
	}
	return true
}
