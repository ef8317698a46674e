package runtime

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// hermesText is the end of what a run's deltas have said: as much as is needed to see where its final output goes on.
type hermesText struct {
	tail []byte
	all  bool // tail is all of it
}

// hermesMaxTail is how much of a text is kept.
const hermesMaxTail = 1 << 20

func (t *hermesText) add(s string) {
	t.tail = append(t.tail, s...)
	if len(t.tail) > 2*hermesMaxTail {
		t.tail, t.all = append([]byte(nil), t.tail[len(t.tail)-hermesMaxTail:]...), false
	}
}

// is reports whether the deltas have said this and nothing else.
func (t *hermesText) is(output string) bool { return t.all && string(t.tail) == output }

// rest is what of the output the deltas have not said. An output is the run's last message, and the deltas may have said
// others before it: it goes on behind the longest end of the text that it begins with. Hermes takes the blanks off the ends
// of an output.
func (t *hermesText) rest(output string) string {
	if bytes.HasSuffix(bytes.TrimRight(t.tail, " \r\n\t"), []byte(output)) {
		return ""
	}
	if !t.all {
		if _, rest, found := strings.Cut(output, string(t.tail)); found {
			return rest
		}
	}
	return output[overlap(t.tail, output):]
}

// overlap is the length of the longest end of text that pattern begins with.
func overlap(text []byte, pattern string) int {
	text, pattern = text[max(0, len(text)-len(pattern)):], pattern[:min(len(text), len(pattern))]
	if pattern == "" {
		return 0
	}
	// The prefix function of Knuth, Morris and Pratt: border[i] is the longest proper prefix of pattern[:i+1] that ends it.
	border := make([]int32, len(pattern))
	for i, k := 1, int32(0); i < len(pattern); i++ {
		for k > 0 && pattern[i] != pattern[k] {
			k = border[k-1]
		}
		if pattern[i] == pattern[k] {
			k++
		}
		border[i] = k
	}
	k := int32(0)
	for _, c := range text {
		for k > 0 && (int(k) == len(pattern) || c != pattern[k]) {
			k = border[k-1]
		}
		if c == pattern[k] {
			k++
		}
	}
	return int(k)
}

// pieces cuts a text into parts of about size bytes, not within a rune.
func pieces(s string, size int) (parts []string) {
	for len(s) > size {
		end := size
		for end > size-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	if s != "" {
		parts = append(parts, s)
	}
	return parts
}
