package credential

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// running starts Run and ends it with the test.
func (b *bench) running() {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error)
	go func() { ended <- b.Run(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	})
}

// until waits for what OnChange hears next.
func (b *bench) until(want string) {
	b.t.Helper()
	select {
	case got := <-b.changes:
		if got != want {
			b.t.Fatalf("heard %s, want %s", got, want)
		}
	case <-time.After(20 * time.Second):
		b.t.Fatalf("heard nothing, want %s; the log:\n%s", want, b.log)
	}
}

// The owner signs in anew, in each of the ways in which files are written: the account is called with the new token without
// being asked first.
func TestWatch(t *testing.T) {
	b := newBench(t, Source{Provider: "claude"}, claudeTokens("first", "r", time.Hour))
	b.put(claudeTokens("before the watch", "r", time.Hour))
	b.running()
	b.until("credential_changed")
	b.put(claudeTokens("renamed", "r", time.Hour))
	b.until("credential_changed")
	if err := os.WriteFile(b.file, []byte(claudeTokens("in place", "r", time.Hour)), 0o600); err != nil {
		t.Fatal(err)
	}
	b.until("credential_changed")
	b.wants("in place")
	if err := os.Remove(b.file); err != nil {
		t.Fatal(err)
	}
	b.until("identity_changed")
	b.until("auth_lost")
	b.put(claudeTokens("again", "r", time.Hour))
	b.until("identity_changed")
	b.until("credential_changed")
	b.until("auth_regained")
}

// The file is a link: its owner replaces what the link leads to, in a folder of its own.
func TestWatchWhereLinksLead(t *testing.T) {
	b := newBench(t, Source{Static: secret("k")}, claudeTokens("first", "r", time.Hour))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(b.file, link); err != nil {
		t.Fatal(err)
	}
	if err := b.Configure([]Source{{Profile: "one", Provider: "claude", File: link}}); err != nil {
		t.Fatal(err)
	}
	b.until("identity_changed")
	b.until("credential_changed")
	b.running()
	b.put(claudeTokens("second", "r", time.Hour))
	b.until("credential_changed")
	b.wants("second")
}

// Kubernetes turns a link in the folder over to another folder.
func TestWatchThroughLinks(t *testing.T) {
	folder := t.TempDir()
	lay := func(name, token string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name, "key"), []byte(claudeTokens(token, "r", time.Hour)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, filepath.Join(folder, "next")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(folder, "next"), filepath.Join(folder, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	lay("v1", "first")
	if err := os.Symlink(filepath.Join("..data", "key"), filepath.Join(folder, "key")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, Source{Provider: "claude", File: filepath.Join(folder, "key")}, "")
	b.wants("first")
	lay("v2", "second")
	b.running()
	b.until("credential_changed") // from here on it is the watch that tells
	lay("v3", "third")
	b.until("credential_changed")
	b.wants("third")
}

// TestS19NoLoop (S19): what the hub writes itself is no news to it. The owner's write after it is the next thing heard.
func TestS19NoLoop(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.running()
	b.wants("access-1")
	b.until("credential_changed")
	b.put(strings.Replace(b.content(), `"max"`, `"pro"`, 1))
	b.until("identity_changed")
	if e.asked() != 1 || b.Identity("one").PlanCode != "PRO" {
		t.Errorf("%d requests, %+v", e.asked(), b.Identity("one"))
	}
}

// A credential set over the admin API comes before those of the configuration, and goes again.
func TestCredentialsOfTheDataFolder(t *testing.T) {
	b := newBench(t, Source{Static: secret("of-the-configuration")}, "")
	dir := filepath.Join(t.TempDir(), "credentials") // made later
	b.Keyring = New(b.options(dir))
	if err := b.Configure([]Source{{Profile: "one", Provider: "claude", Static: secret("of-the-configuration")}, {Profile: "../one", Static: secret("k")}}); err != nil {
		t.Fatal(err)
	}
	b.wants("of-the-configuration")
	if b.log.String() != "" {
		t.Errorf("no credential was set, and the log says %s", b.log)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b.running()
	b.file = filepath.Join(dir, "one")
	b.put(`{"neither": "nor"}`) // it comes first all the same: no call is made with another credential by accident
	b.until("auth_lost")
	b.lacks(ReasonFileShape, NotConfigured)
	b.put("sk-set-over-the-api\n")
	b.until("credential_changed")
	b.until("auth_regained")
	if c := b.wants("sk-set-over-the-api"); c.Kind != APIKey {
		t.Errorf("%+v", c)
	}
	if _, ok := b.Refused(t.Context(), "one", secret("sk-set-over-the-api")); ok {
		t.Error("there is something better than a refused key")
	}
	b.put(claudeTokens("oauth", "r", time.Hour))
	b.until("identity_changed")
	b.until("credential_changed")
	if c := b.wants("oauth"); c.Kind != OAuth {
		t.Errorf("%+v", c)
	}
	b.put(`{"neither": "nor"}`)
	b.clock.pass(2 * time.Hour)
	b.lacks(ReasonFileShape, NotConfigured)
	b.until("auth_lost")
	if err := os.Remove(b.file); err != nil {
		t.Fatal(err)
	}
	b.until("identity_changed")
	b.until("credential_changed")
	b.until("auth_regained")
	b.wants("of-the-configuration")
}

// A token endpoint that was away for a moment left its account out until somebody wrote the file: an account without a
// credential is not called, and nobody else asked the endpoint again (Q22).
func TestRetryByItself(t *testing.T) {
	e := newEndpoint(t, replies(503, `{}`))
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	b.lacks(ReasonRefreshFailed, AuthExpired)
	b.until("auth_lost")
	e.then(grants)
	b.retry(t.Context())
	if n := e.asked(); n != 1 {
		t.Errorf("the endpoint was asked %d times before its time", n)
	}
	b.clock.pass(firstWait)
	b.retry(t.Context())
	b.until("credential_changed")
	b.until("auth_regained")
	b.wants("access-2")
}

// What only the owner can mend is not asked for again, nor what the owner keeps to himself.
func TestNoRetry(t *testing.T) {
	for name, src := range map[string]Source{
		"a dead refresh token": {Provider: "claude", Refresh: true},
		"refresh is off":       {Provider: "claude"},
	} {
		e := newEndpoint(t, replies(400, `{"error":"invalid_grant"}`))
		src.TokenURL = e.URL
		b := newBench(t, src, claudeTokens("old", "refresh-0", -time.Hour))
		if _, err := b.Current(t.Context(), "one"); err == nil {
			t.Errorf("%s: there is a credential", name)
		}
		n := e.asked()
		b.clock.pass(longestWait)
		b.retry(t.Context())
		b.look()
		if e.asked() != n {
			t.Errorf("%s: the endpoint is asked again", name)
		}
	}
}
