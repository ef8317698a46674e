package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/runs"
	"hermes-hub/runs/redisstore"
)

// journal is a running one, as a hub of that name has it.
func journal(t *testing.T, s runs.Store, name string, change func(*runs.Options)) *runs.Journal {
	t.Helper()
	o := runs.Options{Store: s, Instance: name, Resend: true, Poll: 100 * time.Millisecond}
	if change != nil {
		change(&o)
	}
	j := runs.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended }) // what it could not store is the test's to judge
	return j
}

// logOf is a run's whole log.
func logOf(t testing.TB, s runs.Store, run string) []runs.Event {
	t.Helper()
	p, err := s.Read(t.Context(), run, 0, 1<<20, 1<<30)
	if err != nil {
		t.Fatalf("read %s: %v", run, err)
	}
	return p.Rows
}

// said is the text of a delta.
func said(e runs.Event) string {
	var p struct{ Delta string }
	_ = json.Unmarshal(e.Payload, &p) // "" for what is none
	return p.Delta
}

// scribe is an executor that says the numbers from 0 on, while others observe.
type scribe struct {
	t    *testing.T
	j    *runs.Journal
	w    *runs.Writer
	next int
	seen *notebook
}

func begin(t *testing.T, j *runs.Journal) *scribe {
	t.Helper()
	w, err := j.Begin("r", runs.Origin{SessionID: "s", Owner: "me"}, runs.Redacted, runs.RunStarted{Status: runs.Running})
	if err != nil {
		t.Fatal(err)
	}
	s := &scribe{t: t, j: j, w: w, seen: &notebook{rows: map[string]string{}}}
	s.sync()
	return s
}

// say appends so many numbers. It never waits for the store.
func (s *scribe) say(n int) {
	s.t.Helper()
	for range n {
		if err := s.w.Append(runs.TokenDelta{MessageID: "m", Delta: strconv.Itoa(s.next) + ","}); err != nil {
			s.t.Fatalf("append %d: %v", s.next, err)
		}
		s.next++
	}
}

func (s *scribe) sync() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.w.Sync(ctx); err != nil {
		s.t.Fatalf("sync: %v", err)
	}
}

// end closes the run.
func (s *scribe) end() {
	s.t.Helper()
	for _, p := range []runs.Payload{runs.RunDone{}, runs.RunClosed{}} {
		if err := s.w.Append(p); err != nil {
			s.t.Fatalf("append %s: %v", p.Type(), err)
		}
	}
	s.sync()
}

// notebook is what observers saw: no id may ever stand for two contents.
type notebook struct {
	mu    sync.Mutex
	rows  map[string]string
	twice []string
}

func (n *notebook) note(e runs.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := string(e.Type) + string(e.Payload)
	if was, known := n.rows[e.ID()]; known && was != text {
		n.twice = append(n.twice, fmt.Sprintf("%s was %s and is %s", e.ID(), was, text))
	}
	n.rows[e.ID()] = text
}

// observe follows the run to its end, and comes back with its newest id whenever the store fails it.
func (n *notebook) observe(ctx context.Context, j *runs.Journal) error {
	for cursor := ""; ; {
		sub, _, err := j.Subscribe(ctx, "r", cursor)
		for err == nil {
			var d runs.Delivery
			if d, err = sub.Next(ctx); err == nil {
				for _, e := range d.Rows {
					n.note(e)
					cursor = e.ID()
				}
			}
		}
		if sub != nil {
			sub.Close()
		}
		if !errors.Is(err, redisstore.ErrUnavailable) && !errors.Is(err, runs.ErrUnknownRun) || ctx.Err() != nil {
			return err
		}
	}
}

// watch observes from now on, through another hub.
func (s *scribe) watch(j *runs.Journal) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.seen.observe(ctx, j) }) // how it ends is how the run does
	s.t.Cleanup(func() { cancel(); wg.Wait() })
}

// want is what every fault ends with: all that was acknowledged is there, once and in its order, and no id ever had two
// contents. Holes are told: gaps is how many journal.gap rows there are, epoch the log's newest.
func (s *scribe) want(store runs.Store, gaps int, epoch int64) []runs.Event {
	s.t.Helper()
	log, found, next := logOf(s.t, store, "r"), 0, 0
	last := log[0].Seq - 1
	for _, e := range log {
		s.seen.note(e)
		if e.Seq != last+1 && e.Seq%(1<<20) != 1 {
			s.t.Errorf("row %d follows row %d", e.Seq, last)
		}
		last = e.Seq
		switch e.Type {
		case runs.TypeGap:
			found++
			next = -1
		case runs.TypeTokenDelta:
			for text := range strings.SplitSeq(strings.TrimSuffix(said(e), ","), ",") { // under pressure some are merged
				n, err := strconv.Atoi(text)
				if err != nil || next >= 0 && n != next {
					s.t.Fatalf("row %d says %s, want %d", e.Seq, e.Payload, next)
				}
				next = n + 1
			}
		}
	}
	if next != s.next || found != gaps || log[len(log)-1].Epoch != epoch {
		s.t.Errorf("of %d numbers %d are there, with %d gaps (want %d) and in epoch %d (want %d)", s.next, next, found, gaps, log[len(log)-1].Epoch, epoch)
	}
	s.seen.mu.Lock()
	defer s.seen.mu.Unlock()
	for _, line := range slices.Compact(s.seen.twice) {
		s.t.Error(line)
	}
	return log
}
