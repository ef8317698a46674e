package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// longestName is how long a tool's name may be, and longestID what is kept of a call's id as it is.
const (
	longestName = 128
	longestID   = 128
)

// nameRule is what is said of a name that breaks it.
const nameRule = "must be 1 to 128 letters, digits, _ or - for this account"

// validName reports whether s is made of letters, digits, _ and -, and not too long.
func validName(s string, longest int) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != "" && len(s) <= longest
}

// id is what a call's id is written as. The protocol wants [a-zA-Z0-9_-] and no id twice in a conversation, and clients
// have ids of other providers, which count anew in every turn. The same conversation always gets the same ids.
func (e *encoder) id(id string) string {
	written := id
	if !validName(id, longestID) {
		sum := sha256.Sum256([]byte(id))
		written = "call_" + hex.EncodeToString(sum[:12])
	}
	e.used[written]++
	for n := e.used[written]; n > 1; n = e.used[written] {
		written += "_" + strconv.Itoa(n)
		e.used[written]++
	}
	e.names[id] = written
	return written
}
