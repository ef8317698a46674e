// Package memstore keeps runs in memory: for tests, and for a hub that need not remember them. It is the plainest store
// there can be, and what the others are compared with.
package memstore

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"hermes-hub/runs"
)

// Store is a runs.Store that lasts as long as the process. The zero Store is empty and ready.
type Store struct {
	mu   sync.RWMutex
	logs map[string]*log // by run id
}

// log is one run. Rows are only ever appended, so a reader may keep a part of them.
type log struct {
	head  runs.Head
	rows  []runs.Event
	marks map[string]runs.Mark // by producer
}

// Append is runs.Store's.
func (s *Store) Append(ctx context.Context, batches []runs.Batch) ([]runs.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := make([]runs.Answer, len(batches))
	for i, b := range batches {
		answers[i] = s.append(b)
	}
	return answers, nil
}

func (s *Store) append(b runs.Batch) runs.Answer {
	l, known := s.logs[b.RunID]
	if !known {
		l = &log{marks: map[string]runs.Mark{}}
	}
	v := runs.Decide(l.head, known, l.marks[b.Producer], b)
	if v.Outcome != runs.Stored {
		return v.Answer
	}
	if s.logs == nil {
		s.logs = map[string]*log{}
	}
	l.head, l.marks[b.Producer], l.rows = v.Head, v.Mark, append(l.rows, v.Rows...)
	s.logs[b.RunID] = l
	return v.Answer
}

// Read is runs.Store's.
func (s *Store) Read(ctx context.Context, runID string, after int64, limit, maxBytes int) (runs.Page, error) {
	if err := ctx.Err(); err != nil {
		return runs.Page{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	l, known := s.logs[runID]
	if !known {
		return runs.Page{}, runs.ErrUnknownRun
	}
	from := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].Seq > after })
	rows := l.rows[from:min(len(l.rows), from+limit)]
	for i, size := 0, 0; i < len(rows); i++ {
		if size += len(rows[i].Payload); size > maxBytes && i > 0 {
			rows = rows[:i]
		}
	}
	return runs.Page{Head: l.head, Rows: slices.Clip(rows)}, nil
}

// List is runs.Store's.
func (s *Store) List(ctx context.Context, f runs.Filter) ([]runs.Head, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var heads []runs.Head
	for _, l := range s.logs {
		h := l.head
		if f.After.RunID != "" && newestFirst(h, f.After) <= 0 {
			continue
		}
		if !h.Expired && (f.Owner == "" || f.Owner == h.Owner) && (f.SessionID == "" || f.SessionID == h.SessionID) && (!f.Active || h.Active()) {
			heads = append(heads, h)
		}
	}
	slices.SortFunc(heads, newestFirst)
	if f.Limit > 0 {
		heads = heads[:min(f.Limit, len(heads))]
	}
	return heads, nil
}

func newestFirst(a, b runs.Head) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(b.RunID, a.RunID))
}

// Expire is runs.Store's.
func (s *Store) Expire(ctx context.Context, ended, forgotten time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id, l := range s.logs {
		h := &l.head
		if h.EndSeq == 0 {
			continue
		}
		if !h.Expired && h.EndedAt.Before(ended) {
			h.Expired, h.First, l.rows, l.marks = true, 0, nil, nil
			n++
		}
		if h.Expired && h.EndedAt.Before(forgotten) {
			delete(s.logs, id)
		}
	}
	return n, nil
}

// DeleteSession is runs.Store's.
func (s *Store) DeleteSession(ctx context.Context, owner, sessionID string) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for id, l := range s.logs {
		if l.head.Owner == owner && l.head.SessionID == sessionID {
			delete(s.logs, id)
			n++
		}
	}
	return n, nil
}
