package runs

import (
	"crypto/rand"
	"encoding/hex"
)

// NewID draws the id of a new run: run_ and 32 hex digits.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program instead
	return "run_" + hex.EncodeToString(b[:])
}
