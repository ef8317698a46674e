package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"hermes-hub/runs"
)

// Durable holds stores to what outlives the process. open makes an empty store, closes it when the test ends, and returns it
// with a function that closes it, opens it anew and returns that.
func Durable(t *testing.T, open func(testing.TB) (store runs.Store, reopen func() runs.Store)) {
	for _, c := range []struct {
		name string
		test func(*testing.T, runs.Store, func() runs.Store)
	}{
		{"J02 rows, heads, marks and fences survive", testSurvival},
		{"J26 tombstones and deletions survive", testGone},
		{"J02 a replay needs no append after a restart", testReplay},
		{"J04 a long replay is whole", testLongReplay},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, reopen := open(t)
			c.test(t, store, reopen)
		})
	}
	t.Run("I1-I7 model with restarts", func(t *testing.T) { testModel(t, open) })
}

func testSurvival(t *testing.T, s runs.Store, reopen func() runs.Store) {
	by := func(run, p string, epoch, first int64, texts ...string) runs.Batch {
		b := batch(run, p, first, rows(texts...)...)
		b.Executor, b.Epoch, b.At = true, epoch, day.Add(time.Minute)
		return b
	}
	must(t, s, by("live", "a", 1, 1, "1", "2"))
	must(t, s, by("live", "b", 2, 1, "3"))
	must(t, s, batch("live", "c", 1, rows("4", "5")...))
	must(t, s, by("ended", "a", 1, 1, "1", "done"))
	must(t, s, by("closed", "a", 1, 1, "1", "done", "close"))
	heal := batch("healed", "a", 6, row("6"))
	heal.Heal, heal.Expect = true, 5
	must(t, s, batch("healed", "a", 1, rows("1", "2")...))
	must(t, s, heal)

	look := func() (all string) {
		for _, run := range []string{"live", "ended", "closed", "healed"} {
			all += fmt.Sprintf("%+v\n", page(t, s, run, 0, 100))
		}
		heads, err := s.List(t.Context(), runs.Filter{})
		return fmt.Sprintf("%s%+v %v", all, heads, err)
	}
	before := look()
	s = reopen()
	if after := look(); after != before {
		t.Errorf("after the restart there is\n%s, before it there was\n%s", after, before)
	}
	wantAnswer(t, s, by("live", "b", 2, 1, "3"), "duplicate 0..3 e0 p2:1") // I7
	wantAnswer(t, s, by("live", "a", 1, 3, "late"), "fenced 0..5 e0 p1:2") // I6
	wantAnswer(t, s, by("live", "d", 2, 1, "late"), "fenced 0..5 e0 p0:0")
	wantAnswer(t, s, batch("live", "c", 1, rows("4", "5")...), "duplicate 0..5 e0 p1:2")
	wantAnswer(t, s, batch("live", "c", 2, rows("5", "6")...), "overlap 0..5 e0 p1:2")
	wantAnswer(t, s, batch("live", "c", 3, row("6")), "stored 6..6 e0 p1:3") // I1
	wantAnswer(t, s, batch("ended", "b", 1, row("cancel")), "ended 0..2 e0 p1:0")
	wantAnswer(t, s, batch("closed", "b", 1, row("title")), "sealed 0..3 e0 p1:0")
	wantAnswer(t, s, heal, "duplicate 0..1048577 e1 p1:6")
	wantAnswer(t, s, batch("healed", "a", 7, row("7")), "stored 1048578..1048578 e1 p1:7") // I3
}

func testGone(t *testing.T, s runs.Store, reopen func() runs.Store) {
	must(t, s, batch("old", "a", 1, rows("x", "done")...))
	deleted := batch("deleted", "a", 1, row("x"))
	deleted.Begin = &runs.Origin{SessionID: "other", Owner: "me", CreatedAt: day}
	must(t, s, deleted)
	if n, err := s.Expire(t.Context(), day.Add(time.Hour), day); n != 1 || err != nil {
		t.Fatalf("expire: %d, %v", n, err)
	}
	if n, err := s.DeleteSession(t.Context(), "me", "other"); n != 1 || err != nil {
		t.Fatalf("delete: %d, %v", n, err)
	}
	s = reopen()
	if p := page(t, s, "old", 0, 10); !p.Head.Expired || len(p.Rows) != 0 || p.Head.End != runs.EndCompleted {
		t.Errorf("the tombstone is %+v", p)
	}
	if _, err := s.Read(t.Context(), "deleted", 0, 1, 1); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("the deleted run reads %v", err)
	}
	wantAnswer(t, s, deleted, "stored 1..1 e0 p1:1")
	wantLog(t, s, "deleted", "1=x")
}

// Mercure's hub forgot its last id with the process: whoever reconnected got no history until somebody published.
func testReplay(t *testing.T, s runs.Store, reopen func() runs.Store) {
	must(t, s, batch("r", "a", 1, rows("1", "2", "3")...))
	s = reopen()
	wantReplay(t, s, "", 1, 3)
	wantReplay(t, s, "r:2", 3, 3)
	if heads, err := s.List(t.Context(), runs.Filter{Active: true}); len(heads) != 1 || err != nil {
		t.Errorf("live runs after the restart: %+v, %v", heads, err)
	}
}

// Mercure's hub closed a replay after its thousandth row, for nothing emptied the observer's channel meanwhile.
func testLongReplay(t *testing.T, s runs.Store, reopen func() runs.Store) {
	const total, atOnce = 5000, 500
	for first := int64(1); first < total; first += atOnce {
		b := batch("r", "a", first)
		for i := range int64(atOnce) {
			b.Rows = append(b.Rows, row(fmt.Sprint(first+i)))
		}
		must(t, s, b)
	}
	wantReplay(t, reopen(), "", 1, total)
}

// wantReplay observes run r from a cursor and wants the rows from first to last, each with its seq as text.
func wantReplay(t *testing.T, s runs.Store, cursor string, first, last int64) {
	t.Helper()
	sub, _, err := runs.New(runs.Options{Store: s, Instance: "observer"}).Subscribe(t.Context(), "r", cursor)
	if err != nil {
		t.Fatalf("subscribe at %q: %v", cursor, err)
	}
	defer sub.Close()
	next := first
	for next <= last {
		d, err := sub.Next(t.Context())
		if err != nil || d.Reset != "" || d.Gap != (runs.Gap{}) || d.CaughtUp && len(d.Rows) == 0 {
			t.Fatalf("replay from %q ends before row %d: %+v, %v", cursor, next, d, err)
		}
		for _, e := range d.Rows {
			if want := fmt.Sprintf("%d=%d", next, next); text([]runs.Event{e}) != want {
				t.Fatalf("replay from %q has %s, want %s", cursor, text([]runs.Event{e}), want)
			}
			next++
		}
	}
}
