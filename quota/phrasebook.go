package quota

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	proseLimit = 4 << 10 // bytes of an answer's words that are looked at
	phraseGap  = 120     // bytes that a * of a phrase may stand for
	bookBits   = 10      // of the number of a page
	hitLimit   = 32      // different phrases that one text may hold
)

// phraseBook finds all of its phrases in one pass over a text. Phrases begin at the beginning of a word, so the book is
// opened once a word, at the page of the word's first letters.
type phraseBook struct {
	groups  []phraseGroup
	entries []bookEntry             // by page
	pages   [1<<bookBits + 1]uint16 // where each page begins in entries
}

// bookEntry is one phrase. A " * " in a phrase stands for a few words of the same sentence between head and tail.
type bookEntry struct {
	key        uint32 // the beginning of head
	group      int
	head, tail string
	phrase     string
}

// phraseHit is a phrase that a text holds: its first occurrence.
type phraseHit struct {
	group  int
	phrase string
}

// newBook prints a book; of no groups it is nil, which finds nothing.
func newBook(groups []phraseGroup) *phraseBook {
	if len(groups) == 0 {
		return nil
	}
	b := &phraseBook{groups: groups}
	for i, g := range groups {
		for _, phrase := range g.phrases {
			head, tail, _ := strings.Cut(phrase, " * ")
			b.entries = append(b.entries, bookEntry{key: beginning(head), group: i, head: head, tail: tail, phrase: phrase})
		}
	}
	slices.SortStableFunc(b.entries, func(x, y bookEntry) int { return page(x.key) - page(y.key) })
	for _, e := range b.entries {
		b.pages[page(e.key)+1]++
	}
	for i := range 1 << bookBits {
		b.pages[i+1] += b.pages[i]
	}
	return b
}

// beginning is how the first word of a text begins: its first four letters.
func beginning(s string) uint32 {
	var key uint32
	for i := range min(len(s), 4) {
		c := folds[s[i]]
		if letter := c >= utf8.RuneSelf; !letter && !wordByte(c) || letter != (s[0] >= utf8.RuneSelf) {
			break
		}
		key = key<<8 | uint32(c)
	}
	return key
}

// page is where a book keeps the phrases with a beginning.
func page(key uint32) int { return int(key * 0x9e3779b1 >> (32 - bookBits)) }

// find lists the phrases of the book that a text holds, in the order in which they come.
func (b *phraseBook) find(text string) []phraseHit {
	if b == nil {
		return nil
	}
	var hits []phraseHit
	b.each(text, func(e *bookEntry, _ int) bool {
		if !slices.ContainsFunc(hits, func(h phraseHit) bool { return h.group == e.group && h.phrase == e.phrase }) {
			hits = append(hits, phraseHit{group: e.group, phrase: e.phrase})
		}
		return len(hits) < hitLimit
	})
	return hits
}

// each calls back for every phrase of the book in a text, in the order in which they come, until it returns false. end is
// where the phrase ends.
func (b *phraseBook) each(text string, found func(e *bookEntry, end int) bool) {
	for i := nextWord(text, 0); i < len(text); i = nextWord(text, i+1) {
		key := beginning(text[i:])
		p := page(key)
		for j := b.pages[p]; j < b.pages[p+1]; j++ {
			e := &b.entries[j]
			if e.key != key {
				continue
			}
			end, ok := matchAt(text, i, e.head)
			if ok && e.tail != "" {
				end, ok = findNear(text, end, e.tail)
			}
			if ok && !found(e, end) {
				return
			}
		}
	}
}

// best is the hit of the group that comes first in the book among those that are wanted.
func (b *phraseBook) best(hits []phraseHit, wanted func(*phraseGroup) bool) (*phraseGroup, string) {
	group, phrase := -1, ""
	for _, h := range hits {
		if (group < 0 || h.group < group) && wanted(&b.groups[h.group]) {
			group, phrase = h.group, h.phrase
		}
	}
	if group < 0 {
		return nil, ""
	}
	return &b.groups[group], phrase
}

// findNear looks for a phrase in the rest of a sentence, near by, and returns where it ends.
func findNear(text string, from int, phrase string) (end int, ok bool) {
	limit := min(len(text), from+phraseGap)
	if stop := strings.Index(text[from:limit], ". "); stop >= 0 {
		limit = from + stop
	}
	for i := nextWord(text, from); i < limit; i = nextWord(text, i+1) {
		if folds[text[i]] != phrase[0] {
			continue
		}
		if end, ok := matchAt(text, i, phrase); ok {
			return end, true
		}
	}
	return 0, false
}

// nextWord is where the next word at or after from begins, or len(text). In scripts without spaces every letter may
// begin one.
func nextWord(text string, from int) int {
	inside := from > 0 && kinds[text[from-1]] == kindWord
	for i := from; i < len(text); i++ {
		switch kinds[text[i]] {
		case kindWord:
			if !inside {
				return i
			}
		case kindRune:
			return i
		default:
			inside = false
		}
	}
	return len(text)
}

// matchAt reports whether a phrase stands at a place of a text, and where it ends. A phrase is given in folded form:
// lower case, one space for any run of white space, '-' and '_', plain apostrophes. It ends where a word ends: "rate limit"
// is not in "rate limits".
func matchAt(text string, at int, phrase string) (end int, ok bool) {
	i := at
	for p := range len(phrase) {
		if i >= len(text) {
			return 0, false
		}
		c := folds[text[i]]
		switch {
		case c == phrase[p]:
			i++
			for c == ' ' && i < len(text) && folds[text[i]] == ' ' {
				i++
			}
		case phrase[p] == '\'' && strings.HasPrefix(text[i:], "’"):
			i += len("’")
		default:
			return 0, false
		}
	}
	if i < len(text) && wordByte(phrase[len(phrase)-1]) && wordByte(folds[text[i]]) {
		return 0, false
	}
	return i, true
}

// contains reports whether a text holds a single phrase.
func contains(text, phrase string) bool {
	for i := nextWord(text, 0); i < len(text); i = nextWord(text, i+1) {
		if _, ok := matchAt(text, i, phrase); ok {
			return true
		}
	}
	return false
}

// byteKind is what a byte is for those who look for words.
type byteKind uint8

const (
	kindOther byteKind = iota
	kindWord           // part of a Latin word
	kindRune           // the first byte of a letter of another script
)

// folds brings the spellings of a byte to one: lower case, and a space for white space, '-' and '_'. kinds tells what a
// byte is before that.
var (
	folds = foldTable()
	kinds = kindTable()
)

func foldTable() (table [256]byte) {
	for i := range table {
		c := byte(i)
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case strings.IndexByte(" \t\r\n-_", c) >= 0:
			c = ' '
		}
		table[i] = c
	}
	return table
}

func kindTable() (table [256]byteKind) {
	for i := range table {
		switch c := byte(i); {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || digit(c):
			table[i] = kindWord
		case c >= 0xc0:
			table[i] = kindRune
		}
	}
	return table
}

// wordByte reports whether a folded byte is part of a Latin word.
func wordByte(c byte) bool { return kinds[c] == kindWord }
