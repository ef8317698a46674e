package router

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestFileStoreRoundTrip(t *testing.T) {
	f := FileStore{Path: filepath.Join(t.TempDir(), "router.json")}
	if data, err := f.LoadState(t.Context()); data != nil || err != nil {
		t.Errorf("no file: %s %v", data, err)
	}
	for _, state := range []string{`{"version":1,"affinity":null}`, `{"version":1}`} {
		if err := f.SaveState(t.Context(), []byte(state)); err != nil {
			t.Fatal(err)
		}
		if data, err := f.LoadState(t.Context()); string(data) != state || err != nil {
			t.Errorf("got %s %v, want %s", data, err, state)
		}
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(f.Path + "?*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// A crash in the middle of a save leaves the old file and a torn temporary one, which the next save overwrites.
func TestFileStoreAfterCrash(t *testing.T) {
	f := FileStore{Path: filepath.Join(t.TempDir(), "router.json")}
	save := func(state string) {
		t.Helper()
		if err := f.SaveState(t.Context(), []byte(state)); err != nil {
			t.Fatal(err)
		}
	}
	save(`{"version":1}`)
	if err := os.WriteFile(f.Path+".tmp", []byte(`{"version":1,"affinity":[{"session":"torn and much longer than`), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := f.LoadState(t.Context()); string(data) != `{"version":1}` || err != nil {
		t.Errorf("after the crash: %s %v", data, err)
	}
	save(`{"version":1,"affinity":[]}`)
	if data, err := f.LoadState(t.Context()); string(data) != `{"version":1,"affinity":[]}` || err != nil {
		t.Errorf("after the next save: %s %v", data, err)
	}
}

// A file that is no state is set aside whole and reported; the router starts without it and its next save destroys nothing.
func TestFileStoreSetsAside(t *testing.T) {
	f := FileStore{Path: filepath.Join(t.TempDir(), "router.json"), Now: func() time.Time { return noon }}
	for _, junk := range []string{"", "{", "[]", `{"version":99}`, "\x00\xff"} {
		if err := os.WriteFile(f.Path, []byte(junk), 0o600); err != nil {
			t.Fatal(err)
		}
		r := New(table(t, []Profile{account("a", "gpt-1")}, role("r", "a")), Options{Store: f})
		err := r.Restore(t.Context())
		corrupt, ok := errors.AsType[*CorruptStateError](err)
		if !ok || corrupt.Aside != f.Path+".corrupt-1772366400" || corrupt.Unwrap() == nil {
			t.Fatalf("%q: %v", junk, err)
		}
		if kept, err := os.ReadFile(corrupt.Aside); string(kept) != junk || err != nil {
			t.Errorf("%q: set aside as %q, %v", junk, kept, err)
		}
		if data, err := f.LoadState(t.Context()); data != nil || err != nil {
			t.Errorf("%q: loaded again: %s %v", junk, data, err)
		}
	}
}

func TestFileStoreErrors(t *testing.T) {
	nowhere := FileStore{Path: filepath.Join(t.TempDir(), "missing", "router.json")}
	if err := nowhere.SaveState(t.Context(), []byte("{}")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	dir := FileStore{Path: t.TempDir()}
	if _, err := dir.LoadState(t.Context()); err == nil {
		t.Error("read a directory")
	}
	if err := dir.SaveState(t.Context(), []byte("{}")); err == nil {
		t.Error("replaced a directory")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := nowhere.SaveState(done, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
