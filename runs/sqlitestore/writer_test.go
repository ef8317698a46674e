package sqlitestore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes-hub/runs"
)

func opened(t testing.TB) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "hub.db"), Options{})
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

// held makes the writer wait within a transaction until release.
func held(t testing.TB, d *DB) (release func()) {
	t.Helper()
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- d.writer.submit(t.Context(), 0, func(*tx) error { close(begun); <-end; return nil })
	}()
	<-begun
	return func() {
		close(end)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestGatherTakesInWhoWaits(t *testing.T) {
	w := newWriter(nil)
	many := sync.WaitGroup{}
	for range mostJobs + 10 {
		many.Go(func() {
			select {
			case w.jobs <- &job{size: 1}:
			case <-w.closing:
			}
		})
	}
	for range 2 {
		if group := w.gather(<-w.jobs); len(group) > mostJobs {
			t.Errorf("%d jobs in one transaction", len(group))
		}
	}
	if group := w.gather(&job{size: mostBytes}); len(group) != 1 {
		t.Errorf("%d jobs beside one that fills a transaction", len(group))
	}
	close(w.closing)
	many.Wait()
}

// Of a transaction that fails nothing stays, for nobody: neither in the file nor in what the writer knows.
func TestFailedTransactionLeavesNothing(t *testing.T) {
	d := opened(t)
	s := d.Runs()
	ctx := t.Context()
	if _, err := s.Append(ctx, []runs.Batch{first("r", "1")}); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no")
	var answers []runs.Answer
	err := d.writer.submit(ctx, 0, func(t *tx) error {
		second := first("r", "2")
		second.FirstSeq = 2
		for _, b := range []runs.Batch{second, first("new", "1")} {
			a, err := t.append(b)
			if answers = append(answers, a); err != nil {
				return err
			}
		}
		return cmp.Or(t.flush(), failed)
	})
	if !errors.Is(err, failed) || len(answers) != 2 || answers[0].Last != 2 {
		t.Fatalf("submit: %v, %v", answers, err)
	}
	if p, err := s.Read(ctx, "r", 0, 10, 1<<20); len(p.Rows) != 1 || p.Head.Last != 1 || err != nil {
		t.Errorf("read: %+v, %v", p, err)
	}
	if _, err := s.Read(ctx, "new", 0, 10, 1<<20); !errors.Is(err, runs.ErrUnknownRun) {
		t.Errorf("read of the new run: %v", err)
	}
	again := first("r", "2")
	again.FirstSeq = 2
	if a, err := s.Append(ctx, []runs.Batch{again, first("new", "1")}); err != nil || a[0].Last != 2 || a[1].Last != 1 {
		t.Errorf("append after the failure: %v, %v", a, err)
	}
}

// A caller who goes while others are served takes nobody along, and what it asked for is not begun.
func TestCallerGoes(t *testing.T) {
	d := opened(t)
	release := held(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	waits := make(chan error)
	go func() {
		waits <- d.writer.submit(ctx, 0, func(*tx) error { t.Error("done for nobody"); return nil })
	}()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("submit: %v", err)
	}
	release()
	if err := d.writer.submit(t.Context(), 0, func(*tx) error { return nil }); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// first is the first row of a run.
func first(run, text string) runs.Batch {
	return runs.Batch{
		RunID: run, Begin: &runs.Origin{SessionID: "s", Owner: "me", CreatedAt: micros(1)}, Producer: "a", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq,
		Rows: []runs.Event{{Type: runs.TypeTokenDelta, CreatedAt: micros(2), Payload: fmt.Appendf(nil, `{"delta":%q}`, text)}},
	}
}

// What the writer knows of runs is bounded, and forgetting changes no answer.
func TestKnownRunsAreForgotten(t *testing.T) {
	d := opened(t)
	ctx := t.Context()
	for begin := 0; begin < 3*hotRuns; begin += 512 {
		var bs []runs.Batch
		for i := range 512 {
			bs = append(bs, first(fmt.Sprint("r", begin+i), "1"))
		}
		if _, err := d.Runs().Append(ctx, bs); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(d.writer.session.runs.hot) + len(d.writer.session.runs.cold); n > 2*hotRuns+512 {
		t.Errorf("%d runs are known", n)
	}
	for _, run := range []string{"r0", fmt.Sprint("r", 3*hotRuns-1)} {
		next := first(run, "2")
		next.FirstSeq = 2
		a, err := d.Runs().Append(ctx, []runs.Batch{first(run, "1"), next})
		if err != nil || a[0].Outcome != runs.Duplicate || a[1].First != 2 {
			t.Errorf("append to %s: %v, %v", run, a, err)
		}
	}
}

// A list finds its order in an index, whatever is asked for: it costs what it returns.
func TestListsAreIndexed(t *testing.T) {
	d := opened(t)
	for n := range 1 << 5 {
		var f runs.Filter
		set := func(bit int, do func()) {
			if n>>bit&1 == 1 {
				do()
			}
		}
		set(0, func() { f.Owner = "me" })
		set(1, func() { f.SessionID = "s" })
		set(2, func() { f.Active = true })
		set(3, func() { f.After = runs.Head{RunID: "r", CreatedAt: micros(1)} })
		set(4, func() { f.Limit = 10 })
		query, args := listing(f)
		plan := plan(t, d, query, args)
		bySession := f.SessionID != "" && f.Owner == "" // sorts one session's
		if !strings.Contains(plan, "USING INDEX") || strings.Contains(plan, "TEMP B-TREE") && !bySession {
			t.Errorf("%+v: %s", f, plan)
		}
	}
}

func plan(t testing.TB, d *DB, query string, args []any) (text string) {
	t.Helper()
	found, err := d.reading.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		var id, parent, unused int
		var detail string
		if err := found.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		text += detail + "; "
	}
	return text
}
