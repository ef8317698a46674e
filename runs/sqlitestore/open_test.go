package sqlitestore_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
)

// once is a batch with the first row of a run.
func once(run string) runs.Batch {
	return runs.Batch{
		RunID: run, Begin: &runs.Origin{SessionID: "s", Owner: "me"}, Producer: "a", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq,
		Rows: []runs.Event{{Type: runs.TypeTokenDelta, Payload: []byte(`{"delta":"x"}`)}},
	}
}

func store(t testing.TB, s runs.Store, bs ...runs.Batch) {
	t.Helper()
	answers, err := s.Append(t.Context(), bs)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if a.Err() != nil {
			t.Fatal(a.Err())
		}
	}
}

// sqliteOf runs SQL in a file as another program would.
func sqliteOf(t testing.TB, file, script string) {
	t.Helper()
	other, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Exec(script); err != nil {
		t.Fatal(err)
	}
}

func TestOpenIsForTheOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have other rights here")
	}
	file := fresh(t)
	store(t, db(t, file).Runs(), once("r"))
	for name, want := range map[string]fs.FileMode{filepath.Dir(file): 0o700, file: 0o600, file + "-wal": 0o600, file + "-shm": 0o600, file + ".lock": 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// A file that was copied about gets its rights back.
func TestOpenTakesRightsAway(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hub.db")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	db(t, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestOpenOddNames(t *testing.T) {
	for _, name := range []string{"a b.db", "100%41.db", "what?mode=ro&_pragma=x.db", "#.db", "日本.db", "a'b.db"} {
		if runtime.GOOS == "windows" && strings.Contains(name, "?") {
			continue
		}
		file := filepath.Join(t.TempDir(), name)
		store(t, db(t, file).Runs(), once("r"))
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	closed := func(file string) string {
		if err := db(t, file).Close(); err != nil {
			t.Fatal(err)
		}
		return file
	}
	newer, others, folder := closed(fresh(t)), filepath.Join(t.TempDir(), "hub.db"), t.TempDir()
	sqliteOf(t, newer, `PRAGMA user_version = 1000`)
	sqliteOf(t, others, `CREATE TABLE theirs (x)`)
	busy := fresh(t)
	db(t, busy)
	for _, c := range []struct {
		file string
		want error
		says string
	}{
		{newer, sqlitestore.ErrNewer, "its version is 1000"},
		{others, sqlitestore.ErrOthers, "another program"},
		{busy, sqlitestore.ErrInUse, busy},
		{folder, nil, "directory"},
	} {
		d, err := sqlitestore.Open(t.Context(), c.file, sqlitestore.Options{})
		if err == nil {
			_ = d.Close()
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("open %s: %v, want %v and %q", c.file, err, c.want, c.says)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(others), "*damaged*")); left != nil {
		t.Errorf("another program's file was moved to %s", left)
	}
}

// F: two hubs on one folder. The second one says so at once and changes nothing.
func TestOpenTwoProcesses(t *testing.T) {
	file := fresh(t)
	d := db(t, file)
	c := childOf(file, 1)
	c.Stderr = nil
	out, err := c.CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); !ok || e.ExitCode() != 1 || !strings.Contains(string(out), sqlitestore.ErrInUse.Error()) {
		t.Errorf("the second process: %v, %s", err, out)
	}
	store(t, d.Runs(), once("r"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	store(t, db(t, file).Runs(), once("q"))
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlitestore.Open(ctx, fresh(t), sqlitestore.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}

// When a DB is closed the file is whole by itself, and every call says that it is closed.
func TestClose(t *testing.T) {
	file := fresh(t)
	d := db(t, file)
	s, space := d.Runs(), d.Space("x")
	store(t, s, once("r"))
	for range 2 {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(file + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the log is still there: %v", err)
	}
	ctx := t.Context()
	_, appended := s.Append(ctx, []runs.Batch{once("q")})
	_, read := s.Read(ctx, "r", 0, 1, 1)
	_, listed := s.List(ctx, runs.Filter{})
	_, expired := s.Expire(ctx, day, day)
	_, deleted := s.DeleteSession(ctx, "me", "s")
	_, _, loaded := space.Load(ctx, "k")
	_, all := space.All(ctx)
	for i, err := range []error{appended, read, listed, expired, deleted, loaded, all, space.Save(ctx, "k", nil), space.Drop(ctx, "k"), space.DropBelow(ctx, "k")} {
		if !errors.Is(err, sqlitestore.ErrClosed) {
			t.Errorf("call %d: %v", i, err)
		}
	}
}
