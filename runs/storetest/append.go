package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/runs"
)

func testNumbers(t *testing.T, s runs.Store) {
	wantAnswer(t, s, batch("r", "a", 1, rows("x", "y")...), "stored 1..2 e0 p1:2")
	wantAnswer(t, s, batch("r", "b", 1, rows("z")...), "stored 3..3 e0 p1:1")
	p := page(t, s, "r", 0, 10)
	for i, e := range p.Rows {
		if e.Seq != int64(i+1) || e.ID() != fmt.Sprintf("r:%d", i+1) || e.RunID != "r" || e.SessionID != "s" || e.Epoch != 0 {
			t.Errorf("row %d is %+v", i, e)
		}
		if !e.CreatedAt.Equal(day.Add(time.Microsecond)) {
			t.Errorf("row %d was created at %v", i, e.CreatedAt)
		}
	}
	h := p.Head
	if h.RunID != "r" || h.SessionID != "s" || h.Owner != "me" || !h.CreatedAt.Equal(day) || h.First != 1 || h.Last != 3 || !h.Active() {
		t.Errorf("head is %+v", h)
	}
	if h.Rows != 3 || h.Bytes != int64(3*len(`{"delta":"x"}`)) {
		t.Errorf("head counts %d rows of %d bytes", h.Rows, h.Bytes)
	}
}

func testOutcomes(t *testing.T, s runs.Store) {
	unborn := batch("r", "a", 1, rows("x")...)
	unborn.Begin = nil
	wantAnswer(t, s, unborn, "unknown_run 0..0 e0 p0:0")
	wantAnswer(t, s, batch("r", "a", 1, rows("1", "2", "3")...), "stored 1..3 e0 p1:3")
	wantAnswer(t, s, batch("r", "a", 1, rows("1", "2", "3")...), "duplicate 0..3 e0 p1:3") // I7
	wantAnswer(t, s, batch("r", "a", 2, rows("2")...), "duplicate 0..3 e0 p1:3")
	wantAnswer(t, s, batch("r", "a", 3, rows("3", "4")...), "overlap 0..3 e0 p1:3")
	wantAnswer(t, s, batch("r", "a", 5, rows("5")...), "missing 0..3 e0 p1:3")
	stale := batch("r", "a", 4, rows("4")...)
	stale.Expect = 2
	wantAnswer(t, s, stale, "stale 0..3 e0 p1:3")
	stale.Expect = 3
	wantAnswer(t, s, stale, "stored 4..4 e0 p1:4")
	wantAnswer(t, s, stale, "duplicate 0..4 e0 p1:4") // a retry is a success before it is stale
	next := batch("r", "a", 1, rows("5")...)
	next.Epoch = 2
	wantAnswer(t, s, next, "stored 5..5 e0 p2:1")
	wantAnswer(t, s, batch("r", "a", 5, rows("late")...), "fenced 0..5 e0 p2:1")
	wantLog(t, s, "r", "1=1 2=2 3=3 4=4 5=5")
}

func testEnd(t *testing.T, s runs.Store) {
	wantAnswer(t, s, batch("r", "a", 1, rows("x", "close")...), "unended 0..0 e0 p1:0")
	wantAnswer(t, s, batch("r", "a", 1, rows("x")...), "stored 1..1 e0 p1:1")
	wantAnswer(t, s, batch("r", "a", 2, rows("done", "y")...), "ended 0..1 e0 p1:1")
	wantAnswer(t, s, batch("r", "a", 2, rows("done")...), "stored 2..2 e0 p1:2")
	wantAnswer(t, s, batch("r", "b", 1, rows("cancel")...), "ended 0..2 e0 p1:0") // C03
	wantAnswer(t, s, batch("r", "b", 1, rows("title")...), "stored 3..3 e0 p1:1") // J17
	if h := page(t, s, "r", 0, 0).Head; h.Active() || h.EndSeq != 2 || h.End != runs.EndCompleted || h.Closed || !h.EndedAt.Equal(day.Add(time.Microsecond)) {
		t.Errorf("head after the end is %+v", h)
	}
	wantAnswer(t, s, batch("r", "a", 3, rows("close", "title")...), "sealed 0..3 e0 p1:2")
	wantAnswer(t, s, batch("r", "a", 3, rows("close")...), "stored 4..4 e0 p1:3")
	wantAnswer(t, s, batch("r", "a", 3, rows("close")...), "duplicate 0..4 e0 p1:3")
	wantAnswer(t, s, batch("r", "b", 2, rows("title")...), "sealed 0..4 e0 p1:1")
	wantLog(t, s, "r", "1=x 2=done 3=title 4=close")
	if h := page(t, s, "r", 4, 1).Head; !h.Closed {
		t.Errorf("head after the closing row is %+v", h)
	}
}

func testFence(t *testing.T, s runs.Store) {
	by := func(p string, epoch, first int64, texts ...string) runs.Batch {
		b := batch("r", p, first, rows(texts...)...)
		b.Executor, b.Epoch, b.At = true, epoch, day.Add(time.Minute)
		return b
	}
	wantAnswer(t, s, by("a", 1, 1, "x"), "stored 1..1 e0 p1:1")
	wantAnswer(t, s, by("b", 1, 1, "y"), "fenced 0..1 e0 p0:0") // the same fence, and another holds it
	wantAnswer(t, s, by("b", 2, 1), "stored 0..1 e0 p2:0")      // no rows: takes over
	if h := page(t, s, "r", 0, 0).Head; h.Fence != 2 || h.Holder != "b" || !h.HeldAt.Equal(day.Add(time.Minute)) {
		t.Errorf("head after the takeover is %+v", h)
	}
	wantAnswer(t, s, by("a", 1, 2, "late"), "fenced 0..1 e0 p1:1")
	wantAnswer(t, s, by("b", 2, 1, "z", "done", "close"), "stored 2..4 e0 p2:3")
	wantAnswer(t, s, by("c", 3, 1), "sealed 0..4 e0 p3:0")
	wantLog(t, s, "r", "1=x 2=z 3=done 4=close")
}

// An acknowledged row that is gone again shows itself by the producer's numbering, and what was behind it gets new seqs.
func testHeal(t *testing.T, s runs.Store) {
	wantAnswer(t, s, batch("r", "a", 1, rows("1", "2")...), "stored 1..2 e0 p1:2")
	heal := batch("r", "a", 6, rows("6")...)
	heal.Heal, heal.Expect = true, 5
	wantAnswer(t, s, heal, "stored 1048577..1048577 e1 p1:6")
	wantAnswer(t, s, heal, "duplicate 0..1048577 e1 p1:6")
	wantAnswer(t, s, batch("r", "a", 7, rows("7")...), "stored 1048578..1048578 e1 p1:7")
	met := batch("r", "a", 8, rows("8")...)
	met.Heal, met.Expect = true, 1048578
	wantAnswer(t, s, met, "stored 1048579..1048579 e1 p1:8") // nothing was lost: no new epoch
	p := page(t, s, "r", 0, 10)
	if got := text(p.Rows); got != "1=1 2=2 1048577=6 1048578=7 1048579=8" || p.Rows[2].Epoch != 1 || p.Rows[1].Epoch != 0 {
		t.Errorf("log is %s", got)
	}
	must(t, s, batch("q", "a", 1, rows("1")...))
	far := batch("q", "a", 2, rows("2")...)
	far.Heal, far.Expect = true, 1<<20+9 // what is lost had jumped before
	wantAnswer(t, s, far, "stored 2097153..2097153 e1 p1:2")
	if h := p.Head; h.JumpFrom != 2 || h.JumpTo != 1<<20 || h.Epoch != 1 || h.First != 1 || h.Rows != 5 {
		t.Errorf("head is %+v", h)
	}
}

func testTogether(t *testing.T, s runs.Store) {
	unborn := batch("nobody", "a", 1, row("x"))
	unborn.Begin = nil
	answers, err := s.Append(t.Context(), []runs.Batch{
		batch("r", "a", 1, row("1")), unborn, batch("q", "a", 1, row("1")), batch("r", "a", 2, row("2")), batch("r", "a", 1, row("1")),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range answers {
		got = append(got, string(a.Outcome))
	}
	if want := "stored unknown_run stored stored duplicate"; strings.Join(got, " ") != want {
		t.Errorf("answers are %s, want %s", got, want)
	}
	wantLog(t, s, "r", "1=1 2=2")
	wantLog(t, s, "q", "1=1")
}

func testRace(t *testing.T, s runs.Store) {
	const producers, each = 4, 250
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range int64(each) {
				b := batch("r", fmt.Sprint("p", p), i+1, row(fmt.Sprintf("%d.%d", p, i)))
				for range 1 + i%2 { // every other batch twice
					if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
						t.Errorf("append: %v, %v", a, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	log, next := page(t, s, "r", 0, 2*producers*each).Rows, map[string]int{}
	if len(log) != producers*each {
		t.Fatalf("%d rows, want %d", len(log), producers*each)
	}
	for i, e := range log {
		if e.Seq != int64(i+1) {
			t.Fatalf("row %d has seq %d", i+1, e.Seq)
		}
		p, n, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(string(e.Payload), `{"delta":"`), `"}`), ".")
		if n != fmt.Sprint(next[p]) {
			t.Fatalf("row %d is %s of producer %s, want %d", i+1, n, p, next[p])
		}
		next[p]++
	}
}

func testCancelled(t *testing.T, s runs.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := batch("r", "a", 1, rows("1", "2")...)
	if _, err := s.Append(ctx, []runs.Batch{b}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("append with a cancelled context: %v", err)
	}
	if a := must(t, s, b); a.Err() != nil {
		t.Errorf("the same batch again: %s", told(a))
	}
	wantLog(t, s, "r", "1=1 2=2")
}
