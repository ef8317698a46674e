package admin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestSecretIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	first, created, err := Secret(dir)
	if err != nil || !created || CheckSecret(first) != nil {
		t.Fatalf("got %v, %v, %v", first, created, err)
	}
	second, created, err := Secret(dir)
	if err != nil || created || second.Reveal() != first.Reveal() {
		t.Errorf("the second time: got %v, %v, %v", second, created, err)
	}
	info, err := os.Stat(filepath.Join(dir, secretFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("drafts are left behind: %v, %v", entries, err)
	}
}

// Two hubs that start at once on one data dir must not sign with different secrets, nor read half of one.
func TestSecretRace(t *testing.T) {
	dir := t.TempDir()
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		secrets = map[string]bool{}
		makers  int
	)
	for range 16 {
		group.Go(func() {
			secret, created, err := Secret(dir)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if created {
				makers++
			}
			secrets[secret.Reveal()] = true
		})
	}
	group.Wait()
	if makers != 1 || len(secrets) != 1 {
		t.Errorf("%d processes made %d secrets", makers, len(secrets))
	}
}

func TestSecretOfTheOperator(t *testing.T) {
	f := func(content string, mode fs.FileMode, want string) {
		t.Helper()
		dir := t.TempDir()
		path := filepath.Join(dir, secretFile)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // past the umask
			t.Fatal(err)
		}
		secret, created, err := Secret(dir)
		if created {
			t.Errorf("%q: made anew over the operator's", content)
		}
		got := "good"
		if exposed, ok := errors.AsType[*ExposedSecretError](err); ok && secret.Reveal() == strings.TrimSpace(content) {
			got = "good, but " + exposed.Error()
		} else if err != nil {
			got = err.Error()
		}
		if want = strings.ReplaceAll(want, "PATH", path); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
	f(testSecret+"\n", 0o600, "good")
	f(testSecret, 0o400, "good")
	f(testSecret, 0o640, "good, but PATH can be read by others (mode 0640): chmod 600 it")
	f("short", 0o600, "admin secret in PATH has 5 bytes, at least 32 are needed; make one with `openssl rand -base64 48`, or delete the file to have one made")
	f("", 0o600, "admin secret in PATH has 0 bytes, at least 32 are needed; make one with `openssl rand -base64 48`, or delete the file to have one made")
	f(strings.Repeat("x", maxToken+1), 0o600, "read admin secret: PATH is larger than 4096 bytes")
}

func TestSecretNowhereToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if secret, created, err := Secret(file); err == nil || created || !secret.Empty() {
		t.Errorf("got %v, %v, %v", secret, created, err)
	}
}
