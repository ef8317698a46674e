package credential

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// claudeHome is a folder as Claude Code has it, inside another.
func claudeHome(t *testing.T, content string) (file string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".claude")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(home, ".credentials.json")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// While the hub refreshes Claude Code's file it holds the locks that Claude Code heeds, and gives them back.
func TestClaudeCodesLocks(t *testing.T) {
	file := claudeHome(t, claudeTokens("old", "refresh-0", -time.Hour))
	home := filepath.Dir(file)

	held := ""
	e := newEndpoint(t, func(n int, w http.ResponseWriter) {
		held = strings.Join(append(folderOf(t, home), folderOf(t, filepath.Dir(home))...), " ")
		grants(n, w)
	})
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL, File: file}, "")
	b.wants("access-1")
	if want := "..credentials.json.hermes-hub.lock .credentials.json .oauth_refresh.lock .claude .claude.lock"; held != want {
		t.Errorf("during the refresh there is\n%s, want\n%s", held, want)
	}
	after := strings.Join(append(folderOf(t, home), folderOf(t, filepath.Dir(home))...), " ")
	if want := "..credentials.json.hermes-hub.lock .credentials.json .claude"; after != want {
		t.Errorf("after it there is\n%s, want\n%s", after, want)
	}
}

// Claude Code is refreshing: the hub waits and takes what Claude Code got.
func TestClaudeCodeRefreshes(t *testing.T) {
	file := claudeHome(t, claudeTokens("old", "refresh-0", -time.Hour))
	lock := filepath.Join(filepath.Dir(file), ".oauth_refresh.lock")
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL, File: file}, "")
	b.file = file
	got := make(chan string)
	go func() {
		c, _ := b.Current(t.Context(), "one")
		got <- c.Token.Reveal()
	}()
	for { // until the hub stands before the lock, which its own one shows
		if _, err := os.Stat(lockName(file)); err == nil {
			break
		}
	}
	b.put(claudeTokens("claude-codes", "refresh-1", time.Hour))
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	if token := <-got; token != "claude-codes" || e.asked() != 0 {
		t.Errorf("Current is %q after %d requests", token, e.asked())
	}
}

// A lock that nobody has touched for a minute is a leftover; one from the future is of a clock that was set back.
func TestStaleLocks(t *testing.T) {
	for _, age := range []time.Duration{2 * time.Minute, -4 * time.Hour} {
		file := claudeHome(t, claudeTokens("old", "refresh-0", -time.Hour))
		lock := filepath.Join(filepath.Dir(file), ".oauth_refresh.lock")
		touched := time.Now().Add(-age)
		if err := errors.Join(os.Mkdir(lock, 0o700), os.Chtimes(lock, touched, touched)); err != nil {
			t.Fatal(err)
		}
		e := newEndpoint(t, grants)
		newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL, File: file}, "").wants("access-1")
	}
	for age, want := range map[time.Duration]bool{0: false, time.Minute: false, 61 * time.Second: true, -61 * time.Second: true} {
		if isStale(start.Add(-age), start) != want {
			t.Errorf("%s old: stale is not %v", age, want)
		}
	}
}

// A lock that is held too long leaves the account AUTH_EXPIRED, and nothing is refreshed without it.
func TestLockIsHeld(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	unlock, err := lockFile(t.Context(), b.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ctx, b.file, nil); !errors.Is(err, errBusy) {
		t.Errorf("a lock that is held: %v", err)
	}
	unlock()
	if err := os.MkdirAll(lockName(b.file), 0o700); err == nil {
		t.Fatal("the lock file has gone: two could hold it")
	}
	b.wants("access-1")
}

// In a folder where no lock can be made nothing is refreshed: what was rotated could not be written back either.
func TestLockCannotBeMade(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	if err := os.Mkdir(lockName(b.file), 0o700); err != nil {
		t.Fatal(err)
	}
	b.lacks(ReasonLocked, AuthExpired)
	b.lacks(ReasonLocked, AuthExpired)
	if got := strings.Count(b.log.String(), "tokens are not refreshed"); got != 1 || e.asked() != 0 {
		t.Errorf("%d lines in the log, %d requests", got, e.asked())
	}
	if err := os.Remove(lockName(b.file)); err != nil {
		t.Fatal(err)
	}
	b.wants("access-1")
}
