package admin

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/router"
)

const testSecret = "mZ8kQ1vT5xW2nB7cL4pR9sD3fG6hJ0aE-test-only"

var testNow = time.Unix(1_800_000_000, 0)

func clock() time.Time { return testNow }

func hmacConfig() Config {
	return Config{Listen: "127.0.0.1:7401", JWTSecret: router.NewSecret(testSecret), Audience: "hermes-hub", Issuer: "hub"}
}

func newVerifier(t testing.TB, c Config) *Verifier {
	t.Helper()
	v, err := NewVerifier(t.Context(), c, clock, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// goodClaims are those of a token that lives ten minutes more; with lays others over them, nil takes one away.
func goodClaims(with jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{
		"aud": "hermes-hub", "iss": "hub", "sub": "ops", "scope": "admin",
		"iat": testNow.Add(-time.Minute).Unix(), "exp": testNow.Add(10 * time.Minute).Unix(),
	}
	maps.Copy(c, with)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func sign(t testing.TB, method jwt.SigningMethod, key any, c jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// verdict is what Verify says, as text.
func verdict(t testing.TB, v *Verifier, token string) string {
	t.Helper()
	id, err := v.Verify(t.Context(), token)
	switch {
	case errors.Is(err, ErrScope):
		return "no scope"
	case errors.Is(err, ErrToken):
		return "bad: " + strings.TrimPrefix(err.Error(), ErrToken.Error()+": ")
	case err != nil:
		t.Fatalf("an error of neither kind: %v", err)
	}
	return fmt.Sprintf("%s %s", id.Scope, id.Subject)
}

// A01 and the reference's rows 19 to 22, on the verifier: each claim alone makes a token bad.
func TestVerify(t *testing.T) {
	v := newVerifier(t, hmacConfig())
	f := func(with jwt.MapClaims, want string) {
		t.Helper()
		token := sign(t, jwt.SigningMethodHS256, []byte(testSecret), goodClaims(with))
		if got := verdict(t, v, token); !strings.HasPrefix(got, want) {
			t.Errorf("%v: got %q, want %q", with, got, want)
		}
	}
	at := func(d time.Duration) int64 { return testNow.Add(d).Unix() }
	f(nil, "admin ops")
	f(jwt.MapClaims{"sub": nil}, "admin ")
	// Time: a leeway of 30 s on both sides, an end that is required, a life of a day at most.
	f(jwt.MapClaims{"exp": at(-29 * time.Second)}, "admin ops")
	f(jwt.MapClaims{"exp": at(-31 * time.Second)}, "bad: token has invalid claims: token is expired")
	f(jwt.MapClaims{"exp": nil}, "bad: token has invalid claims: token is missing required claim: exp")
	f(jwt.MapClaims{"exp": "soon"}, "bad: token is malformed")
	f(jwt.MapClaims{"iat": at(29 * time.Second)}, "admin ops")
	f(jwt.MapClaims{"iat": at(31 * time.Second)}, "bad: token has invalid claims: token used before issued")
	f(jwt.MapClaims{"nbf": at(31 * time.Second)}, "bad: token has invalid claims: token is not valid yet")
	f(jwt.MapClaims{"iat": at(0), "exp": at(24 * time.Hour)}, "admin ops")
	f(jwt.MapClaims{"iat": at(0), "exp": at(24*time.Hour + time.Second)}, "bad: lives 24h0m1s")
	f(jwt.MapClaims{"iat": nil, "exp": at(24 * time.Hour)}, "admin ops")
	f(jwt.MapClaims{"iat": nil, "exp": at(24*time.Hour + time.Second)}, "bad: lives 24h0m1s")
	f(jwt.MapClaims{"iat": at(-25 * time.Hour), "exp": at(time.Minute)}, "bad: lives 25h1m0s")
	f(jwt.MapClaims{"exp": 1e300}, "bad: ")
	// For whom and by whom.
	f(jwt.MapClaims{"aud": nil}, "bad: token has invalid claims: token is missing required claim: aud")
	f(jwt.MapClaims{"aud": "another"}, "bad: token has invalid claims: token has invalid audience")
	f(jwt.MapClaims{"aud": []string{"another", "hermes-hub"}}, "admin ops")
	f(jwt.MapClaims{"iss": "stranger"}, "bad: token has invalid claims: token has invalid issuer")
	f(jwt.MapClaims{"iss": nil}, "bad: token has invalid claims: token is missing required claim: iss")
	// Scope, in each usual place and shape.
	f(jwt.MapClaims{"scope": "openid viewer"}, "viewer ops")
	f(jwt.MapClaims{"scope": "viewer admin"}, "admin ops")
	f(jwt.MapClaims{"scope": nil, "scopes": []string{"viewer"}}, "viewer ops")
	f(jwt.MapClaims{"scope": nil, "scp": []string{"admin"}}, "admin ops")
	f(jwt.MapClaims{"scope": nil, "scp": "viewer"}, "viewer ops")
	f(jwt.MapClaims{"scope": nil, "roles": []string{"x", "admin"}}, "admin ops")
	f(jwt.MapClaims{"scope": "administrator Admin hub:admin"}, "no scope")
	f(jwt.MapClaims{"scope": nil}, "no scope")
	f(jwt.MapClaims{"scope": 7}, "bad: token is malformed")
	// Row 22: four kilobytes are not parsed.
	f(jwt.MapClaims{"padding": strings.Repeat("x", maxToken)}, "bad: longer than 4096 bytes")
}

// Without audience and issuer in the configuration, neither is asked for.
func TestVerifyWithoutAudienceAndIssuer(t *testing.T) {
	v := newVerifier(t, Config{JWTSecret: router.NewSecret(testSecret)})
	token := sign(t, jwt.SigningMethodHS256, []byte(testSecret), goodClaims(jwt.MapClaims{"aud": nil, "iss": nil}))
	if got := verdict(t, v, token); got != "admin ops" {
		t.Errorf("got %q", got)
	}
}

// A01: alg none, another hash, another key, and what is no token at all.
func TestVerifyForgeries(t *testing.T) {
	v := newVerifier(t, hmacConfig())
	good := sign(t, jwt.SigningMethodHS256, []byte(testSecret), goodClaims(nil))
	parts := strings.Split(good, ".")
	header := func(fields string) string { return base64.RawURLEncoding.EncodeToString([]byte(fields)) }
	critical := jwt.NewWithClaims(jwt.SigningMethodHS256, goodClaims(nil))
	critical.Header["crit"] = []string{"b64"}
	withCrit, err := critical.SignedString([]byte(testSecret))
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"none":             sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, goodClaims(nil)),
		"none, signed":     header(`{"alg":"none"}`) + "." + parts[1] + "." + parts[2],
		"None":             header(`{"alg":"None"}`) + "." + parts[1] + ".",
		"hs512":            sign(t, jwt.SigningMethodHS512, []byte(testSecret), goodClaims(nil)),
		"hs256, empty key": sign(t, jwt.SigningMethodHS256, []byte{}, goodClaims(nil)),
		"hs256, other key": sign(t, jwt.SigningMethodHS256, []byte(testSecret+"x"), goodClaims(nil)),
		"no alg":           header(`{"typ":"JWT"}`) + "." + parts[1] + "." + parts[2],
		"crit":             withCrit,
		"no signature":     parts[0] + "." + parts[1] + ".",
		"two parts":        parts[0] + "." + parts[1],
		"dots":             strings.Repeat(".", maxToken),
		"empty":            "",
		"junk":             "hello",
	} {
		if got := verdict(t, v, token); !strings.HasPrefix(got, "bad: ") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := verdict(t, v, good); got != "admin ops" {
		t.Errorf("the good one: got %q", got)
	}
}

func TestMint(t *testing.T) {
	v := newVerifier(t, hmacConfig())
	f := func(secret, audience string, scope Scope, ttl time.Duration, want string) {
		t.Helper()
		token, err := Mint(router.NewSecret(secret), audience, "hub", "ops", scope, ttl, testNow)
		got := fmt.Sprint(err)
		if err == nil {
			got = verdict(t, v, token)
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(testSecret, "hermes-hub", ScopeAdmin, time.Hour, "admin ops")
	f(testSecret, "hermes-hub", ScopeViewer, MaxTokenLife, "viewer ops")
	f(testSecret, "", ScopeAdmin, time.Hour, "bad: token has invalid claims")
	f(testSecret, "hermes-hub", "root", time.Hour, `scope "root": use admin or viewer`)
	f(testSecret, "hermes-hub", ScopeAdmin, MaxTokenLife+1, "ttl 24h0m0.000000001s: use 1s to 24h0m0s")
	f(testSecret, "hermes-hub", ScopeAdmin, 0, "ttl 0s: use 1s to 24h0m0s")
	f("short", "hermes-hub", ScopeAdmin, time.Hour, "admin.jwt_secret has 5 bytes, at least 32 are needed")
}

// Two tokens of one moment are two tokens: an audit can tell them apart.
func TestMintedTokensDiffer(t *testing.T) {
	var minted [2]string
	for i := range minted {
		token, err := Mint(router.NewSecret(testSecret), "a", "", "", ScopeAdmin, time.Hour, testNow)
		if err != nil {
			t.Fatal(err)
		}
		minted[i] = token
	}
	if minted[0] == minted[1] {
		t.Error("the same token twice")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(minted[0], ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	delete(claims, "jti")
	if got, want := fmt.Sprint(claims), "map[aud:[a] exp:1.8000036e+09 iat:1.8e+09 scope:admin]"; got != want {
		t.Errorf("got claims %s, want %s", got, want)
	}
}

func FuzzVerify(f *testing.F) {
	v, err := NewVerifier(f.Context(), hmacConfig(), clock, slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"alg":"HS256"}`, `{"exp":1800000100,"scope":["admin"]}`)
	f.Add(`{"alg":"none"}`, `{"scp":null}`)
	f.Fuzz(func(t *testing.T, header, payload string) {
		encode := base64.RawURLEncoding.EncodeToString
		if _, err := v.Verify(t.Context(), encode([]byte(header))+"."+encode([]byte(payload))+".AAAA"); !errors.Is(err, ErrToken) {
			t.Errorf("%s %s: got %v", header, payload, err)
		}
	})
}

// publicPEM is the PEM file of a public key.
func publicPEM(t testing.TB, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func edKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
