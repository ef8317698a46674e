package credential

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFilesThatCannotBeUsed(t *testing.T) {
	f := func(content, provider string, reason Reason, detail string) {
		t.Helper()
		b := newBench(t, Source{Provider: provider, Refresh: true}, content)
		p := b.lacks(reason, NotConfigured)
		if got := strings.ReplaceAll(p.Detail, b.file, "FILE"); got != detail || p.Mend == "" {
			t.Errorf("detail %q, mend %q; want %q", got, p.Mend, detail)
		}
	}
	f("", "claude", ReasonFileMissing, "FILE is not there")
	f("canary", "claude", ReasonFileShape, "FILE is no JSON, or was cut short")
	f(claudeTokens("canary", "canary", time.Hour)[:40], "claude", ReasonFileShape, "FILE is no JSON, or was cut short")
	f(`[1]`, "claude", ReasonFileShape, "FILE is no JSON object")
	f(`{"claudeAiOauth":{"accessToken":7}}`, "claude", ReasonFileShape, "FILE holds neither an access token nor a refresh token")
	f(`{"tokens":"canary"}`, "openai-codex", ReasonFileShape, "FILE holds neither an access token nor a refresh token")
	f("{\"a\":\""+strings.Repeat("x", 2<<20)+"\"}", "claude", ReasonFileShape, "FILE is larger than 256 KB")
	f(strings.Repeat("[", 200<<10), "claude", ReasonFileShape, "FILE is no JSON, or was cut short")
	f(claudeTokens("a", "r", time.Hour), "openai-codex", ReasonForeign,
		"FILE is Claude Code's .credentials.json, and the account's provider is openai-codex")
	f(codexTokens("a", "r", time.Hour), "antigravity", ReasonForeign,
		"FILE is Codex's auth.json, and the account's provider is antigravity")
}

func TestFilesThatAreNone(t *testing.T) {
	b := newBench(t, Source{Provider: "claude", File: t.TempDir()}, "")
	p := b.lacks(ReasonFileUnread, NotConfigured)
	if !strings.HasSuffix(p.Detail, ": it is no regular file") {
		t.Error(p.Detail)
	}
	if os.Getuid() == 0 {
		return // root reads what it may not
	}
	b = newBench(t, Source{Provider: "claude"}, claudeTokens("a", "r", time.Hour))
	if err := os.Chmod(b.file, 0); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.wants("a") // what was read before is still good
}

// A file that is read while its owner writes it is cut short: what was known before stays until it is whole.
func TestFileCutShort(t *testing.T) {
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: "http://127.0.0.1:1"}, claudeTokens("first", "r", time.Hour))
	second := claudeTokens("second", "r2", time.Hour)
	if err := os.WriteFile(b.file, []byte(second[:len(second)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.wants("first")
	if got := b.events(); got != "" {
		t.Errorf("events %q", got)
	}
	if err := os.WriteFile(b.file, []byte(second), 0o600); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.wants("second")
	if got := b.events(); got != "credential_changed" {
		t.Errorf("events %q", got)
	}
	if err := os.WriteFile(b.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.clock.pass(2 * time.Hour)
	b.lacks(ReasonFileShape, NotConfigured) // nor is a broken file refreshed
}

// Who signs out takes the file away, and with it the credential.
func TestFileTakenAway(t *testing.T) {
	b := newBench(t, Source{Provider: "claude", Refresh: true}, claudeTokens("first", "r", time.Hour))
	if err := os.Remove(b.file); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.lacks(ReasonFileMissing, NotConfigured)
	b.put(claudeTokens("second", "r", time.Hour))
	b.look()
	b.wants("second")
	if got := b.events(); got != "identity_changed auth_lost identity_changed credential_changed auth_regained" {
		t.Errorf("events %q", got)
	}
}

func TestOthersCanRead(t *testing.T) {
	b := newBench(t, Source{Provider: "claude"}, "")
	if err := os.WriteFile(b.file, []byte(claudeTokens("a", "r", time.Hour)), 0o644); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.look()
	if got := strings.Count(b.log.String(), "chmod 600"); got != 1 {
		t.Errorf("the log warns %d times", got)
	}
	b.wants("a")
}

// A token is written where the link leads, with the file's own mode, and nothing is left beside it but the lock.
func TestWriteThroughLink(t *testing.T) {
	e := newEndpoint(t, grants)
	real := filepath.Join(t.TempDir(), "real.json")
	if err := os.WriteFile(real, []byte(claudeTokens("old", "refresh-0", -time.Hour)), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.json")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL, File: link}, "")
	b.wants("access-1")
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if got := fmt.Sprint(folderOf(t, filepath.Dir(real))); got != "[.real.json.hermes-hub.lock real.json]" {
		t.Errorf("the folder holds %s", got)
	}
	other := newBench(t, Source{Provider: "claude", File: real}, "")
	other.wants("access-1")
}

// A token that was got and cannot be written is not lost: it is used, the write is tried again, and the old content of the
// file, which comes by again and again, is not taken for news.
func TestWriteFails(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	blockade := filepath.Join(tempName(b.file), "in-the-way")
	if err := os.MkdirAll(blockade, 0o700); err != nil {
		t.Fatal(err)
	}
	b.wants("access-1")
	b.look()
	b.wants("access-1")
	b.clock.pass(2 * time.Hour) // the refresh token of the memory is used, not the used-up one of the file
	b.wants("access-2")
	if e.asked() != 2 || !strings.Contains(e.bodies[1], `"refresh-1"`) {
		t.Errorf("requests %q", e.bodies)
	}
	// The owner touches something else in its file, which must survive.
	b.put(strings.Replace(claudeTokens("old", "refresh-0", -time.Hour), `{"a":1}`, `{"a":2}`, 1))
	b.look()
	b.wants("access-2")
	if err := os.RemoveAll(tempName(b.file)); err != nil {
		t.Fatal(err)
	}
	b.look()
	want := strings.Replace(claudeTokens("access-2", "refresh-2", 3*time.Hour), `{"a":1}`, `{"a":2}`, 1)
	if got := b.content(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b.look()
	b.wants("access-2")
	if got := b.events(); got != "credential_changed credential_changed" {
		t.Errorf("events %q", got)
	}
	if got := b.log.String(); !strings.Contains(got, "not in their file yet") {
		t.Errorf("the log does not say it:\n%s", got)
	}
}

// Somebody signed in while what was got could not be written: the file is newer.
func TestWriteFailsAndOwnerSignsIn(t *testing.T) {
	e := newEndpoint(t, grants)
	b := newBench(t, Source{Provider: "claude", Refresh: true, TokenURL: e.URL}, claudeTokens("old", "refresh-0", -time.Hour))
	if err := os.MkdirAll(filepath.Join(tempName(b.file), "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.wants("access-1")
	b.put(claudeTokens("owners", "refresh-owner", time.Hour))
	if err := os.RemoveAll(tempName(b.file)); err != nil {
		t.Fatal(err)
	}
	b.look()
	b.wants("owners")
	if got := b.content(); got != claudeTokens("owners", "refresh-owner", time.Hour) {
		t.Errorf("the owner's file was written over: %s", got)
	}
}

// A write that cannot be finished leaves nothing behind that holds tokens.
func TestWriteLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "in-the-way")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(path, []byte("canary")); err == nil {
		t.Error("a folder was replaced")
	}
	if got := fmt.Sprint(folderOf(t, folder)); got != "[in-the-way]" {
		t.Errorf("the folder holds %s", got)
	}
	if err := replaceFile(filepath.Join(folder, "gone"), []byte("canary")); err == nil {
		t.Error("a file that is not there was replaced")
	}
}
