package quota

import (
	"strings"
	"testing"
)

// TestPhraseBook: phrases are found at word boundaries, in any spelling of white space and apostrophes, with a gap inside a
// sentence; the group that comes first in the book is believed first.
func TestPhraseBook(t *testing.T) {
	book := newBook([]phraseGroup{
		{class: Billing, phrases: []string{"out of credits", "you're out"}},
		{class: RateLimited, phrases: []string{"rate limit", "token * expired", "rpm", "限流", "5 hour"}},
	})
	for text, want := range map[string]string{
		"Rate limit reached":                            "rate limit",
		"rate-limit":                                    "rate limit",
		"RATE_LIMIT\nreached":                           "rate limit",
		"rate \t limit":                                 "rate limit",
		"accurate limits":                               "",
		"rate limits":                                   "",
		"rate limit, out of credits":                    "out of credits",
		"You’re out.":                                   "you're out",
		"The token you sent is expired":                 "token * expired",
		"The token. It is expired":                      "",
		"token " + strings.Repeat("x ", 80) + "expired": "",
		"max RPM: 3":                                    "rpm",
		"rpms":                                          "",
		"请求被限流了":                                        "限流",
		"5-hour limit":                                  "5 hour",
		"15 hours":                                      "",
		"":                                              "",
		"-":                                             "",
		"rate":                                          "",
	} {
		g, phrase := book.best(book.find(text), func(*phraseGroup) bool { return true })
		if phrase != want || (g == nil) != (want == "") {
			t.Errorf("%q holds %q, want %q", text, phrase, want)
		}
	}
	var none *phraseBook
	if none.find("rate limit") != nil || newBook(nil) != nil {
		t.Error("a book without phrases finds some")
	}
}

// TestPhrasesAreFolded: a phrase in any book that is not in folded form would never be found.
func TestPhrasesAreFolded(t *testing.T) {
	books := map[string]*phraseBook{"common": commonBook, "leads": leadBook}
	for name, d := range dialectByName {
		if d.book != nil {
			books[name] = d.book
		}
	}
	for name, book := range books {
		for _, g := range book.groups {
			for _, phrase := range g.phrases {
				text := strings.ReplaceAll(phrase, " * ", " and ")
				hits := book.find("so, " + text + "!")
				found := false
				for _, h := range hits {
					found = found || h.phrase == phrase
				}
				if !found {
					t.Errorf("%s: %q is not found in itself", name, phrase)
				}
			}
		}
	}
}

// TestCodesAreFolded: a code in any table that is not in snake case would never be found.
func TestCodesAreFolded(t *testing.T) {
	tables := map[string]map[string]codeMeaning{"common": commonCodes}
	for name, d := range dialectByName {
		tables[name] = d.rules.codes
	}
	for name, table := range tables {
		for code, meaning := range table {
			if codeName(code) != code {
				t.Errorf("%s: %q would be %q", name, code, codeName(code))
			}
			if usualScopes[meaning.class] == "" {
				t.Errorf("%s: %q has the class %q", name, code, meaning.class)
			}
		}
	}
}

// FuzzPhrases: whatever the words, what is found stands in them.
func FuzzPhrases(f *testing.F) {
	f.Add("Rate limit reached for gpt-4 in organization org on tokens per min. 余额不足 token\xff is expired")
	f.Fuzz(func(t *testing.T, s string) {
		for _, h := range commonBook.find(s) {
			if head, _, _ := strings.Cut(h.phrase, " * "); !contains(s, head) {
				t.Errorf("%q is not in %q", head, s)
			}
		}
		c := cursor{s}
		for range 8 {
			before := len(c.rest)
			c.number()
			c.name()
			c.zone()
			c.date()
			c.timeOfDay()
			if len(c.rest) > before {
				t.Errorf("%q grew", s)
			}
		}
	})
}
