package wire

import "encoding/json"

// Edit replaces the bytes of one span; an empty span at From inserts there.
type Edit struct {
	At   Span
	With string
}

// Splice appends body with the edits applied to dst. Edits must be in ascending order and must not overlap. Every byte
// outside them is the client's own.
func Splice(dst, body []byte, edits []Edit) []byte {
	at := 0
	for _, e := range edits {
		dst = append(dst, body[at:e.At.From]...)
		dst = append(dst, e.With...)
		at = e.At.To
	}
	return append(dst, body[at:]...)
}

// Quote returns s as a JSON string.
func Quote(s string) string {
	plainText := true
	for i := range len(s) {
		if b := s[i]; b < 0x20 || b == '"' || b == '\\' || b >= 0x7f || b == '<' || b == '>' || b == '&' {
			plainText = false
			break
		}
	}
	if plainText {
		return `"` + s + `"`
	}
	q, err := json.Marshal(s)
	if err != nil { // no string fails to marshal; invalid UTF-8 is replaced
		return `""`
	}
	return string(q)
}
