package runs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"hermes-hub/runs"
)

// ahead is a store in which another process appends a row between an observer's look at the tail and its own page.
type ahead struct {
	runs.Store
	pages atomic.Int64
	then  func()
}

func (s *ahead) Read(ctx context.Context, run string, after int64, limit, maxBytes int) (runs.Page, error) {
	if after == 0 && limit > 1 && s.pages.Add(1) == 1 {
		s.then()
	}
	return s.Store.Read(ctx, run, after, limit, maxBytes)
}

// An observer of one of two hubs read a row in a page of its own before the bell for it had rung here. The room that it
// shares with others was older than its cursor; it took that for rows that were lost, was sent back to the start, and got
// everything twice.
func TestLateBell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s, stop := journal(t, nil)
		w := begin(t, j, "r")
		add(t, w, delta("a"))
		sync(t, w)
		inner := s.store()
		s.become(&ahead{Store: inner, then: func() {
			b := runs.Batch{RunID: "r", Producer: "there", Epoch: 1, FirstSeq: 1, Expect: runs.AnySeq, Rows: rows(t, inner, "r")[1:2]}
			if a, err := inner.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
				t.Error(a, err)
			}
		}})
		o, _, err := j.Subscribe(t.Context(), "r", "")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		d, err := o.Next(t.Context())
		if err != nil || line(d.Rows) != "1:run.started 2:token.delta 3:token.delta" {
			t.Fatalf("%s, %v", line(d.Rows), err)
		}
		add(t, w, runs.RunDone{}, runs.RunClosed{})
		for seen := d; ; {
			if seen.Reset != "" {
				t.Fatalf("sent back to the start: %s", seen.Reset)
			}
			if seen, err = o.Next(t.Context()); err != nil {
				break
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
