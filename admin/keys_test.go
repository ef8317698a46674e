package admin

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/router"
)

func TestCheckSecret(t *testing.T) {
	f := func(secret, want string) {
		t.Helper()
		got := "good"
		if err := CheckSecret(router.NewSecret(secret)); err != nil {
			got = err.Error()
			if secret != "" && strings.Contains(got, secret) {
				t.Errorf("the message %q holds the secret", got)
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %q, want %q", secret, got, want)
		}
	}
	f(testSecret, "good")
	f("b1946ac92492d2347c6235b4d2611184e4f2d2b1", "good")
	// Row 19: an empty key verifies, so it must never be one.
	f("", "has 0 bytes, at least 32 are needed; make one with `openssl rand -base64 48`")
	f("mZ8kQ1vT5xW2nB7cL4pR9sD3fG6hJ0a", "has 31 bytes, at least 32 are needed")
	// Row 24: samples are abused.
	f("your-256-bit-secret-your-256-bit-secret", "is a value from an example")
	f("a-string-secret-at-least-256-bits-long", "is a value from an example")
	f("PLEASE-CHANGE-ME-please-change-me-please", "is a value from an example")
	f("${HUB_ADMIN_SECRET}-${HUB_ADMIN_SECRET}", "is a value from an example")
	f(strings.Repeat("a", 40), "has only 1 different characters")
	f(strings.Repeat("abcabc1", 8), "has only 4 different characters")
}

// A02: what has no key, or a bad one, or two families, makes no verifier, and the plane does not start.
func TestNewVerifierRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(edKey(t))
	if err != nil {
		t.Fatal(err)
	}
	secret := router.NewSecret(testSecret)
	for want, c := range map[string]Config{
		ErrNoKey.Error():                                              {Listen: "0.0.0.0:7401"},
		"admin.jwt_secret has 5 bytes":                                {JWTSecret: router.NewSecret("short")},
		"admin.jwks_url and admin.jwt_secret are set together":        {JWTSecret: secret, JWKSURL: "https://id.example/jwks"},
		"admin.jwt_secret and admin.public_key_file are set together": {JWTSecret: secret, PublicKeyFile: "x.pem"},
		"admin.jwks_url is not an https URL":                          {JWKSURL: "http://id.example/jwks"},
		"admin.jwks_url is not an https":                              {JWKSURL: "file:///etc/passwd"},
		"admin.public_key_file: open ":                                {PublicKeyFile: filepath.Join(dir, "missing.pem")},
		"admin.public_key_file " + dir + "/junk.pem holds no PEM block": {
			PublicKeyFile: file("junk.pem", []byte("junk")),
		},
		"admin.public_key_file " + dir + "/private.pem holds a private key": {
			PublicKeyFile: file("private.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
		},
		"admin.public_key_file " + dir + "/small.pem holds an RSA key of 1024 bits": {
			PublicKeyFile: file("small.pem", publicPEM(t, &small.PublicKey)),
		},
		"admin.public_key_file " + dir + "/wide.pem holds an EC key on P-384": {
			PublicKeyFile: file("wide.pem", publicPEM(t, &wide.PublicKey)),
		},
		"admin.public_key_file " + dir + "/bad.pem holds no public key: ": {
			PublicKeyFile: file("bad.pem", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")})),
		},
		"admin.public_key_file: " + dir + "/huge.pem is larger": {
			PublicKeyFile: file("huge.pem", make([]byte, 1<<17)),
		},
	} {
		_, err := NewVerifier(t.Context(), c, clock, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Each kind of public key verifies tokens of its own algorithm, and of no other. Row 20: with the key as plain bytes, a
// token signed by HMAC with the public PEM, which everybody has, was accepted.
func TestPublicKeyFile(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ed := edKey(t)
	tokens := map[string]string{
		"RS256": sign(t, jwt.SigningMethodRS256, rsaKey, goodClaims(nil)),
		"ES256": sign(t, jwt.SigningMethodES256, ecKey, goodClaims(nil)),
		"EdDSA": sign(t, jwt.SigningMethodEdDSA, ed, goodClaims(nil)),
		"PS256": sign(t, jwt.SigningMethodPS256, rsaKey, goodClaims(nil)),
		"RS512": sign(t, jwt.SigningMethodRS512, rsaKey, goodClaims(nil)),
		"HS256": sign(t, jwt.SigningMethodHS256, []byte(testSecret), goodClaims(nil)),
		"none":  sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, goodClaims(nil)),
	}
	for own, public := range map[string]any{"RS256": &rsaKey.PublicKey, "ES256": &ecKey.PublicKey, "EdDSA": ed.Public()} {
		data := publicPEM(t, public)
		path := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		v := newVerifier(t, Config{PublicKeyFile: path, Audience: "hermes-hub"})
		for alg, token := range tokens {
			if got := verdict(t, v, token); (got == "admin ops") != (alg == own) {
				t.Errorf("key for %s, token %s: got %q", own, alg, got)
			}
		}
		for name, forged := range map[string][]byte{"pem": data, "trimmed": []byte(strings.TrimSpace(string(data)))} {
			if got := verdict(t, v, sign(t, jwt.SigningMethodHS256, forged, goodClaims(nil))); !strings.HasPrefix(got, "bad: ") {
				t.Errorf("key for %s, HS256 with the %s: got %q", own, name, got)
			}
		}
	}
}

// serveJWKS is an issuer on this machine; its answer is what body returns.
func serveJWKS(t *testing.T, body func(w http.ResponseWriter)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { body(w) }))
	t.Cleanup(s.Close)
	return s.URL
}

// An issuer's JWKS: found by kid, or tried one after the other; a shared secret in it is no key of ours.
func TestJWKS(t *testing.T) {
	ed, stranger := edKey(t), edKey(t)
	encode := base64.RawURLEncoding.EncodeToString
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{
		{"kty": "oct", "kid": "shared", "k": encode([]byte(testSecret))},
		{"kty": "OKP", "crv": "Ed25519", "kid": "ed", "alg": "EdDSA", "use": "sig", "x": encode(ed.Public().(ed25519.PublicKey))},
	}})
	if err != nil {
		t.Fatal(err)
	}
	address := serveJWKS(t, func(w http.ResponseWriter) { _, _ = w.Write(set) })
	v := newVerifier(t, Config{JWKSURL: address, Audience: "hermes-hub", Issuer: "hub"})
	f := func(method jwt.SigningMethod, key any, kid, want string) {
		t.Helper()
		token := jwt.NewWithClaims(method, goodClaims(nil))
		if kid != "" {
			token.Header["kid"] = kid
		}
		signed, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(t, v, signed); !strings.HasPrefix(got, want) {
			t.Errorf("%s, kid %q: got %q, want %q", method.Alg(), kid, got, want)
		}
	}
	f(jwt.SigningMethodEdDSA, ed, "ed", "admin ops")
	f(jwt.SigningMethodEdDSA, ed, "", "admin ops")
	f(jwt.SigningMethodEdDSA, stranger, "ed", "bad: ")
	f(jwt.SigningMethodEdDSA, stranger, "", "bad: ")
	f(jwt.SigningMethodEdDSA, ed, "shared", "bad: ")
	f(jwt.SigningMethodEdDSA, ed, "unknown", "bad: ")
	f(jwt.SigningMethodHS256, []byte(testSecret), "shared", "bad: ")
	f(jwt.SigningMethodHS256, []byte(testSecret), "", "bad: ")
}

// An issuer that is away, sends us elsewhere or never ends its answer leaves no token good, and the hub running.
func TestJWKSTrouble(t *testing.T) {
	var followed atomic.Bool
	elsewhere := serveJWKS(t, func(http.ResponseWriter) { followed.Store(true) })
	for name, body := range map[string]func(http.ResponseWriter){
		"error": func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"junk":  func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"huge": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"keys":[],"x":"` + strings.Repeat("x", 2*jwksMaxBody) + `"}`))
		},
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", elsewhere); w.WriteHeader(http.StatusFound) },
	} {
		var out bytes.Buffer
		v, err := NewVerifier(t.Context(), Config{JWKSURL: serveJWKS(t, body)}, clock, slog.New(slog.NewTextHandler(&out, nil)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := verdict(t, v, sign(t, jwt.SigningMethodEdDSA, edKey(t), goodClaims(nil))); !strings.HasPrefix(got, "bad: ") {
			t.Errorf("%s: got %q", name, got)
		}
		if !strings.Contains(out.String(), "cannot fetch the keys of admin.jwks_url") {
			t.Errorf("%s: the log says nothing of it: %s", name, out.String())
		}
	}
	if followed.Load() {
		t.Error("a redirect was followed")
	}
}

// Row 28: no metrics token is no open door.
func TestMatches(t *testing.T) {
	for given, want := range map[string]bool{"": false, "tok": false, "token": true, "token ": false} {
		if got := matches(router.NewSecret("token"), given); got != want {
			t.Errorf("%q: got %v", given, got)
		}
		if matches(router.Secret{}, given) {
			t.Errorf("%q matches no secret", given)
		}
	}
}
