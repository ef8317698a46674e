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
// read as far as it goes.
func jsonIn(s string) (gjson.Result, bool) {
	for range braceLimit {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			return gjson.Result{}, false
		}
		s = s[open:]
		end := balanced(s)
		switch {
		case end > 0 && gjson.Valid(s[:end]):
			v := gjson.Parse(s[:end])
			return v, present(v)
		case strings.HasPrefix(s, `{\"`): // quoted once more than it was unquoted
			return jsonIn(strings.ReplaceAll(s, `\"`, `"`))
		case end == 0 && strings.HasPrefix(s, `{"`):
			v := gjson.Parse(s)
			return v, present(v)
		}
		s = s[1:]
	}
	return gjson.Result{}, false
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
		if c := s[i]; !wordByte(c) && c != '_' && c != ':' && c != '.' {
			return false
		}
	}
	return true
}
