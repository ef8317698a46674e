// Package redact takes secrets out of what is kept of runs: keys and tokens by their shapes, by the names they stand under
// and by what this hub itself was configured with, and e-mail addresses. Paths stay as they are.
//
// Text is changed only where something was found; a JSON payload keeps every byte outside the strings concerned. Nothing
// here decides by guessing at entropy: a commit hash, a UUID and a base64 picture are no secrets.
package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sort"
	"strings"
	"sync/atomic"
	"unicode/utf8"
)

// Mark stands where a secret stood, and Address where an e-mail address did.
const (
	Mark    = "[redacted]"
	Address = "[email]"
)

// Redactor redacts. Its methods may be called from many goroutines.
type Redactor struct{ known atomic.Pointer[known] }

// New is a Redactor that knows these secrets besides what it knows by shape.
func New(secrets []string) *Redactor {
	r := &Redactor{}
	r.Know(secrets)
	return r
}

// known are literal secrets, longest first, and the two bytes that each begins with.
type known struct {
	secrets []string
	begins  [1 << 16]bool // by both bytes: every byte of what is kept is looked up
}

// leastKnown is the length below which a configured secret is not looked for: it would be found in ordinary words.
const leastKnown = 8

// Know replaces the literal secrets. Those of less than eight bytes are not looked for.
func (r *Redactor) Know(secrets []string) {
	k := &known{}
	for _, s := range secrets {
		if len(s) >= leastKnown {
			k.secrets = append(k.secrets, s)
			k.begins[pair(s[0], s[1])] = true
		}
	}
	sort.Slice(k.secrets, func(i, j int) bool { return len(k.secrets[i]) > len(k.secrets[j]) })
	r.known.Store(k)
}

// Text is s without secrets.
func (r *Redactor) Text(s string) string { return r.text(s, false) }

// text redacts a string; a path keeps its @.
func (r *Redactor) text(s string, path bool) string {
	if len(s) < 6 { // shorter than any secret, and than a@b.cc
		return s
	}
	s = r.literals(s)
	asItCame, lower := s, strings.ToLower(s)
	for _, shape := range shapes {
		if shape.mayBeIn(asItCame, lower) {
			s = shape.pattern.ReplaceAllString(s, shape.instead)
		}
	}
	for _, shape := range named {
		if shape.mayBeIn(asItCame, lower) {
			s = shape.withoutValue(s)
		}
	}
	if !path && strings.Contains(s, "@") {
		s = email.ReplaceAllString(s, Address)
	}
	return s
}

// literals takes out the secrets that are known letter by letter.
func (r *Redactor) literals(s string) string {
	k := r.known.Load()
	if len(k.secrets) == 0 || len(s) < leastKnown || !k.mayBeIn(s) {
		return s
	}
	for _, secret := range k.secrets {
		s = strings.ReplaceAll(s, secret, Mark)
	}
	return s
}

func (k *known) mayBeIn(s string) bool {
	for i := 1; i < len(s); i++ {
		if k.begins[pair(s[i-1], s[i])] {
			return true
		}
	}
	return false
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// mostHeld is how long a secret may be that is found in pieces.
const mostHeld = 512

// promise is what may stand before a secret that has begun, or is about to.
var promise = regexp.MustCompile(`(?i)(?:\bbearer|\bauthorization["']?[ \t]*[:=]?(?:[ \t]*["']?(?:basic|bearer|digest|token|apikey|negotiate))?|(?:key|token|secret|password|passwd|pwd|credentials?)["']?[ \t]*[:=]?)[ \t]*["']?$`)

// Hold is how many bytes at the end of a text may be the beginning of a secret or of an address: its last word, with what
// stands before it where that promises one, or a private key that has begun. A text whose last word is longer than a secret
// is waits for nothing.
func (r *Redactor) Hold(text string) int {
	word := lastWord(text)
	return len(text) - min(word, openKey(text, word))
}

// running is a value, or the name in an address, that goes on where the text ends.
var running = regexp.MustCompile(`(?i)(?:(?:key|token|secret|password|passwd|pwd|credentials?|authorization)["']?[:=]["']?[^\s"',;&\[\](){}<>$*]*|://[^\s/@]*)$`)

// lastWord is where the word begins that may still grow. Scripts without blanks are not waited for: what is outside ASCII is
// in no key and no address.
func lastWord(text string) int {
	at := strings.LastIndexAny(text, " \t\r\n") + 1
	if len(text)-at > mostHeld {
		return len(text)
	}
	if before := text[max(0, at-64):at]; before != "" {
		if m := promise.FindStringIndex(before); m != nil {
			return at - len(before) + m[0]
		}
	}
	wide := strings.LastIndexFunc(text[at:], func(c rune) bool { return c >= utf8.RuneSelf })
	if wide < 0 {
		return at
	}
	_, size := utf8.DecodeRuneInString(text[at+wide:])
	if end := at + wide + size; !running.MatchString(text[at:end]) {
		return end
	}
	return at
}

// mostOfAKey is how long a private key may be that is found in pieces: its lines are words like any other.
const mostOfAKey = 8 << 10

var (
	keyBegins = regexp.MustCompile(`-----BEGIN [A-Z ]*(?:-{0,4}$|PRIVATE KEY-----)`)
	keyEnds   = regexp.MustCompile(`-----END [A-Z ]*PRIVATE KEY-----`)
)

// openKey is where a private key begins that does not end before the last word does; the text's length without one.
func openKey(text string, word int) int {
	near := strings.LastIndex(text, "-----BEGIN ")
	if near < 0 || len(text)-near > mostOfAKey || !keyBegins.MatchString(text[near:]) {
		return len(text)
	}
	if end := keyEnds.FindStringIndex(text[near:]); end != nil && near+end[1] <= word {
		return len(text)
	}
	return near
}

// JSON is a payload without secrets, a JSON value as before. What is not JSON is redacted as text.
func (r *Redactor) JSON(payload []byte) []byte {
	var out []byte // nil until something was found
	copied, member, kept := 0, "", payload
	for i := 0; i < len(payload); {
		switch payload[i] {
		case '"':
			end := stringEnd(payload, i)
			if end < 0 {
				return []byte(r.Text(string(payload)))
			}
			if isKey(payload, end) {
				member = plain(payload[i:end])
			} else if changed, ok := r.value(payload[i:end], member); ok {
				out = append(append(out, kept[copied:i]...), changed...)
				copied = end
			}
			i = end
		case '}':
			member = "" // an array's next element does not stand under a member of the one before
			i++
		default:
			i++
		}
	}
	if out == nil {
		return payload
	}
	return append(out, payload[copied:]...)
}

// value redacts one string value, quotes included, that stands under a member's name.
func (r *Redactor) value(quoted []byte, member string) ([]byte, bool) {
	if len(quoted) < 8 && !sensitive(member) {
		return nil, false
	}
	text := plain(quoted)
	redacted := r.text(text, pathMembers[member])
	if sensitive(member) && text != "" {
		redacted = Mark
	}
	if redacted == text {
		return nil, false
	}
	b, err := json.Marshal(redacted)
	return b, err == nil
}

// stringEnd is the index behind the closing quote of the string that begins at i, -1 when it has none.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return -1
}

// isKey reports whether the string that ends before i is a member's name.
func isKey(b []byte, i int) bool {
	for ; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return b[i] == ':'
		}
	}
	return false
}

// plain is what a quoted JSON string says.
func plain(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(inner)
	}
	return s
}
