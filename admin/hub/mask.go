package hub

import (
	"strings"
	"unicode/utf8"
)

// masked is an identifier as others than its owner may see it: whose account it is, to those who know already.
func (n name) masked() string {
	if user, domain, mail := strings.Cut(n.text, "@"); mail {
		return maskUser(user) + "@" + domain
	}
	if !n.private {
		return n.text
	}
	return maskID(n.text)
}

// maskUser keeps the first and the last letter: "u***r". Of short names it keeps the first.
func maskUser(user string) string {
	r := []rune(user)
	switch {
	case len(r) > 2:
		return string(r[0]) + "***" + string(r[len(r)-1])
	case len(r) > 0:
		return string(r[0]) + "***"
	}
	return "***"
}

// maskID keeps the ends of a long identifier, "abcd...wxyz", and the beginning of a short one.
func maskID(id string) string {
	r := []rune(id)
	if utf8.RuneCountInString(id) > 10 {
		return string(r[:4]) + "..." + string(r[len(r)-4:])
	}
	return string(r[:min(len(r), 2)]) + "***"
}
