// Package storetest is what every store of runs must do, as tests: a store's own tests call Run and Bench, Durable and Kill
// if it outlives its process, and add what only it can suffer (a full disk, a lost connection).
package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/runs"
)

// Run holds stores to the contract of runs.Store. open makes an empty one and closes it when the test ends.
func Run(t *testing.T, open func(testing.TB) runs.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, runs.Store)
	}{
		{"J01 seqs are contiguous and ids follow them", testNumbers},
		{"J04 a page begins after the cursor and keeps its limits", testPages},
		{"outcomes come in their order", testOutcomes},
		{"I5 the first terminal wins and the closing row seals", testEnd},
		{"I6 a fence shuts the former executor out", testFence},
		{"I3 a heal never gives a seq twice", testHeal},
		{"a refused batch hinders no other", testTogether},
		{"J03 racing producers", testRace},
		{"J08 readers among writers see each row once", testReaders},
		{"lists are newest first", testList},
		{"J26 expiry leaves a tombstone, and then nothing", testExpire},
		{"J27 a deleted session's runs begin anew", testDelete},
		{"a cancelled call stores all or nothing", testCancelled},
		{"payloads come back as they were", testPayloads},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
	t.Run("I1-I7 model", func(t *testing.T) {
		testModel(t, func(t testing.TB) (runs.Store, func() runs.Store) { return open(t), nil })
	})
}

// day is when the runs of these tests begin.
var day = time.Date(2026, 5, 14, 12, 0, 0, 0, time.UTC)

// batch is one of producer p, executor in its first epoch, as the next rows of run.
func batch(run, p string, first int64, rows ...runs.Event) runs.Batch {
	return runs.Batch{
		RunID: run, Begin: &runs.Origin{SessionID: "s", Owner: "me", CreatedAt: day},
		Producer: p, Epoch: 1, FirstSeq: first, At: day, Expect: runs.AnySeq, Rows: rows,
	}
}

// row is an event with the text in its payload: done, cancel, title, close and everything else as a delta.
func row(text string) runs.Event {
	e := runs.Event{Type: runs.TypeTokenDelta, CreatedAt: day.Add(time.Microsecond)}
	switch text {
	case "done":
		e.Type, e.Terminal = runs.TypeDone, true
	case "cancel":
		e.Type, e.Terminal = runs.TypeCancelled, true
	case "title":
		e.Type = runs.TypeTitleUpdated
	case "close":
		e.Type = runs.TypeClosed
	}
	e.Payload, _ = json.Marshal(map[string]string{"delta": text}) // strings cannot fail
	return e
}

func rows(texts ...string) (es []runs.Event) {
	for _, text := range texts {
		es = append(es, row(text))
	}
	return es
}

// must appends one batch and returns the answer.
func must(t testing.TB, s runs.Store, b runs.Batch) runs.Answer {
	t.Helper()
	answers, err := s.Append(t.Context(), []runs.Batch{b})
	if err != nil || len(answers) != 1 {
		t.Fatalf("append: %v, %v", answers, err)
	}
	return answers[0]
}

// told is an answer in a line.
func told(a runs.Answer) string {
	return fmt.Sprintf("%s %d..%d e%d p%d:%d", a.Outcome, a.First, a.Last, a.Epoch, a.Mark.Epoch, a.Mark.Seq)
}

func wantAnswer(t testing.TB, s runs.Store, b runs.Batch, want string) {
	t.Helper()
	if got := told(must(t, s, b)); got != want {
		t.Errorf("append of %s/%d by %s: %s, want %s", b.RunID, b.FirstSeq, b.Producer, got, want)
	}
}

// page is a Read that must succeed.
func page(t testing.TB, s runs.Store, run string, after int64, limit int) runs.Page {
	t.Helper()
	p, err := s.Read(t.Context(), run, after, limit, 1<<30)
	if err != nil {
		t.Fatalf("read %s after %d: %v", run, after, err)
	}
	return p
}

// text is a log in a line: seq and payload text of each row.
func text(rows []runs.Event) string {
	var b strings.Builder
	for _, e := range rows {
		var p struct{ Delta string }
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			p.Delta = err.Error()
		}
		fmt.Fprintf(&b, " %d=%s", e.Seq, p.Delta)
	}
	return strings.TrimPrefix(b.String(), " ")
}

func wantLog(t testing.TB, s runs.Store, run, want string) {
	t.Helper()
	if got := text(page(t, s, run, 0, 1000).Rows); got != want {
		t.Errorf("log of %s is %q, want %q", run, got, want)
	}
}
