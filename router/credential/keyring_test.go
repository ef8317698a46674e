package credential

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCurrentOfFreshTokens(t *testing.T) {
	content := codexTokens("first", "r", time.Hour)
	b := newBench(t, Source{Provider: "openai-codex", Refresh: true, TokenURL: "http://127.0.0.1:1"}, content)
	c := b.wants(accessOf(content))
	if c.AccountID != "acc-1" || c.Kind != OAuth || !c.ExpiresAt.Equal(start.Add(time.Hour)) {
		t.Errorf("credential %+v", c)
	}
	if got := b.content(); got != content {
		t.Errorf("the file has changed:\n%s", got)
	}
}

// TestQ22OneRefreshThenAuth (Q22): an expired token is refreshed once before the call; when the provider refuses the new one
// too, the account needs a sign-in, and nothing is asked again until the file changes.
func TestQ22OneRefreshThenAuth(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	if i := b.Identity("one"); i.State != Authenticated {
		t.Errorf("before the call the account is %s %s: it can be refreshed", i.State, i.Reason)
	}
	b.wants("access-1")
	if _, ok := b.Refused(t.Context(), "one", secret("access-1")); ok {
		t.Error("there is something better than a token refreshed just now")
	}
	b.lacks(ReasonRefused, AuthRequired)
	for range 3 {
		if _, ok := b.Refused(t.Context(), "one", secret("access-1")); ok {
			t.Error("a later refusal finds something")
		}
		b.clock.pass(time.Minute)
	}
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
	if got := b.events(); got != "credential_changed auth_lost" {
		t.Errorf("events %q", got)
	}
	b.put(claudeTokens("signed-in-again", "refresh-x", time.Hour))
	b.wants("signed-in-again")
	if got := b.events(); got != "credential_changed auth_regained" {
		t.Errorf("events %q", got)
	}
}

func TestRefusedRefreshesOnce(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", time.Hour))
	b.wants("old")
	var callers sync.WaitGroup
	for range 20 { // all of them got 401 for the same token
		callers.Go(func() {
			if c, ok := b.Refused(t.Context(), "one", secret("old")); !ok || c.Token.Reveal() != "access-1" {
				t.Errorf("Refused gives %q %v", c.Token.Reveal(), ok)
			}
		})
	}
	callers.Wait()
	if c, ok := b.Refused(t.Context(), "one", secret("of-last-week")); !ok || c.Token.Reveal() != "access-1" {
		t.Errorf("a caller with an older token gets %q %v, want the current one", c.Token.Reveal(), ok)
	}
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
}

// The owner refreshed its file before the hub was refused: the file is read before anything is asked.
func TestRefusedReadsTheFileFirst(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", time.Hour))
	b.put(claudeTokens("owners", "refresh-owner", time.Hour))
	if c, ok := b.Refused(t.Context(), "one", secret("old")); !ok || c.Token.Reveal() != "owners" {
		t.Errorf("Refused gives %q %v", c.Token.Reveal(), ok)
	}
	if e.asked() != 0 {
		t.Error("the endpoint was asked")
	}
}

// Fifty calls at the moment of expiry: one refresh.
func TestExpiryStampede(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", 59*time.Second))
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			if c, err := b.Current(t.Context(), "one"); err != nil || c.Token.Reveal() != "access-1" {
				t.Errorf("Current gives %q, %v", c.Token.Reveal(), err)
			}
		})
	}
	callers.Wait()
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
}

// Two hubs on one file (reliability, "refresh token rotated by another instance"): whoever comes second finds the file
// renewed and asks nothing; the used-up refresh token is never sent.
func TestTwoHubsOneFile(t *testing.T) {
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		if n > 1 {
			replies(401, `{"error":{"code":"refresh_token_reused"}}`)(n, w)
			return
		}
		grants(n, w)
	})
	src := Source{Profile: "one", Provider: "claude", Refresh: true, TokenURL: e.URL}
	b := newBench(t, src, claudeTokens("old", "refresh-0", -time.Hour))
	src.File = b.file
	other := b.another()
	if err := other.Configure([]Source{src}); err != nil {
		t.Fatal(err)
	}
	var hubs sync.WaitGroup
	for _, k := range []*Keyring{b.Keyring, other} {
		for range 10 {
			hubs.Go(func() {
				if c, err := k.Current(t.Context(), "one"); err != nil || c.Token.Reveal() != "access-1" {
					t.Errorf("Current gives %q, %v", c.Token.Reveal(), err)
				}
			})
		}
	}
	hubs.Wait()
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
}

// A program that heeds no lock rotated the token while the hub's request was under way: the refusal is no news, the file is.
func TestReusedTokenIsReadAgain(t *testing.T) {
	var b *bench
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		b.put(claudeTokens("owners", "refresh-owner", time.Hour))
		replies(400, `{"error":"invalid_grant"}`)(n, w)
	})
	b = newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.wants("owners")
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
}

// The owner signed in as somebody else while the hub refreshed the old account's token: its file is not written over.
func TestOwnerWritesDuringRefresh(t *testing.T) {
	var b *bench
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		b.put(claudeTokens("owners", "refresh-owner", time.Hour))
		grants(n, w)
	})
	b = newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.wants("owners")
	if got := b.content(); got != claudeTokens("owners", "refresh-owner", time.Hour) {
		t.Errorf("the file is %s", got)
	}
}

// The owner signed out while the hub refreshed: the file does not come back.
func TestOwnerSignsOutDuringRefresh(t *testing.T) {
	var b *bench
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		if err := os.Remove(b.file); err != nil {
			t.Error(err)
		}
		grants(n, w)
	})
	b = newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.lacks(ReasonFileMissing, NotConfigured)
	if _, err := os.Stat(b.file); err == nil {
		t.Error("the file is back")
	}
}

// The owner wrote a newer refresh token whose access token has run out too: that one is tried, once.
func TestReusedTokenIsReplacedByTheFiles(t *testing.T) {
	var b *bench
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		if n == 1 {
			b.put(claudeTokens("owners", "refresh-owner", -time.Minute))
			replies(400, `{"error":"invalid_grant"}`)(n, w)
			return
		}
		grants(n, w)
	})
	b = newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.wants("access-2")
	if want := `"refresh-owner"`; e.asked() != 2 || !strings.Contains(e.bodies[1], want) {
		t.Errorf("requests %q", e.bodies)
	}
}

func TestDeadRefreshToken(t *testing.T) {
	f := func(status int, body string) {
		t.Helper()
		e := newEndpoint(t, replies(status, body))
		b := newBench(t, Source{Provider: "openai-codex", Refresh: true, TokenURL: e.URL}, codexTokens("old", "refresh-0", -time.Hour))
		p := b.lacks(ReasonRefreshDead, AuthRequired)
		if !strings.Contains(p.Error(), b.file) || !strings.Contains(p.Error(), "codex login") {
			t.Errorf("problem %q names neither file nor mend", p)
		}
		for range 3 {
			b.clock.pass(time.Hour)
			b.lacks(ReasonRefreshDead, AuthRequired)
		}
		if e.asked() != 1 {
			t.Errorf("%d %s: the endpoint was asked %d times, want once", status, body, e.asked())
		}
		again := codexTokens("again", "refresh-9", 99*time.Hour)
		b.put(again)
		b.wants(accessOf(again))
	}
	f(401, `{"error":{"message":"used already","code":"refresh_token_reused"}}`)
	f(400, `{"error":{"code":"refresh_token_expired"}}`)
	f(400, `{"error":"invalid_grant","error_description":"revoked"}`)
	f(401, `{"error":{"message":"anything"}}`)
	f(400, `{"error":"invalid_client"}`)
	f(404, `{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}`)
}

// A token endpoint in trouble says nothing about the account: the token that is still good is used, then the account is
// AUTH_EXPIRED until a later try, with longer and longer waits.
func TestEndpointInTrouble(t *testing.T) {
	f := func(name string, answer func(int, http.ResponseWriter)) {
		t.Helper()
		e := newEndpoint(t, answer)
		b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", 30*time.Second))
		b.wants("old") // half a minute is left
		b.clock.pass(31 * time.Second)
		b.lacks(ReasonRefreshFailed, AuthExpired)
		asked := e.asked()
		if asked != 2 {
			t.Errorf("%s: the endpoint was asked %d times, want 2", name, asked)
		}
		for range 10 {
			b.lacks(ReasonRefreshFailed, AuthExpired)
		}
		if e.asked() != asked {
			t.Errorf("%s: the endpoint was hammered", name)
		}
		e.then(grants)
		b.clock.pass(longestWait + time.Second)
		b.wants(fmt.Sprintf("access-%d", asked+1))
	}
	f("down", replies(503, `{"error":"invalid_grant"}`)) // a gateway that repeats what it heard is still in trouble
	f("busy", replies(429, `{"error":{"code":"refresh_token_reused"}}`))
	f("blocked", replies(403, `<html>Just a moment...</html>`))
	f("empty", replies(200, `{}`))
	f("html", replies(200, `<html>`))
	elsewhere := newEndpoint(t, grants)
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
		f("redirect", func(_ int, w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(status)
		})
	}
	f("cut short", func(_ int, w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"access_token":"x`))
		panic(http.ErrAbortHandler)
	})
}

func TestNextTry(t *testing.T) {
	var waits []string
	for failures := range 9 {
		waits = append(waits, nextTry(failures+1, 0, start).Sub(start).String())
	}
	want := []string{"5s", "10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s", "5m0s"}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Error(diff)
	}
	if got := nextTry(100, retryAfter("999999"), start).Sub(start); got != time.Hour {
		t.Errorf("asked for too much it is %s", got)
	}
}

// With refresh off a token that has run out is looked for in the file and nowhere else.
func TestRefreshOff(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: false, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.lacks(ReasonExpired, AuthExpired)
	b.put(claudeTokens("owners", "r", time.Hour))
	b.wants("owners")
	if _, ok := b.Refused(t.Context(), "one", secret("owners")); ok {
		t.Error("refused, there is something better")
	}
	b.lacks(ReasonRefused, AuthRequired)
	if e.asked() != 0 {
		t.Error("the endpoint was asked")
	}
	if got := b.content(); got != claudeTokens("owners", "r", time.Hour) {
		t.Errorf("the file was written: %s", got)
	}
}

// An endpoint that does not say how long its token is good: the old token's expiry is not taken for the new one's, with a
// refresh at every call.
func TestExpiryNotSaid(t *testing.T) {
	e := newEndpoint(t, replies(200, `{"access_token":"new","refresh_token":"r2"}`))
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "r1", -time.Hour))
	for range 3 {
		if c := b.wants("new"); !c.ExpiresAt.IsZero() {
			t.Errorf("it runs out at %s", c.ExpiresAt)
		}
		b.look()
	}
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
}

// Tokens that are due as soon as they are given, since they are short-lived or the clock is wrong, are no reason to ask at
// every call.
func TestShortLivedTokens(t *testing.T) {
	e := newEndpoint(t, replies(200, `{"access_token":"new","refresh_token":"r2","expires_in":40}`))
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "r1", -time.Hour))
	for range 3 {
		b.wants("new")
	}
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times, want once", e.asked())
	}
	b.clock.pass(41 * time.Second)
	b.wants("new")
	if e.asked() != 2 {
		t.Errorf("the endpoint was asked %d times, want twice", e.asked())
	}
}

// A caller that goes away takes neither the refresh nor its token with it.
func TestCallersLeave(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		close(arrived)
		<-goOn
		grants(n, w)
	})
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := b.Current(ctx, "one"); left <- err }()
	<-arrived
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	close(goOn)
	b.wants("access-1")
	if e.asked() != 1 {
		t.Errorf("the endpoint was asked %d times", e.asked())
	}
}

// Run waits for a refresh under way, and none starts after it.
func TestRunWaitsForRefreshes(t *testing.T) {
	arrived, goOn := make(chan struct{}), make(chan struct{})
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		close(arrived)
		<-goOn
		grants(n, w)
	})
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- b.Run(ctx) }()
	var caller sync.WaitGroup
	caller.Go(func() { _, _ = b.Current(t.Context(), "one") })
	<-arrived
	cancel()
	close(goOn)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if !strings.Contains(b.content(), "refresh-1") {
		t.Error("Run ended before the new tokens were in their file")
	}
	caller.Wait()
	b.clock.pass(2 * time.Hour)
	if _, err := b.Current(t.Context(), "one"); err == nil || e.asked() != 1 {
		t.Errorf("after Run: %v, %d requests", err, e.asked())
	}
}

func TestSharedFile(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	src := func(id string, refresh bool) Source {
		return Source{Profile: id, Provider: "claude", Refresh: refresh, TokenURL: e.URL, File: b.file}
	}
	if err := b.Configure([]Source{src("one", true), src("two", true), src("reader", false)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Current(t.Context(), "reader"); err == nil {
		t.Error("the account that may not refresh got a token that has run out")
	}
	for _, id := range []string{"one", "two", "reader"} {
		if c, err := b.Current(t.Context(), id); err != nil || c.Token.Reveal() != "access-1" {
			t.Errorf("%s gets %q, %v", id, c.Token.Reveal(), err)
		}
	}
	if e.asked() != 1 || len(b.files()) != 1 {
		t.Errorf("%d requests, %d stores", e.asked(), len(b.files()))
	}
}

func TestConfigure(t *testing.T) {
	f := func(want string, sources ...Source) {
		t.Helper()
		err := New(Options{}).Configure(sources)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("<nil>")
	f("configure credentials: an account has no profile id", Source{})
	f("configure credentials: a: oauth_file auth.json is not absolute", Source{Profile: "a", File: "auth.json"})

	e := newEndpoint(t, replies(400, `{"error":"invalid_grant"}`))
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.lacks(ReasonRefreshDead, AuthRequired)
	same := Source{Profile: "one", Provider: "claude", Refresh: true, TokenURL: e.URL, File: b.file}
	if err := b.Configure([]Source{same, {Profile: "key", Static: secret("sk-1")}}); err != nil {
		t.Fatal(err)
	}
	b.lacks(ReasonRefreshDead, AuthRequired)
	if e.asked() != 1 {
		t.Error("a reload forgot that the refresh token is dead")
	}
	if c, err := b.Current(t.Context(), "key"); err != nil || c.Token.Reveal() != "sk-1" || c.Kind != APIKey {
		t.Errorf("key: %+v, %v", c, err)
	}
	if _, ok := b.Refused(t.Context(), "key", secret("sk-1")); ok {
		t.Error("there is something better than a refused key")
	}
	if err := b.Recheck(t.Context(), "one"); err == nil || e.asked() != 2 {
		t.Errorf("Recheck: %v after %d requests", err, e.asked())
	}
	if err := b.Configure(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Current(t.Context(), "one"); err == nil || b.Identity("one").State != NotConfigured {
		t.Error("an account that was taken away is still there")
	}
}

func TestStaticTokens(t *testing.T) {
	b := newBench(t, Source{Static: secret(webToken(map[string]any{"exp": start.Add(time.Minute).Unix(), "email": "a@b.c"}))}, "")
	c, err := b.Current(t.Context(), "one")
	if err != nil || c.Kind != OAuth || b.Identity("one").Email != "a@b.c" {
		t.Errorf("%+v, %v", c, err)
	}
	b.clock.pass(time.Minute)
	b.lacks(ReasonExpired, AuthRequired)
	b = newBench(t, Source{Static: secret("x"), File: "/nonexistent"}, "")
	b.wants("x") // the configuration's key comes before the file
	if err := b.Configure([]Source{{Profile: "one"}}); err != nil {
		t.Fatal(err)
	}
	b.lacks(ReasonNone, NotConfigured)
}

func BenchmarkCurrent(b *testing.B) {
	k := newBench(b, Source{Provider: "claude", Refresh: true}, claudeTokens("tok", "refresh-0", time.Hour))
	ctx := b.Context()
	if n := testing.AllocsPerRun(100, func() { _, _ = k.Current(ctx, "one") }); n != 0 {
		b.Fatalf("%v allocations", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Current(ctx, "one"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCurrentAllocates nothing: it is on the way of every call.
func TestCurrentAllocates(t *testing.T) {
	b := newBench(t, Source{Provider: "claude", Refresh: true}, claudeTokens("tok", "refresh-0", time.Hour))
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { _, _ = b.Current(ctx, "one") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
