package quota

import (
	"strings"
	"unicode"
)

const (
	proseLimit = 4 << 10 // bytes of an answer's words that are looked at
	phraseGap  = 120     // bytes that a * of a phrase may stand for
)

// prose is what an answer says in words, ready to be searched.
type prose struct {
	raw    string // as received
	folded string // lower case; runs of space, '-' and '_' are one space, typographic apostrophes plain
}

func newProse(s string) prose {
	s = s[:min(len(s), proseLimit)]
	return prose{raw: s, folded: fold(s)}
}

// fold brings the spellings of a phrase to one.
func fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch r {
		case ' ', '\n', '\t', '\r', '-', '_':
			space = b.Len() > 0
			continue
		case '’':
			r = '\''
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// has reports whether the words contain a phrase, given in folded form. A phrase begins and ends at word boundaries, so
// "rate limit" is not in "accurate limits"; a " * " in it stands for a few words of the same sentence.
func (p prose) has(phrase string) bool {
	if p.folded == "" {
		return false
	}
	head, tail, gap := strings.Cut(phrase, " * ")
	if !gap {
		return findPhrase(p.folded, phrase) >= 0
	}
	for rest := p.folded; ; {
		i := findPhrase(rest, head)
		if i < 0 {
			return false
		}
		rest = rest[i+len(head):]
		between := rest[:min(len(rest), phraseGap+len(tail))]
		if end := strings.Index(between, ". "); end >= 0 {
			between = between[:end]
		}
		if findPhrase(between, tail) >= 0 {
			return true
		}
	}
}

// hasAny returns the first of the phrases that the words contain.
func (p prose) hasAny(phrases []string) (string, bool) {
	for _, phrase := range phrases {
		if p.has(phrase) {
			return phrase, true
		}
	}
	return "", false
}

// findPhrase is the index of a phrase in s that is not part of a longer word, or -1.
func findPhrase(s, phrase string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], phrase)
		if i < 0 {
			return -1
		}
		start, end := from+i, from+i+len(phrase)
		if !(start > 0 && wordByte(s[start-1]) && wordByte(phrase[0])) &&
			!(end < len(s) && wordByte(s[end]) && wordByte(phrase[len(phrase)-1])) {
			return start
		}
		from = start + 1
	}
}

// wordByte reports whether a byte is part of a Latin word. Scripts without spaces have no word boundaries.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}
