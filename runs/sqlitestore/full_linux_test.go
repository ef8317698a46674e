package sqlitestore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
)

// small mounts a disk of so many MiB.
func small(t *testing.T, size string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if err := syscall.Mount("none", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small disk (mount: %v; run as root)", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// A hub filled its disk, and after space was made again rows that had been acknowledged were gone. Here what fails leaves
// nothing behind, what was acknowledged stays, and with space everything goes on by itself.
func TestDiskFull(t *testing.T) {
	folder := small(t, "4m")
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "hub.db")
	d := db(t, file)
	s, acked := d.Runs(), int64(0)
	next := func() (runs.Answer, error) {
		b := once("r")
		b.FirstSeq, b.Rows[0].Payload = acked+1, []byte(`{"delta":"`+strings.Repeat("x", 10_000)+`"}`)
		answers, err := s.Append(t.Context(), []runs.Batch{b})
		if err != nil {
			return runs.Answer{}, err
		}
		acked = answers[0].Last
		return answers[0], answers[0].Err()
	}
	fill := func() {
		t.Helper()
		for {
			if _, err := next(); err != nil {
				if !strings.Contains(err.Error(), "full") {
					t.Errorf("append on a full disk: %v", err)
				}
				return
			}
		}
	}
	whole := func() {
		t.Helper()
		p, err := s.Read(t.Context(), "r", 0, 1<<20, 1<<30)
		if err != nil || int64(len(p.Rows)) != acked || p.Head.Last != acked {
			t.Fatalf("%d rows to %d, %v; %d are acknowledged", len(p.Rows), p.Head.Last, err, acked)
		}
	}
	fill()
	for range 5 {
		if _, err := next(); err == nil {
			t.Error("there is no space, and yet it is stored")
		}
	}
	whole()
	if err := d.Space("x").Save(t.Context(), "k", make([]byte, 1<<20)); err == nil {
		t.Error("there is no space for a value either")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	before := acked
	for range 20 {
		if a, err := next(); err != nil || a.First != acked {
			t.Fatalf("append after space was made: %+v, %v", a, err)
		}
	}
	if acked != before+20 {
		t.Errorf("%d rows, want %d", acked, before+20)
	}
	whole()
	fill()
	_ = d.Close() // may have no space to write the log back
	d = db(t, file)
	if _, damaged := d.Damage(); damaged {
		t.Error("the file is damaged")
	}
	s = d.Runs()
	whole()
}

func TestDiskReadOnly(t *testing.T) {
	folder := small(t, "4m")
	if err := syscall.Mount("none", folder, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"); err != nil {
		t.Fatal(err)
	}
	d, err := sqlitestore.Open(t.Context(), filepath.Join(folder, "hub.db"), sqlitestore.Options{})
	if err == nil {
		_ = d.Close()
	}
	if !errors.Is(err, syscall.EROFS) {
		t.Errorf("open on a read-only disk: %v", err)
	}
}
