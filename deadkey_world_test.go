package main

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/golang-jwt/jwt/v5"
	"github.com/tidwall/gjson"

	"hermes-hub/proxy/simulator"
)

// proofWorld is what lies around a hub on stage: two accounts; the same provider again at another address; an address
// where a TLS handshake takes its time; a forward proxy; an identity provider.
type proofWorld struct {
	sim     *simulator.Provider
	base    string
	other   *simulator.Provider
	another string
	slowTLS string
	proxy   *httptest.Server
	proxied atomic.Int64
	issuer  *httptest.Server
	key     ed25519.PrivateKey
	free    [2]string // addresses that nobody listens on
	probed  *httptest.Server
	visits  chan string      // paths that were asked for at probed
	agent   *httptest.Server // a runtime that is busy
	keys    chan string      // what it was called with
	redis   *miniredis.Miniredis
}

const slowness = 700 * time.Millisecond

func newProofWorld(t *testing.T) *proofWorld {
	t.Helper()
	w := &proofWorld{}
	w.sim, w.base = provider(t, simulator.Account{Name: "first", Key: "key-first", Models: []string{"sim-1", "sim-2"}},
		simulator.Account{Name: "second", Key: "key-second", Models: []string{"sim-1", "sim-2"}},
		simulator.Account{Name: "slow", Key: "key-slow", Models: []string{"sim-1"}, Latency: slowness},
		simulator.Account{Name: "pausing", Key: "key-pausing", Models: []string{"sim-1"}, ChunkPace: slowness, Answer: simulator.Say("Yes")})
	w.other, w.another = provider(t, simulator.Account{Name: "elsewhere", Key: "key-first", Models: []string{"sim-1"}})
	w.slowTLS = w.closesLate(t)
	w.proxy = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w.proxied.Add(1)
		http.Error(rw, "no", http.StatusBadGateway)
	}))
	t.Cleanup(w.proxy.Close)
	w.key = ed25519.NewKeyFromSeed([]byte("a seed of thirty-two bytes, here"))
	w.issuer = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(rw, `{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"k","x":%q}]}`, base64.RawURLEncoding.EncodeToString(w.public()))
	}))
	t.Cleanup(w.issuer.Close)
	w.visits = make(chan string, 100)
	w.probed = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is no JSON has no members
		if r.URL.Path != "/token" {
			w.visits <- r.URL.Path + " project=" + gjson.GetBytes(body, "project").String()
			http.NotFound(rw, r)
			return
		}
		w.visits <- fmt.Sprintf("/token client_id=%s client_secret=%s", gjson.GetBytes(body, "client_id"), gjson.GetBytes(body, "client_secret"))
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprint(rw, `{"access_token":"key-slow","refresh_token":"next"}`)
	}))
	t.Cleanup(w.probed.Close)
	w.keys = make(chan string, 100)
	w.agent = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.keys <- r.Header.Get("Authorization")
		http.Error(rw, `{"error":{"message":"Too many concurrent runs","type":"rate_limit_error","code":"rate_limit_exceeded"}}`, http.StatusTooManyRequests)
	}))
	t.Cleanup(w.agent.Close)
	w.redis = miniredis.RunT(t)
	for i := range w.free {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w.free[i] = l.Addr().String()
		defer l.Close() // both at once, or they would be one
	}
	return w
}

// asked is the rest of the first visit to a path.
func (w *proofWorld) asked(ctx context.Context, path string) string {
	enough := time.NewTimer(5 * time.Second)
	defer enough.Stop()
	for {
		select {
		case visit := <-w.visits:
			if rest, ok := strings.CutPrefix(visit, path+" "); ok {
				return rest
			}
		case <-enough.C:
			return "nobody came"
		case <-ctx.Done():
			return "the test has ended"
		}
	}
}

// visited tells whether a path that begins so is asked for, now or within the time in which every account is looked at.
func (w *proofWorld) visited(ctx context.Context, prefix string) string {
	enough := time.NewTimer(time.Second)
	defer enough.Stop()
	for {
		select {
		case path := <-w.visits:
			if strings.HasPrefix(path, prefix) {
				return "looked at"
			}
		case <-enough.C:
			return "left alone"
		case <-ctx.Done():
			return "the test has ended"
		}
	}
}

func provider(t *testing.T, accounts ...simulator.Account) (*simulator.Provider, string) {
	t.Helper()
	sim := simulator.New(accounts...)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return sim, base
}

// closesLate takes connections and hangs up after a while without a word.
func (w *proofWorld) closesLate(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			time.AfterFunc(slowness, func() { conn.Close() })
		}
	}()
	return "https://" + l.Addr().String()
}

func (w *proofWorld) public() []byte { return w.key.Public().(ed25519.PublicKey) }

// file is the proofs' file with the edits made. Of two for one text that of to holds, which may also change what from has
// put there.
func (w *proofWorld) file(dir string, from, to edits) string {
	text := replace(append(slices.Clone(to), from...)...)(proofFile)
	text = replace(to...)(text)
	return strings.NewReplacer(
		"DIR", dir, "BASE", w.base, "ANOTHER", w.another, "SLOWTLS", w.slowTLS, "PROXY", w.proxy.URL, "ISSUER", w.issuer.URL,
		"PROBED", w.probed.URL, "AGENT", w.agent.URL, "REDIS", w.redis.Addr(), "FREE1", w.free[0], "FREE2", w.free[1],
	).Replace(text)
}

// pem is the identity provider's public key as a file.
func (w *proofWorld) pem(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(w.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// token is signed by the identity provider.
func (w *proofWorld) token(t *testing.T) string {
	t.Helper()
	now := time.Now()
	made := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"aud": "hermes-hub", "scope": "viewer", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()})
	made.Header["kid"] = "k"
	signed, err := made.SignedString(w.key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
