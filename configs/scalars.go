package configs

import (
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// text reads text. A number will do: ids and model names are often all digits.
func (n node) text(def string) string {
	s, ok := n.scalar("text")
	if !ok {
		return def
	}
	if n.value.Tag == "!!bool" {
		n.fail(": found %s, want text; put it in quotes if you mean the word", shown(s))
		return def
	}
	return s
}

// texts reads a list of texts, none empty and none twice.
func (n node) texts() []string { return slices.Collect(n.words("text")) }

// words reads a list of texts of one kind, none empty and none twice; each check tells what is wrong with one of them.
func (n node) words(what string, checks ...func(string) error) iter.Seq[string] {
	seen := map[string]bool{}
	return func(yield func(string) bool) {
		for _, item := range n.items() {
			s := item.text("")
			switch {
			case item.blank():
				item.fail(" is empty, want %s", what)
				continue
			case seen[s]:
				item.fail(": %s stands twice in the list", shown(s))
				continue
			}
			seen[s] = s != ""
			ok := s != ""
			for _, check := range checks {
				if err := check(s); ok && err != nil {
					item.fail(": %v", err)
					ok = false
				}
			}
			if ok && !yield(s) {
				return
			}
		}
	}
}

// oneOf reads one of a few words; the first is the default.
func (n node) oneOf(words ...string) string {
	s, ok := n.scalar("one of " + strings.Join(words, ", "))
	switch {
	case !ok || s == "" && words[0] != "":
		return words[0]
	case slices.Contains(words, s):
		return s
	}
	n.fail(": %s is not one of %s%s", shown(s), strings.Join(nonEmpty(words), ", "), didYouMean(s, words))
	return words[0]
}

func nonEmpty(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
}

// yes reads a switch, in any of YAML's spellings; a quoted one is text and refused: to Python every text is true.
func (n node) yes(def bool) bool {
	s, ok := n.scalar("true or false")
	if !ok {
		return def
	}
	if n.value.Style == 0 {
		switch strings.ToLower(s) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	}
	n.fail(": found %s %s, want true or false", kindOf(n.value), shown(s))
	return def
}

var (
	wholeNumber = regexp.MustCompile(`^[+-]?(0|[1-9][0-9]*)$`)
	anyNumber   = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
)

// whole reads a whole number of at least low.
func (n node) whole(def, low int64) int64 {
	s, ok := n.scalar("a whole number")
	if !ok {
		return def
	}
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil || !wholeNumber.MatchString(s):
		n.fail(": %s is not a whole number", shown(s))
	case v < low:
		n.fail(": %s is too small, want %d or more", shown(s), low)
	default:
		return v
	}
	return def
}

// number reads a number between low and high. what names it in messages.
func (n node) number(what string, low, high float64) (v float64, ok bool) {
	s, ok := n.scalar("a " + what)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !anyNumber.MatchString(s):
		n.fail(": %s is not a %s", shown(s), what)
	case v < low:
		n.fail(": %s is too small, want a %s of %s or more", shown(s), what, plainNumber(low))
	case v > high:
		n.fail(": %s is too large, want a %s of %s or less", shown(s), what, plainNumber(high))
	default:
		return v, true
	}
	return 0, false
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// maxSeconds is a year: more is a slip of the unit.
const maxSeconds = 366 * 24 * 3600

// wait reads a number of seconds that may be 0.
func (n node) wait(def time.Duration) time.Duration {
	if v, ok := n.number("number of seconds", 0, maxSeconds); ok {
		return seconds(v)
	}
	return def
}

// timeout reads a number of seconds that must be more than 0.
func (n node) timeout(def time.Duration) time.Duration {
	v, ok := n.number("number of seconds", 0, maxSeconds)
	if ok && seconds(v) == 0 {
		n.fail(": 0 would end everything at once, want more than 0 seconds")
		return def
	}
	if !ok {
		return def
	}
	return seconds(v)
}

func seconds(v float64) time.Duration {
	return time.Duration(math.Round(v * float64(time.Second)))
}

// idPattern is what an id may be: it stands in URLs, header values, metric labels and file names.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@+-]{0,63}$`)

// checkID reports an id that would not survive where ids are used. what is "profile", "role" …
func (n node) checkID(what, id string) bool {
	if idPattern.MatchString(id) {
		return true
	}
	n.r.fail(n.at, "%s is no %s id: want up to 64 letters, digits and . _ - @ +, the first a letter, digit or _", shown(id), what)
	return false
}

// profile reads the id of a declared profile.
func (n node) profile() (id string, ok bool) {
	id = n.text("")
	if id == "" {
		if n.blank() {
			n.fail(" is empty, want a profile id")
		}
		return "", false
	}
	if !n.r.profiles[id] && len(n.r.profiles) > 0 { // that there are none at all was said already
		n.fail(": there is no profile %s%s", shown(id), didYouMean(id, sortedKeys(n.r.profiles)))
	}
	return id, n.r.profiles[id]
}

// role reads a role id or alias and returns the id; absent is "".
func (n node) role() (id string, ok bool) {
	name := n.text("")
	if name == "" {
		return "", n.blank()
	}
	id, ok = n.r.roles[name]
	if !ok && len(n.r.roles) > 0 { // that there are none at all was said already
		n.fail(": there is no role %s%s", shown(name), didYouMean(name, sortedKeys(n.r.roles)))
	}
	return id, ok
}
