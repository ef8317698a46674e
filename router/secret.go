package router

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
)

// Secret is a credential. It prints as [redacted] everywhere: fmt, slog, JSON and YAML. Reveal is the only way to its
// value, and only the code that puts it on the wire calls it. Two Secrets are compared with Equal, not with ==.
type Secret struct {
	value *string // behind a pointer, because fmt prints unexported fields of a surrounding struct without asking them
}

const redacted = "[redacted]"

// NewSecret wraps value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{&value}
}

// Reveal returns the value.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no credential at all.
func (s Secret) Empty() bool { return s.value == nil }

// Equal compares the values in constant time.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.Reveal()), []byte(other.Reveal())) == 1
}

// Fingerprint identifies the credential without giving it away: 12 hex digits of its SHA-256, "" when empty.
func (s Secret) Fingerprint() string {
	if s.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Reveal()))
	return hex.EncodeToString(sum[:6])
}

// String is the placeholder, "" when empty.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return redacted
}

// Format prints the placeholder, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue keeps slog from printing the field.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps JSON and YAML from printing the field.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
