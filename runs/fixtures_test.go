package runs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
)

// faulty is a store that counts reads and fails as told.
type faulty struct {
	inner   atomic.Pointer[runs.Store]
	reads   atomic.Int64
	appends atomic.Int64
	fail    atomic.Pointer[fault]
}

// fault is a failure of Append, before or after it was done.
type fault struct{ after bool }

func (s *faulty) store() runs.Store { return *s.inner.Load() }

// become makes it another store, as one that was restored or went wrong.
func (s *faulty) become(other runs.Store) { s.inner.Store(&other) }

func (s *faulty) List(ctx context.Context, f runs.Filter) ([]runs.Head, error) {
	return s.store().List(ctx, f)
}

func (s *faulty) Expire(ctx context.Context, ended, forgotten time.Time) (int, error) {
	return s.store().Expire(ctx, ended, forgotten)
}

func (s *faulty) DeleteSession(ctx context.Context, owner, session string) (int, error) {
	return s.store().DeleteSession(ctx, owner, session)
}

var errDown = errors.New("the store is down")

func (s *faulty) Append(ctx context.Context, bs []runs.Batch) ([]runs.Answer, error) {
	s.appends.Add(1)
	f := s.fail.Load()
	if f != nil && !f.after {
		return nil, errDown
	}
	answers, err := s.store().Append(ctx, bs)
	if f != nil {
		return nil, errDown
	}
	return answers, err
}

func (s *faulty) Read(ctx context.Context, run string, after int64, limit, maxBytes int) (runs.Page, error) {
	s.reads.Add(1)
	return s.store().Read(ctx, run, after, limit, maxBytes)
}

// journal is a running one over a store in memory. stop ends it and waits.
func journal(t *testing.T, change func(*runs.Options)) (j *runs.Journal, s *faulty, stop func() error) {
	t.Helper()
	s = new(faulty)
	s.become(new(memstore.Store))
	o := runs.Options{Store: s, Instance: "here"}
	if change != nil {
		change(&o)
	}
	j = runs.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	return j, s, func() error { cancel(); return <-ended }
}

func begin(t *testing.T, j *runs.Journal, run string) *runs.Writer {
	t.Helper()
	w, err := j.Begin(run, runs.Origin{SessionID: "s", Owner: "me"}, runs.Redacted, runs.RunStarted{Status: runs.Running})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// add appends payloads that must be taken in.
func add(t *testing.T, w *runs.Writer, ps ...runs.Payload) {
	t.Helper()
	for _, p := range ps {
		if err := w.Append(p); err != nil {
			t.Fatalf("append %s: %v", p.Type(), err)
		}
	}
}

func sync(t *testing.T, w *runs.Writer) int64 {
	t.Helper()
	last, err := w.Sync(t.Context())
	if err != nil {
		t.Fatalf("sync: %v", err)
	}
	return last
}

func delta(text string) runs.TokenDelta { return runs.TokenDelta{MessageID: "m", Delta: text} }

// stored is a run's log in a line: seqs and types.
func stored(t *testing.T, s runs.Store, run string) string {
	t.Helper()
	return line(rows(t, s, run))
}

func rows(t *testing.T, s runs.Store, run string) []runs.Event {
	t.Helper()
	p, err := s.Read(t.Context(), run, 0, 1<<20, 1<<40)
	if err != nil {
		t.Fatalf("read %s: %v", run, err)
	}
	return p.Rows
}

func line(rows []runs.Event) string {
	var words []string
	for _, e := range rows {
		words = append(words, fmt.Sprintf("%d:%s", e.Seq, e.Type))
	}
	return strings.Join(words, " ")
}

// forgetful answers as if it had stored everything.
type forgetful struct{ runs.Store }

func (s *forgetful) Append(ctx context.Context, bs []runs.Batch) ([]runs.Answer, error) {
	answers := make([]runs.Answer, len(bs))
	for i, b := range bs {
		p, err := s.Read(ctx, b.RunID, 0, 0, 0)
		if err != nil {
			return nil, err
		}
		answers[i] = runs.Answer{Outcome: runs.Stored, First: p.Head.Last + 1, Last: p.Head.Last + int64(len(b.Rows))}
	}
	return answers, nil
}

// rolledBack is a store that has of a run only the first rows, as one has that was restored.
func rolledBack(t *testing.T, s runs.Store, run string, first int) runs.Store {
	t.Helper()
	old, b := new(memstore.Store), runs.Batch{
		RunID: run, Begin: &runs.Origin{SessionID: "s", Owner: "me"}, Producer: "here", Epoch: 1, FirstSeq: 1, Executor: true, Expect: runs.AnySeq,
		Rows: rows(t, s, run)[:first],
	}
	if a, err := old.Append(t.Context(), []runs.Batch{b}); err != nil || a[0].Err() != nil {
		t.Fatal(a, err)
	}
	return old
}
