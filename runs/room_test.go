package runs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"hermes-hub/runs"
)

// damaged is a store of one run whose rows are not all there, as after a flipped byte or a partial restore.
type damaged struct {
	runs.Store
	head runs.Head
	seqs []int64
	hold chan struct{} // reads of rows wait for it, when set
}

func (s *damaged) Read(ctx context.Context, run string, after int64, limit, _ int) (runs.Page, error) {
	if s.hold != nil && limit > 0 {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return runs.Page{}, ctx.Err()
		}
	}
	p := runs.Page{Head: s.head}
	for _, seq := range s.seqs {
		if seq > after && len(p.Rows) < limit {
			p.Rows = append(p.Rows, runs.Event{RunID: run, Seq: seq, Type: runs.TypeProgress, Payload: json.RawMessage("{}")})
		}
	}
	return p, nil
}

// Rows that are missing are a gap, never "caught up": not at the start, not within a page, and not at the end.
func TestMissingRows(t *testing.T) {
	f := func(cursor, want string, head runs.Head, seqs ...int64) {
		t.Helper()
		head.RunID, head.EndSeq, head.Closed = "r", head.Last, true
		j := runs.New(runs.Options{Store: &damaged{head: head, seqs: seqs}})
		if got, err := observe(t.Context(), j, "r", cursor); got != want || err != nil {
			t.Errorf("%v from %q: %s, %v, want %s", seqs, cursor, got, err, want)
		}
	}
	f("", "1 2 gap:3-4:lost 5 6 caught-up EOF", runs.Head{First: 1, Last: 6}, 1, 2, 5, 6)
	f("3", "gap:4-4:lost 5 6 caught-up EOF", runs.Head{First: 1, Last: 6}, 1, 2, 5, 6)
	f("", "1 2 gap:3-9:lost caught-up EOF", runs.Head{First: 1, Last: 9}, 1, 2)
	f("", "gap:1-9:lost caught-up EOF", runs.Head{Last: 9})
	f("", "gap:1-4:trimmed 5 6 caught-up EOF", runs.Head{First: 5, Last: 6}, 5, 6)
	f("", "1 2 1048577 caught-up EOF", runs.Head{First: 1, Last: 1048577, Epoch: 1, JumpFrom: 2, JumpTo: 1 << 20}, 1, 2, 1048577)
}

// One bell may stand for more rows than one read takes.
func TestManyRowsOneBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		got := make(chan string, 1)
		go func() {
			words, err := observe(t.Context(), j, "r", "")
			if err != nil {
				t.Error(err)
			}
			got <- words
		}()
		synctest.Wait()
		b := runs.Batch{RunID: "r", Producer: "there", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq}
		for range 1000 {
			b.Rows = append(b.Rows, runs.Event{Type: runs.TypeProgress, Payload: json.RawMessage("{}")})
		}
		b.Rows = append(
			b.Rows, runs.Event{Type: runs.TypeDone, Terminal: true, Payload: json.RawMessage("{}")},
			runs.Event{Type: runs.TypeClosed, Payload: json.RawMessage("{}")},
		)
		if a, err := s.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
			t.Fatal(a, err)
		}
		j.Ring("r")
		if words, want := <-got, "1 caught-up "+upTo(2, 1003)+" EOF"; words != want {
			t.Errorf("delivered %.200s … %s", words, words[max(0, len(words)-60):])
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// The one that reads for all goes away in the middle of it: another takes its turn.
func TestReaderLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &damaged{head: runs.Head{RunID: "r", First: 1, Last: 2, EndSeq: 1, Closed: true}, seqs: []int64{1, 2}, hold: make(chan struct{})}
		j := runs.New(runs.Options{Store: s})
		ctx, leave := context.WithCancel(t.Context())
		gone, stays := make(chan error, 1), make(chan string, 1)
		go func() { _, err := observe(ctx, j, "r", ""); gone <- err }()
		synctest.Wait()
		go func() { words, _ := observe(t.Context(), j, "r", ""); stays <- words }()
		synctest.Wait()
		leave()
		if err := <-gone; err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("the one that left: %v", err)
		}
		close(s.hold)
		if words := <-stays; words != "1 2 caught-up EOF" {
			t.Errorf("the one that stays got %s", words)
		}
	})
}

// Rows that one observer saw before they were lost are not shown to another afterwards.
func TestLostRowsLeaveTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		sync(t, w)
		slow, _, err := j.Subscribe(t.Context(), "r", "1")
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		fast := make(chan string, 1)
		go func() { words, _ := observe(t.Context(), j, "r", ""); fast <- words }()
		synctest.Wait()
		add(t, w, delta("kept"), delta("lost"))
		sync(t, w)
		synctest.Wait()
		s.become(rolledBack(t, s.store(), "r", 2))
		add(t, w, runs.RunDone{}, runs.RunClosed{})
		sync(t, w)
		if words := <-fast; !strings.HasPrefix(words, "1 caught-up 2 3 reset:epoch_changed 1 2 1048577 ") {
			t.Errorf("the fast one got %s", words)
		}
		var got []runs.Event
		for err == nil {
			var d runs.Delivery
			d, err = slow.Next(t.Context())
			got = append(got, d.Rows...)
		}
		if want := "2:token.delta 1048577:journal.gap 1048578:done 1048579:run.closed"; line(got) != want {
			t.Errorf("the slow one got %s, want %s", line(got), want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
