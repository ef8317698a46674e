package credential

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes-hub/router"
)

// start is when the tests' clocks begin.
var start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// stopwatch is a clock that tests move.
type stopwatch struct{ offset atomic.Int64 }

func (c *stopwatch) now() time.Time       { return start.Add(time.Duration(c.offset.Load())) }
func (c *stopwatch) pass(d time.Duration) { c.offset.Add(int64(d)) }

// webToken makes a JSON Web Token nobody has signed.
func webToken(claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + part(payload) + "." + part([]byte("nobody"))
}

// codexTokens is an auth.json whose access token is named and good for the time given.
func codexTokens(name, refresh string, left time.Duration) string {
	access := webToken(map[string]any{"exp": start.Add(left).Unix(), "jti": name})
	id := webToken(map[string]any{
		"email": "ada@example.org", "sub": "user-1", "aud": []string{"app_of_test"},
		openAIAuth: map[string]any{"chatgpt_account_id": "acc-1", "chatgpt_plan_type": "plus"},
	})
	return fmt.Sprintf(`{
  "OPENAI_API_KEY": null,
  "tokens": {
    "id_token": %q,
    "access_token": %q,
    "refresh_token": %q,
    "account_id": "acc-1",
    "unknown": [1, 2.50]
  },
  "last_refresh": "2026-11-20T00:00:00Z", "other": {"b": 1,  "a": null}
}
`, id, access, refresh)
}

func claudeTokens(access, refresh string, left time.Duration) string {
	return fmt.Sprintf(`{"claudeAiOauth":{"accessToken":%q,"refreshToken":%q,"expiresAt":%d,"scopes":["user:inference"],"subscriptionType":"max","rateLimitTier":"x20"},"mcpOAuth":{"a":1}}`,
		access, refresh, start.Add(left).UnixMilli())
}

func googleTokens(access, refresh string, left time.Duration) string {
	return fmt.Sprintf(`{"access_token":%q,"refresh_token":%q,"expiry_date":%d.5,"token_type":"Bearer","client_id":"cid","client_secret":"GoogleCanarySecret"}`,
		access, refresh, start.Add(left).UnixMilli())
}

// endpointFake is a token endpoint. answer makes the reply to the n-th request, counted from 1.
type endpointFake struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	agents []string
	answer func(n int, w http.ResponseWriter)
}

func newEndpoint(t *testing.T, answer func(n int, w http.ResponseWriter)) *endpointFake {
	t.Helper()
	e := &endpointFake{answer: answer}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("token request %s: %v", r.Method, err)
		}
		e.mu.Lock()
		e.bodies, e.agents = append(e.bodies, string(body)), append(e.agents, r.UserAgent())
		n, answer := len(e.bodies), e.answer
		e.mu.Unlock()
		answer(n, w)
	}))
	t.Cleanup(e.Close)
	return e
}

// asked is how often the endpoint was.
func (e *endpointFake) asked() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

// then answers differently from now on.
func (e *endpointFake) then(answer func(n int, w http.ResponseWriter)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// replies answers with a status and a text, always the same.
func replies(status int, text string) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// grants answers with new tokens: access-1 and refresh-1 to the first request, and so on.
func grants(n int, w http.ResponseWriter) {
	replies(200, fmt.Sprintf(`{"access_token":"access-%d","refresh_token":"refresh-%d","expires_in":3600}`, n, n))(n, w)
}

// bench is a keyring of one account, with everything about it.
type bench struct {
	*Keyring
	t     testing.TB
	clock *stopwatch
	file  string
	log   *safeLog
	mu    sync.Mutex
	heard []string

	changes chan string // the same as heard; filled up it takes no more
}

// safeLog collects the log.
type safeLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newBench puts the content into a file of its own and makes it an account's.
func newBench(t testing.TB, src Source, content string) *bench {
	t.Helper()
	b := &bench{t: t, clock: &stopwatch{}, log: &safeLog{}, changes: make(chan string, 100), file: filepath.Join(t.TempDir(), "tokens.json")}
	if content != "" {
		b.put(content)
	}
	b.Keyring = b.another()
	src.Profile = "one"
	if src.File == "" && src.Static.Empty() {
		src.File = b.file
	}
	if err := b.Configure([]Source{src}); err != nil {
		t.Fatal(err)
	}
	return b
}

// another is a keyring beside the first, as of a second hub.
func (b *bench) another() *Keyring { return New(b.options("")) }

func (b *bench) options(dir string) Options {
	return Options{
		Dir:       dir,
		UserAgent: "hermes-hub/test",
		Now:       b.clock.now,
		Logger:    slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OnChange: func(c Change) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.heard = append(b.heard, string(c.Event))
			select {
			case b.changes <- string(c.Event):
			default:
			}
		},
	}
}

// put replaces the file as a careful owner does.
func (b *bench) put(content string) {
	b.t.Helper()
	temp := b.file + ".new"
	if err := os.WriteFile(temp, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(temp, b.file); err != nil {
		b.t.Fatal(err)
	}
}

// content is the file's.
func (b *bench) content() string {
	b.t.Helper()
	content, err := os.ReadFile(b.file)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(content)
}

// wants fails unless the account is called with that token now.
func (b *bench) wants(token string) Credential {
	b.t.Helper()
	c, err := b.Current(b.t.Context(), "one")
	if err != nil {
		b.t.Fatalf("Current: %v", err)
	}
	if c.Token.Reveal() != token {
		b.t.Fatalf("Current is %q, want %q", c.Token.Reveal(), token)
	}
	return c
}

// lacks fails unless the account has no credential, for that reason.
func (b *bench) lacks(reason Reason, state AuthState) *Problem {
	b.t.Helper()
	c, err := b.Current(b.t.Context(), "one")
	p, ok := err.(*Problem)
	if !ok || p.Reason != reason || p.State != state || p.Profile != "one" {
		b.t.Fatalf("Current is %q, %v (%+v), want %s %s", c.Token.Reveal(), err, p, state, reason)
	}
	if i := b.Identity("one"); i.State != state || i.Reason != reason || i.Detail == "" {
		b.t.Fatalf("identity is %s %s %q, want %s %s", i.State, i.Reason, i.Detail, state, reason)
	}
	return p
}

// events takes what OnChange heard.
func (b *bench) events() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	heard := strings.Join(b.heard, " ")
	b.heard = nil
	return heard
}

// look has the file read again, as the watch does, and waits for it.
func (b *bench) look() {
	b.t.Helper()
	for _, s := range b.files() {
		if _, err := s.better(context.WithoutCancel(b.t.Context()), errand{}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// accessOf is the access token in an auth.json.
func accessOf(content string) string {
	var doc struct {
		Tokens struct {
			Access string `json:"access_token"`
		} `json:"tokens"`
	}
	if err := json.Unmarshal([]byte(content), &doc); err != nil {
		panic(err)
	}
	return doc.Tokens.Access
}

func secret(s string) router.Secret { return router.NewSecret(s) }

// folderOf lists a folder's names, sorted.
func folderOf(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}
