package sqlitestore

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"hermes-hub/runs"
)

// ended stores a run of so many rows that ended at the start of 1970.
func ended(t testing.TB, s *Store, run, session string, rows int) {
	t.Helper()
	b := first(run, "1")
	b.Begin.SessionID = session
	for range rows - 2 {
		b.Rows = append(b.Rows, runs.Event{Type: runs.TypeProgress, Payload: bytes.Repeat([]byte("x"), 1000)})
	}
	b.Rows = append(b.Rows, runs.Event{Type: runs.TypeDone, Terminal: true, CreatedAt: micros(3)})
	if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
		t.Fatal(a, err)
	}
}

func count(t testing.TB, d *DB, table string) (n int) {
	t.Helper()
	if err := d.reading.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A removal that is cut short between two of its transactions has removed the runs; what is left of them is in nobody's way,
// and the next one takes it.
func TestRemovalCutShort(t *testing.T) {
	d := opened(t)
	s, ctx := d.Runs(), t.Context()
	ended(t, s, "old", "s", 1000)
	ended(t, s, "deleted", "other", 1000)
	for _, step := range []func(*tx) (int, error){
		func(t *tx) (int, error) {
			return t.remove(`UPDATE runs SET expired = 1, first_seq = 0 WHERE key = ?`, `id = 'old'`)
		},
		func(t *tx) (int, error) { return t.remove(`DELETE FROM runs WHERE key = ?`, `id = 'deleted'`) },
		(*tx).sweep,
	} {
		if err := d.writer.submit(ctx, 0, func(t *tx) error { _, err := step(t); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, d, "rows"); n != 2000-rowsAtOnce {
		t.Errorf("%d rows after one step", n)
	}
	if p, err := s.Read(ctx, "old", 0, 10, 1<<20); !p.Head.Expired || len(p.Rows) != 0 || err != nil {
		t.Errorf("the tombstone reads %+v, %v", p, err)
	}
	if _, err := s.Read(ctx, "deleted", 0, 10, 1<<20); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("the deleted run reads %v", err)
	}
	if a, err := s.Append(ctx, []runs.Batch{first("deleted", "new")}); err != nil || a[0].First != 1 {
		t.Errorf("the run anew: %v, %v", a, err)
	}
	if p, err := s.Read(ctx, "deleted", 0, 10, 1<<20); len(p.Rows) != 1 || err != nil {
		t.Errorf("the new run reads %+v, %v", p, err)
	}
	if n, err := s.Expire(ctx, micros(0), micros(0)); n != 0 || err != nil {
		t.Errorf("expire: %d, %v", n, err)
	}
	if rows, swept, marks := count(t, d, "rows"), count(t, d, "swept"), count(t, d, "marks"); rows != 1 || swept != 0 || marks != 1 {
		t.Errorf("%d rows, %d marks, %d runs to sweep are left", rows, marks, swept)
	}
}

// More runs than one step removes, and no more than are due.
func TestExpireMany(t *testing.T) {
	d := opened(t)
	s, ctx := d.Runs(), t.Context()
	const many = 3*runsAtOnce + 1
	for i := range many {
		ended(t, s, fmt.Sprint("r", i), "s", 3)
	}
	if _, err := s.Append(ctx, []runs.Batch{first("live", "1")}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Expire(ctx, micros(3), micros(0)); n != 0 || err != nil {
		t.Errorf("expire at the very moment of the end: %d, %v", n, err)
	}
	if n, err := s.Expire(ctx, micros(4), micros(0)); n != many || err != nil {
		t.Errorf("expire: %d, %v, want %d", n, err, many)
	}
	if runs, rows := count(t, d, "runs"), count(t, d, "rows"); runs != many+1 || rows != 1 {
		t.Errorf("%d runs and %d rows are left", runs, rows)
	}
	if n, err := s.DeleteSession(ctx, "me", "s"); n != many+1 || err != nil {
		t.Errorf("delete: %d, %v", n, err)
	}
	if runs, rows, marks := count(t, d, "runs"), count(t, d, "rows"), count(t, d, "marks"); runs+rows+marks != 0 {
		t.Errorf("%d runs, %d rows and %d marks are left", runs, rows, marks)
	}
}

// The file gives back what expired runs took, but for what it keeps for those to come.
func TestExpireShrinksTheFile(t *testing.T) {
	d := opened(t)
	s := d.Runs()
	for i := range 8 {
		ended(t, s, fmt.Sprint("r", i), "s", 1000)
	}
	var before, after int
	pages := func(n *int) {
		t.Helper()
		if err := d.reading.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	pages(&before)
	if _, err := s.Expire(t.Context(), time.Unix(1, 0), micros(0)); err != nil {
		t.Fatal(err)
	}
	pages(&after)
	if before < 2000 || after > pagesSpared+pagesAtOnce+100 {
		t.Errorf("the file had %d pages and has %d", before, after)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.file); err != nil || info.Size() > int64(after)*4096 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
