package sqlitestore_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/runs/storetest"
)

// day is when the runs of these tests begin and end.
var day = time.Date(2026, 5, 14, 12, 0, 0, 0, time.UTC)

// db opens a file that is closed when the test ends.
func db(t testing.TB, file string) *sqlitestore.DB {
	t.Helper()
	d, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "hub", "hub.db") }

func open(t testing.TB) runs.Store { return db(t, fresh(t)).Runs() }

func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, open)
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, open) }

func TestDurable(t *testing.T) {
	t.Parallel()
	storetest.Durable(t, func(t testing.TB) (runs.Store, func() runs.Store) {
		file := fresh(t)
		d := db(t, file)
		return d.Runs(), func() runs.Store {
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = db(t, file)
			return d.Runs()
		}
	})
}

// Ids come from clients of an open API; none of them is more than a value here.
func TestHostileIDs(t *testing.T) {
	s := open(t)
	ids := []string{"'; DROP TABLE runs; --", "a\x00b", "a", "\xff\xfe", "日本\u2028", "%", "_", `"`, "r:1", strings.Repeat("x", 1<<16), ""}
	for _, id := range ids {
		b := once(id)
		b.Producer, b.Begin.Owner, b.Begin.SessionID = id, id, id
		store(t, s, b)
		if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Outcome != runs.Duplicate {
			t.Errorf("%.20q again: %v, %v", id, a, err)
		}
		p, err := s.Read(t.Context(), id, 0, 10, 1<<20)
		if err != nil || len(p.Rows) != 1 || p.Head.RunID != id || p.Head.Owner != id || p.Head.SessionID != id || p.Rows[0].RunID != id {
			t.Errorf("read %.20q: %.200v, %v", id, p, err)
		}
	}
	heads, err := s.List(t.Context(), runs.Filter{})
	if err != nil || len(heads) != len(ids) || !slices.IsSortedFunc(heads, func(a, b runs.Head) int { return strings.Compare(b.RunID, a.RunID) }) {
		t.Errorf("the list has %d of %d, or another order: %v", len(heads), len(ids), err)
	}
	for _, id := range ids[:len(ids)-1] {
		if heads, err := s.List(t.Context(), runs.Filter{Owner: id, SessionID: id}); len(heads) != 1 || err != nil {
			t.Errorf("list of %.20q: %d, %v", id, len(heads), err)
		}
		if n, err := s.DeleteSession(t.Context(), id, id); n != 1 || err != nil {
			t.Errorf("delete of %.20q: %d, %v", id, n, err)
		}
	}
}

func TestHostilePayloads(t *testing.T) {
	s, b := open(t), once("r")
	payloads := []string{"", "\x00", "\xff\xfe{", `{"a":"\ud800"}`, strings.Repeat("5MB ", 5<<18), "'; DROP TABLE rows; --"}
	b.Rows = []runs.Event{{Type: "no such type"}}
	for _, p := range payloads {
		b.Rows = append(b.Rows, runs.Event{Type: runs.TypeTokenDelta, Payload: []byte(p)})
	}
	store(t, s, b)
	p, err := s.Read(t.Context(), "r", 0, 100, 1<<30)
	if err != nil || len(p.Rows) != len(b.Rows) {
		t.Fatalf("%d rows, %v", len(p.Rows), err)
	}
	for i, e := range p.Rows {
		if string(e.Payload) != string(b.Rows[i].Payload) || e.Type != b.Rows[i].Type {
			t.Errorf("row %d came back as %s %.40q", i+1, e.Type, e.Payload)
		}
	}
}

// A page of a list costs the same among many runs as among few.
func BenchmarkList(b *testing.B) {
	s := open(b)
	for begin := 0; begin < 100_000; begin += 1000 {
		var bs []runs.Batch
		for i := range 1000 {
			one := once(fmt.Sprint("r", begin+i))
			one.Begin.SessionID, one.Begin.CreatedAt = fmt.Sprint("s", i%100), day.Add(time.Duration(begin+i)*time.Second)
			bs = append(bs, one)
		}
		store(b, s, bs...)
	}
	for _, f := range []runs.Filter{{}, {Owner: "me"}, {Owner: "me", SessionID: "s7"}, {Active: true}, {After: runs.Head{RunID: "r", CreatedAt: day.Add(time.Hour)}}} {
		f.Limit = 50
		b.Run(fmt.Sprintf("owner=%s,session=%s,active=%v,after=%s", f.Owner, f.SessionID, f.Active, f.After.RunID), func(b *testing.B) {
			for b.Loop() {
				if heads, err := s.List(b.Context(), f); len(heads) != 50 || err != nil {
					b.Fatalf("%d heads, %v", len(heads), err)
				}
			}
		})
	}
}
