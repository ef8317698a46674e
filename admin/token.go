package admin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/router"
)

// Scope is what a token's holder may do.
type Scope string

// The scopes. ScopeAdmin includes ScopeViewer.
const (
	ScopeAdmin  Scope = "admin"
	ScopeViewer Scope = "viewer" // reads, and asks for explanations
)

// Identity is who a good token speaks for.
type Identity struct {
	Subject string // sub, "" when the token has none
	Scope   Scope  // the widest it has
}

// What is wrong with a token. The rest of the error says why, for the log alone: every bad token gets the same answer.
var (
	ErrToken = errors.New("no valid token")
	ErrScope = errors.New("the token has neither scope admin nor viewer")
)

const (
	maxToken = 4 << 10          // bytes; a longer one is not even parsed
	leeway   = 30 * time.Second // between the issuer's clock and ours
)

// Verifier tells good tokens from bad ones.
type Verifier struct {
	keys   keys
	parser *jwt.Parser
	now    func() time.Time
}

// NewVerifier takes the keys that c names: exactly one of the three sources, ErrNoKey without any. Ctx ends the
// refreshing of a JWKS; log hears when that fails.
func NewVerifier(ctx context.Context, c Config, now func() time.Time, log *slog.Logger) (*Verifier, error) {
	keys, err := loadKeys(ctx, c, log)
	if err != nil {
		return nil, err
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods(keys.methods), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(now), jwt.WithStrictDecoding(),
	}
	if c.Audience != "" {
		options = append(options, jwt.WithAudience(c.Audience))
	}
	if c.Issuer != "" {
		options = append(options, jwt.WithIssuer(c.Issuer))
	}
	return &Verifier{keys: keys, parser: jwt.NewParser(options...), now: now}, nil
}

// Verify tells whom token speaks for. The error is an ErrToken or an ErrScope.
func (v *Verifier) Verify(ctx context.Context, token string) (Identity, error) {
	if len(token) > maxToken {
		return Identity{}, fmt.Errorf("%w: longer than %d bytes", ErrToken, maxToken)
	}
	var c claims
	parsed, err := v.parser.ParseWithClaims(token, &c, v.keys.find(ctx))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if _, critical := parsed.Header["crit"]; critical { // RFC 7515, 4.1.11: extensions that are not understood
		return Identity{}, fmt.Errorf("%w: header crit names extensions", ErrToken)
	}
	if life := c.life(v.now()); life > MaxTokenLife {
		return Identity{}, fmt.Errorf("%w: lives %s, at most %s are allowed", ErrToken, life, MaxTokenLife)
	}
	scope, ok := c.scope()
	if !ok {
		return Identity{}, ErrScope
	}
	return Identity{Subject: c.Subject, Scope: scope}, nil
}

// claims are those of a token, with every usual place of a scope.
type claims struct {
	jwt.RegisteredClaims
	Scope  words `json:"scope,omitempty"`
	Scopes words `json:"scopes,omitempty"`
	SCP    words `json:"scp,omitempty"`
	Roles  words `json:"roles,omitempty"`
}

// life is how long the token is good for: from its issue, or from now when it does not say.
func (c *claims) life(now time.Time) time.Duration {
	if c.IssuedAt != nil {
		now = c.IssuedAt.Time
	}
	return c.ExpiresAt.Sub(now)
}

func (c *claims) scope() (Scope, bool) {
	held := slices.Concat(c.Scope, c.Scopes, c.SCP, c.Roles)
	for _, scope := range [...]Scope{ScopeAdmin, ScopeViewer} {
		if slices.Contains(held, string(scope)) {
			return scope, true
		}
	}
	return "", false
}

// words is a claim that some issuers write as one string with spaces and others as an array.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(data []byte) error {
	var line string
	if json.Unmarshal(data, &line) == nil {
		*w = strings.Fields(line)
		return nil
	}
	return json.Unmarshal(data, (*[]string)(w))
}

// MarshalJSON writes the string that RFC 8693 defines for scope.
func (w words) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Join(w, " ")) }

// Mint signs a token with the hub's own secret (HS256). Issuer and subject may be empty.
func Mint(secret router.Secret, audience, issuer, subject string, scope Scope, ttl time.Duration, now time.Time) (string, error) {
	if err := CheckSecret(secret); err != nil {
		return "", fmt.Errorf("admin.jwt_secret %w", err)
	}
	if scope != ScopeAdmin && scope != ScopeViewer {
		return "", fmt.Errorf("scope %q: use %s or %s", scope, ScopeAdmin, ScopeViewer)
	}
	if ttl < time.Second || ttl > MaxTokenLife {
		return "", fmt.Errorf("ttl %s: use 1s to %s", ttl, MaxTokenLife)
	}
	c := claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Subject: subject, ID: rand.Text(),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
		},
		Scope: words{string(scope)},
	}
	if audience != "" {
		c.Audience = jwt.ClaimStrings{audience}
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(signingKey(secret))
}
