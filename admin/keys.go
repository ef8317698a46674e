package admin

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/router"
)

// minSecret is the least length of an HS256 secret in bytes: that of the hash it keys.
const minSecret = 32

// samples are in secrets that stand in documents, and that therefore everybody knows.
var samples = []string{
	"a-string-secret-at-least-256-bits-long", "your-256-bit-secret", "your-secret", "your_secret", "yoursecret",
	"change-me", "change_me", "changeme", "replace-me", "replace_me", "replaceme", "example", "password", "supersecret",
	"super-secret", "super_secret", "0123456789abcdef", "1234567890123456", "abcdefghijklmnopqrstuvwxyz", "${",
}

// CheckSecret tells why s must not sign tokens: too short, copied from a document, or typed by leaning on a key.
func CheckSecret(s router.Secret) error {
	value := s.Reveal()
	const mend = "make one with `openssl rand -base64 48`"
	if len(value) < minSecret {
		return fmt.Errorf("has %d bytes, at least %d are needed; %s", len(value), minSecret, mend)
	}
	low := strings.ToLower(value)
	if slices.ContainsFunc(samples, func(sample string) bool { return strings.Contains(low, sample) }) {
		return fmt.Errorf("is a value from an example, which anybody can guess; %s", mend)
	}
	distinct := make(map[byte]bool)
	for i := range len(low) {
		distinct[low[i]] = true
	}
	if len(distinct) < 8 {
		return fmt.Errorf("has only %d different characters; %s", len(distinct), mend)
	}
	return nil
}

// ErrNoKey means that nothing says which tokens are good. The admin plane never runs open.
var ErrNoKey = errors.New("none of admin.jwt_secret, admin.jwks_url and admin.public_key_file is set")

// keys are what tokens are verified with: one family, chosen by the configuration and never by a token.
type keys struct {
	methods []string // values of alg that are accepted
	find    func(ctx context.Context) jwt.Keyfunc
}

// loadKeys reads the one key source of c. Ctx ends the refreshing of a JWKS.
func loadKeys(ctx context.Context, c Config, log *slog.Logger) (keys, error) {
	var set []string
	for name, given := range map[string]bool{
		"admin.jwt_secret": !c.JWTSecret.Empty(), "admin.jwks_url": c.JWKSURL != "", "admin.public_key_file": c.PublicKeyFile != "",
	} {
		if given {
			set = append(set, name)
		}
	}
	if len(set) > 1 {
		slices.Sort(set)
		return keys{}, fmt.Errorf("%s are set together: keep the one whose tokens are meant", strings.Join(set, " and "))
	}
	switch {
	case !c.JWTSecret.Empty():
		if err := CheckSecret(c.JWTSecret); err != nil {
			return keys{}, fmt.Errorf("admin.jwt_secret %w", err)
		}
		return fixedKey(signingKey(c.JWTSecret), jwt.SigningMethodHS256), nil
	case c.JWKSURL != "":
		return jwksKeys(ctx, c.JWKSURL, log)
	case c.PublicKeyFile != "":
		return publicKey(c.PublicKeyFile)
	}
	return keys{}, ErrNoKey
}

// fixedKey accepts one algorithm with one key of that algorithm's own type.
func fixedKey(key any, method jwt.SigningMethod) keys {
	return keys{
		methods: []string{method.Alg()},
		find:    func(context.Context) jwt.Keyfunc { return func(*jwt.Token) (any, error) { return key, nil } },
	}
}

func signingKey(s router.Secret) []byte { return []byte(s.Reveal()) }

// matches compares a secret with what a client sent in a time that tells nothing about either. No secret matches nothing.
func matches(s router.Secret, given string) bool {
	want, got := sha256.Sum256([]byte(s.Reveal())), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && !s.Empty()
}
