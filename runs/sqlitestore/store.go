package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"hermes-hub/runs"
)

// Store is the runs.Store in a DB. What it answered has been synced.
type Store struct{ db *DB }

// Append is runs.Store's. Calls that come at the same time are one transaction. When it fails, so do they all: nothing of them
// is seen, unless the error was ctx's or came from the sync itself.
func (s *Store) Append(ctx context.Context, batches []runs.Batch) ([]runs.Answer, error) {
	size := 0
	for _, b := range batches {
		for _, e := range b.Rows {
			size += len(e.Payload)
		}
	}
	answers := make([]runs.Answer, len(batches))
	err := s.db.writer.submit(ctx, size, func(t *tx) (err error) {
		for i, b := range batches {
			if answers[i], err = t.append(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// appendNew makes a run, mostly one that nobody has seen: that it is not there is found out by adding it. ok is false when it
// is there, or cannot be made so.
func (t *tx) appendNew(b runs.Batch) (a runs.Answer, ok bool, err error) {
	v := runs.Decide(runs.Head{}, false, runs.Mark{}, b)
	if v.Outcome != runs.Stored {
		return a, false, nil
	}
	res, err := t.addRun.ExecContext(t.ctx, headValues(v.Head)...)
	if err != nil {
		return a, false, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return a, false, err
	}
	r := &run{head: v.Head, ended: v.Head.EndSeq != 0, written: true, marks: map[string]*mark{b.Producer: {v.Mark, true}}}
	if r.key, err = res.LastInsertId(); err != nil {
		return a, false, err
	}
	t.runs.hot[b.RunID] = r
	for _, e := range v.Rows {
		if err := t.addEvent(r.key, e); err != nil {
			return a, false, err
		}
	}
	r.moved = true
	t.moved = append(t.moved, r)
	return v.Answer, true, nil
}

func (t *tx) append(b runs.Batch) (runs.Answer, error) {
	if b.Begin != nil && t.runs.find(b.RunID) == nil {
		if a, ok, err := t.appendNew(b); ok || err != nil {
			return a, err
		}
	}
	r, err := t.find(b.RunID)
	if err != nil {
		return runs.Answer{}, err
	}
	found := r != nil
	if !found {
		r = &run{marks: map[string]*mark{}}
	}
	m, err := t.mark(r, b.Producer)
	if err != nil {
		return runs.Answer{}, err
	}
	v := runs.Decide(r.head, found, m.Mark, b)
	if v.Outcome != runs.Stored {
		return v.Answer, nil
	}
	if !found {
		res, err := t.addRun.ExecContext(t.ctx, headValues(v.Head)...)
		if err != nil {
			return runs.Answer{}, err
		}
		if r.key, err = res.LastInsertId(); err != nil {
			return runs.Answer{}, err
		}
		r.ended = v.Head.EndSeq != 0
		t.runs.hot[b.RunID] = r
	}
	for _, e := range v.Rows {
		if err := t.addEvent(r.key, e); err != nil {
			return runs.Answer{}, err
		}
	}
	m.moved = m.moved || m.Mark != v.Mark
	r.head, m.Mark, r.written = v.Head, v.Mark, false
	if !r.moved {
		r.moved = true
		t.moved = append(t.moved, r)
	}
	return v.Answer, nil
}

func (t *tx) addEvent(key int64, e runs.Event) error {
	return t.exec(t.addRow, key, e.Seq, e.Epoch, string(e.Type), e.CreatedAt.UnixMicro(), e.Terminal, sum(e), blob(e.Payload))
}

// find looks a run up, nil when there is none.
func (t *tx) find(id string) (*run, error) {
	if r := t.runs.find(id); r != nil {
		return r, nil
	}
	key, head, err := scanHead(t.findRun.QueryRowContext(t.ctx, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !head.Expired {
		// In a file that was damaged a head may be behind the rows. Their seqs are given all the same.
		var last int64
		if err := t.findLast.QueryRowContext(t.ctx, key).Scan(&last); err != nil {
			return nil, err
		}
		head.Last = max(head.Last, last)
	}
	r := &run{key: key, head: head, ended: head.EndSeq != 0, marks: map[string]*mark{}}
	t.runs.hot[id] = r
	return r, nil
}

// mark is how far a producer is in a run.
func (t *tx) mark(r *run, producer string) (*mark, error) {
	if m := r.marks[producer]; m != nil {
		return m, nil
	}
	m := new(mark)
	if r.key != 0 {
		err := t.findMark.QueryRowContext(t.ctx, r.key, producer).Scan(&m.Epoch, &m.Seq, &m.Last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
	}
	r.marks[producer] = m
	return m, nil
}
