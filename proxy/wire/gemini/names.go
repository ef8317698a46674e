package gemini

import (
	"encoding/hex"
	"hash/fnv"
)

const (
	longestName = 128 // FunctionDeclaration.name
	longestID   = 64  // Anthropic's ^[a-zA-Z0-9_-]{1,64}$
)

// functionName is a name as a function may have it here: it begins with a letter or an underscore, and holds letters, digits,
// underscores, dots, colons and dashes (FunctionDeclaration.name). A name that does not fit is changed, the same way each
// time; tools with such a name are refused, because their calls could not be told apart.
func functionName(name string) string {
	if fits(name) {
		return name
	}
	changed := []byte(name)
	for i, c := range changed {
		if !nameByte(c) {
			changed[i] = '_'
		}
	}
	if len(changed) == 0 || !nameStart(changed[0]) {
		changed = append([]byte{'_'}, changed...)
	}
	return string(changed[:min(len(changed), longestName)])
}

func fits(name string) bool {
	if name == "" || len(name) > longestName || !nameStart(name[0]) {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func nameByte(c byte) bool {
	return nameStart(c) || c >= '0' && c <= '9' || c == '.' || c == ':' || c == '-'
}

// id is the id of a call as the model takes it. Gemini takes any; Claude's protocol, which stands behind Cloud Code's, does
// not, and an id that it would refuse becomes another one, the same each time.
func (e *encoder) id(id string) string {
	if !e.m.claude {
		return id
	}
	plain := id != "" && len(id) <= longestID
	for i := range len(id) {
		plain = plain && nameByte(id[i]) && id[i] != '.' && id[i] != ':'
	}
	if plain {
		return id
	}
	return "call_" + digest(id)
}

// digest is 16 hexadecimal digits that stand for a text.
func digest[T string | []byte](text T) string {
	h := fnv.New64a()
	h.Write([]byte(text)) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}
