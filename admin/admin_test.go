package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/golang-jwt/jwt/v5"
	"github.com/prometheus/client_golang/prometheus"

	"hermes-hub/router"
)

// explainerFunc is an Explainer in one function.
type explainerFunc func(ExplainQuery) (router.Explanation, error)

func (f explainerFunc) Explain(_ context.Context, q ExplainQuery) (router.Explanation, error) {
	return f(q)
}

// plane is an admin plane under test with its log.
type plane struct {
	*Admin
	log *journal
}

// journal collects log lines from several goroutines.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.text.Reset()
}

// newPlane makes a plane on loopback; change turns its options first.
func newPlane(t testing.TB, change func(*Options)) plane {
	t.Helper()
	log := new(journal)
	reg := prometheus.NewRegistry()
	up := prometheus.NewGauge(prometheus.GaugeOpts{Name: "hermes_hub_test", Help: "A gauge."})
	reg.MustRegister(up)
	o := Options{
		Config: hmacConfig(), Registry: reg, Logger: slog.New(slog.NewTextHandler(log, nil)), Now: clock,
		Version:   VersionInfo{Version: "v1.2.3", Commit: "abc", GoVersion: "go1.26"},
		Explainer: explainerFunc(func(ExplainQuery) (router.Explanation, error) { return router.Explanation{}, nil }),
	}
	if change != nil {
		change(&o)
	}
	if o.Verifier == nil {
		o.Verifier = newVerifier(t, o.Config)
	}
	return plane{New(o), log}
}

func mint(t testing.TB, scope Scope) string {
	t.Helper()
	token, err := Mint(router.NewSecret(testSecret), "hermes-hub", "hub", "ops", scope, time.Hour, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// do sends a request; headers are "Name: value".
func (p plane) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:7401"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	return w
}

// answer is a response as text: status, kind of problem if it is one, else the body.
func answer(w *httptest.ResponseRecorder) string {
	if w.Header().Get("Content-Type") == "application/problem+json" {
		var p problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code || p.Title != http.StatusText(w.Code) || p.Instance != w.Header().Get(requestIDHeader) || p.Instance == "" {
			return fmt.Sprintf("not a problem: %d %s (%v)", w.Code, w.Body, err)
		}
		return fmt.Sprintf("%d %s: %s", w.Code, strings.TrimPrefix(p.Type, "urn:hermes-hub:problem:"), p.Detail)
	}
	return fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
}

// A01, and the meta-lesson of the security rows: a sibling path that skips the check. Whatever route the engine has, it
// answers 401 without a token, unless it is listed here.
func TestEveryRouteAsksForAToken(t *testing.T) {
	public := map[string]bool{"/healthz": true, "/readyz": true}
	p := newShow(t, func(o *Options) { o.Config.Listen = "0.0.0.0:7401" })
	p.engine.GET("/admin/v1/forgotten", func(c *gin.Context) { c.String(http.StatusOK, "open") }) // not in the table
	if routes := p.engine.Routes(); len(routes) < 10 {
		t.Fatalf("only %d routes are walked", len(routes))
	}
	for _, route := range p.engine.Routes() {
		w := p.do(route.Method, strings.ReplaceAll(route.Path, ":", ""), "")
		if w.Code == http.StatusUnauthorized == public[route.Path] {
			t.Errorf("%s %s without a token: %d", route.Method, route.Path, w.Code)
		}
	}
	if w := p.do("GET", "/admin/v1/forgotten", "", "Authorization: Bearer "+mint(t, ScopeViewer)); w.Code != http.StatusForbidden {
		t.Errorf("a route outside the table is open to viewers: %d", w.Code)
	}
}

// A01: every bad token gets one and the same answer; the log alone says why. A wrong scope is 403, health is open.
func TestAuthorization(t *testing.T) {
	p := newPlane(t, nil)
	const unauthorized = "401 unauthorized: A valid bearer token is needed; `hermes-hub token` prints one."
	f := func(authorization []string, want, logged string) {
		t.Helper()
		p.log.Reset()
		w := p.do("GET", "/admin/v1/version", "", authorization...)
		if got := answer(w); got != want {
			t.Errorf("%q: got %s, want %s", authorization, got, want)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (w.Code == http.StatusUnauthorized) {
			t.Errorf("%q: WWW-Authenticate is %q", authorization, challenge)
		}
		if !strings.Contains(p.log.String(), logged) {
			t.Errorf("%q: want %q in the log, got %s", authorization, logged, p.log)
		}
	}
	token := func(with jwt.MapClaims) []string {
		return []string{"Authorization: Bearer " + sign(t, jwt.SigningMethodHS256, []byte(testSecret), goodClaims(with))}
	}
	good := token(nil)
	const version = `200 {"version":"v1.2.3","commit":"abc","go_version":"go1.26"}`
	f(good, version, "")
	f([]string{strings.Replace(good[0], "Bearer", "bearer", 1)}, version, "")
	f(token(jwt.MapClaims{"scope": "viewer"}), version, "")
	f(nil, unauthorized, "no valid token")
	f([]string{"Authorization: Bearer"}, unauthorized, "no valid token")
	f([]string{"Authorization: Bearer junk"}, unauthorized, "token is malformed")
	f([]string{strings.Replace(good[0], "Bearer", "Basic", 1)}, unauthorized, "no valid token")
	f([]string{good[0], good[0]}, unauthorized, "no valid token")
	f(token(jwt.MapClaims{"exp": testNow.Add(-time.Hour).Unix()}), unauthorized, "token is expired")
	f(token(jwt.MapClaims{"aud": "another"}), unauthorized, "invalid audience")
	f([]string{"Authorization: Bearer " + sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, goodClaims(nil))}, unauthorized, "signing method none is invalid")
	f([]string{"Authorization: Bearer " + strings.Repeat("x", 5000)}, unauthorized, "longer than 4096 bytes")
	f([]string{"Cookie: token=" + strings.TrimPrefix(good[0], "Authorization: Bearer ")}, unauthorized, "no valid token")
	f(token(jwt.MapClaims{"scope": "other"}), "403 forbidden: The token needs scope admin or viewer.", "")
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := p.do("GET", path, "", "Authorization: Bearer junk"); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// Without a verifier the plane is closed, not open.
func TestNoVerifierIsClosed(t *testing.T) {
	p := newPlane(t, nil)
	p.verifier = nil
	if got := answer(p.do("GET", "/admin/v1/version", "", "Authorization: Bearer "+mint(t, ScopeAdmin))); !strings.HasPrefix(got, "401 ") {
		t.Errorf("got %s", got)
	}
}

func TestPaths(t *testing.T) {
	p := newPlane(t, nil)
	authorization := "Authorization: Bearer " + mint(t, ScopeViewer)
	f := func(method, path, want, allow string, headers ...string) {
		t.Helper()
		w := p.do(method, path, "", headers...)
		if got := answer(w); got != want {
			t.Errorf("%s %s: got %s, want %s", method, path, got, want)
		}
		if got := w.Header().Get("Allow"); got != allow {
			t.Errorf("%s %s: got Allow %q, want %q", method, path, got, allow)
		}
	}
	const nothing = "404 not-found: There is nothing at this path."
	f("GET", "/", nothing, "")
	f("GET", "/healthz/", nothing, "")
	f("GET", "/admin/v1/nothing", nothing, "", authorization)
	f("GET", "/admin/v1/version/../../../etc/passwd", nothing, "", authorization)
	f("POST", "/healthz", "405 method-not-allowed: POST is not served here; Allow lists what is.", "GET, HEAD")
	f("DELETE", "/admin/v1/explain", "405 method-not-allowed: DELETE is not served here; Allow lists what is.", "POST", authorization)
	f("HEAD", "/healthz", `200 {"status":"ok"}`, "") // over a connection the server leaves the body out
	// What is there under /admin is told to nobody without a token.
	for _, call := range []string{"GET /admin/v1/nothing", "DELETE /admin/v1/explain", "GET /admin/"} {
		method, path, _ := strings.Cut(call, " ")
		if w := p.do(method, path, ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", call, w.Code)
		}
	}
}

func TestHealth(t *testing.T) {
	checks := []Check{{Name: "config", OK: true}, {Name: "store", OK: true, Detail: "degraded"}}
	p := newPlane(t, func(o *Options) { o.Ready = func() []Check { return checks } })
	f := func(path, want string) {
		t.Helper()
		if got := answer(p.do("GET", path, "")); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	f("/healthz", `200 {"status":"ok"}`)
	f("/readyz", `200 {"status":"ready","checks":[{"name":"config","ok":true,"detail":""},{"name":"store","ok":true,"detail":"degraded"}]}`)
	checks = []Check{{Name: "draining", Detail: "stopping"}}
	f("/readyz", `503 {"status":"not_ready","checks":[{"name":"draining","ok":false,"detail":"stopping"}]}`)
	f("/healthz", `200 {"status":"ok"}`)
	p.ready = Readiness(nil)
	f("/readyz", `200 {"status":"ready","checks":[]}`)
}

// The contract: /metrics is open on loopback, else it asks for the metrics token or any JWT.
func TestMetricsAccess(t *testing.T) {
	f := func(listen, token, authorization string, want int) {
		t.Helper()
		p := newPlane(t, func(o *Options) { o.Config.Listen, o.Config.MetricsToken = listen, router.NewSecret(token) })
		w := p.do("GET", "/metrics", "", "Authorization: "+authorization)
		if w.Code != want || (want == http.StatusOK) != strings.Contains(w.Body.String(), "hermes_hub_test 0") {
			t.Errorf("listen %s, token %q, %q: got %s, want %d", listen, token, authorization, answer(w), want)
		}
	}
	f("127.0.0.1:7401", "", "", 200)
	f("localhost:7401", "", "", 200)
	f("[::1]:7401", "scrape", "Bearer junk", 200)
	f("0.0.0.0:7401", "scrape", "Bearer scrape", 200)
	f("0.0.0.0:7401", "scrape", "Bearer "+mint(t, ScopeViewer), 200)
	f("0.0.0.0:7401", "", "Bearer "+mint(t, ScopeAdmin), 200)
	f("0.0.0.0:7401", "scrape", "Bearer scrap", 401)
	f("0.0.0.0:7401", "", "Bearer ", 401)
	f("0.0.0.0:7401", "", "", 401)
	f(":7401", "scrape", "", 401)
	f("hub.lan:7401", "scrape", "scrape", 401)
}

func TestMetricsSpeaksOpenMetrics(t *testing.T) {
	w := newPlane(t, nil).do("GET", "/metrics", "", "Accept: application/openmetrics-text; version=1.0.0")
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/openmetrics-text") || !strings.HasSuffix(w.Body.String(), "# EOF\n") {
		t.Errorf("got %s:\n%s", w.Header().Get("Content-Type"), w.Body)
	}
}

// Measured with gin's own recovery: it swallowed http.ErrAbortHandler, so that a cut answer looked whole, and it printed
// the request's headers. Ours lets the cut through, and prints none.
func TestPanics(t *testing.T) {
	p := newPlane(t, nil)
	panicking := map[string]func(http.ResponseWriter, *http.Request) error{
		"/before": func(http.ResponseWriter, *http.Request) error { panic("a bug") },
		"/after": func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(errors.New("a bug"))
		},
		"/abort": func(w http.ResponseWriter, _ *http.Request) error {
			_, _ = io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(fmt.Errorf("relay: %w", http.ErrAbortHandler))
		},
		"/error": func(http.ResponseWriter, *http.Request) error { return errors.New("store: disk full") },
	}
	for path, h := range panicking {
		p.handle(route{http.MethodGet, path, needNothing, h})
	}
	server := httptest.NewServer(p.Handler())
	defer server.Close()
	f := func(path, want string, logged bool) {
		t.Helper()
		p.log.Reset()
		r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", "canary-of-a-header")
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		var doc problem
		_ = json.Unmarshal(body, &doc)
		if got := fmt.Sprintf("%d %s, %v", resp.StatusCode, doc.Type+doc.Detail, err); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
		if log := p.log.String(); strings.Contains(log, "canary") || logged != strings.Contains(log, "level=ERROR") {
			t.Errorf("%s: log %s", path, log)
		}
		if strings.Contains(string(body), "bug") || strings.Contains(string(body), "disk") {
			t.Errorf("%s: the reason went to the client: %s", path, body)
		}
	}
	const internal = "500 urn:hermes-hub:problem:internalThe hub failed"
	f("/before", internal, true)
	f("/error", internal, true)
	f("/after", "200 , unexpected EOF", true)
	f("/abort", "200 , unexpected EOF", false)
}
