package configs

import (
	"os"
	"slices"
	"strings"

	"hermes-hub/admin"
)

// minSecretBytes is the least an HS256 secret may have: as many bytes as the hash.
const minSecretBytes = 32

// readAdmin reads the block admin.
func (r *reader) readAdmin(b *block, a *admin.Config) {
	defer b.done()
	b.hushed = true
	secret := b.get("jwt_secret")
	a.JWTSecret = secret.secret(Error)
	switch value := a.JWTSecret.Reveal(); {
	case value == "":
	case len(value) < minSecretBytes:
		secret.fail(": has %d bytes, want %d or more; `openssl rand -base64 48` makes one", len(value), minSecretBytes)
	case isSample(value):
		secret.fail(": is a value from an example, which anybody can guess; `openssl rand -base64 48` makes one")
	}
	jwks := b.get("jwks_url")
	a.JWKSURL = jwks.url("http", "https")
	a.PublicKeyFile = r.publicKeyFile(b.get("public_key_file"))
	a.Issuer = b.get("issuer").text("")
	a.Audience = b.get("audience").text("hermes-hub")
	a.MetricsToken = b.get("metrics_token").secret(Error)
}

func (r *reader) publicKeyFile(n node) string {
	path := r.resolve(n.text(""))
	if path == "" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		n.fail(": %v", cannotRead(path, err))
		return path
	}
	_ = f.Close() // only opened to see that it can be
	return path
}

// samples are beginnings of secrets that stand in documents, so that everybody has them.
var samples = []string{
	"a-string-secret-at-least-256-bits-long", "your-256-bit-secret", "your-secret", "your_secret", "yoursecret",
	"change-me", "changeme", "change_me", "replace-me", "replace_me", "replaceme", "please-change", "example",
	"secret", "supersecret", "super-secret", "password", "0123456789abcdef", "1234567890", "abcdefghijklmnopqrstuvwxyz",
}

// isSample recognises secrets that were copied from a document or typed by holding a key down.
func isSample(secret string) bool {
	lower := strings.ToLower(secret)
	if slices.ContainsFunc(samples, func(s string) bool { return strings.HasPrefix(lower, s) }) {
		return true
	}
	distinct := map[rune]bool{}
	for _, c := range lower {
		distinct[c] = true
	}
	return len(distinct) < 8
}
