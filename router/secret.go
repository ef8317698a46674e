package router

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
)

// Secret is a credential. It prints as [redacted] everywhere: fmt, slog, JSON and YAML. Reveal is the only way to its
// value, and only the code that puts it on the wire calls it.
type Secret struct{ value string }

const redacted = "[redacted]"

// NewSecret wraps value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the value.
func (s Secret) Reveal() string { return s.value }

// Empty reports whether there is no credential at all.
func (s Secret) Empty() bool { return s.value == "" }

// Fingerprint identifies the credential without giving it away: 12 hex digits of its SHA-256, "" when empty.
func (s Secret) Fingerprint() string {
	if s.value == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.value))
	return hex.EncodeToString(sum[:6])
}

// String prints the placeholder, whatever the verb.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return redacted
}

// GoString keeps %#v from printing the field.
func (s Secret) GoString() string { return s.String() }

// LogValue keeps slog from printing the field.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps JSON and YAML from printing the field.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
