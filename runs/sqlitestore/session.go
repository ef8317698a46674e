package sqlitestore

import (
	"context"
	"database/sql"

	"hermes-hub/runs"
)

// session is the writer's connection, its statements, and what it knows of the runs in the file.
type session struct {
	*link
	runs known

	begin, end                 *sql.Stmt
	findRun, findLast, addRun  *sql.Stmt
	moveRun, endRun            *sql.Stmt
	addRow, findMark, moveMark *sql.Stmt
	save                       *sql.Stmt
}

func newSession(ctx context.Context, pool *sql.DB) (*session, error) {
	l, err := connect(ctx, pool)
	if err != nil {
		return nil, err
	}
	if err := l.settleLog(ctx); err != nil {
		l.cut()
		return nil, err
	}
	s := &session{link: l, runs: known{hot: map[string]*run{}}}
	err = l.prepare(ctx, map[**sql.Stmt]string{
		&s.begin:    `BEGIN IMMEDIATE`,
		&s.end:      `COMMIT`,
		&s.findRun:  `SELECT key, ` + headColumns + ` FROM runs WHERE id = ?`,
		&s.findLast: `SELECT coalesce(max(seq), 0) FROM rows WHERE run = ?`,
		&s.addRun:   `INSERT INTO runs (` + headColumns + `) VALUES (` + headPlaces + `) ON CONFLICT (id) DO NOTHING`,
		&s.moveRun: `UPDATE runs SET first_seq = ?, last_seq = ?, epoch = ?, jump_from = ?, jump_to = ?, fence = ?, holder = ?, held = ?,
			closed = ?, row_count = ?, byte_count = ? WHERE key = ?`,
		&s.endRun:   `UPDATE runs SET end_seq = ?, end_state = ?, ended = ? WHERE key = ?`,
		&s.addRow:   `INSERT INTO rows (run, seq, epoch, type, created, terminal, sum, payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		&s.findMark: `SELECT epoch, seq, last FROM marks WHERE run = ? AND producer = ?`,
		&s.moveMark: `INSERT INTO marks (run, producer, epoch, seq, last) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq, last = excluded.last`,
		&s.save: `INSERT INTO state (space, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
	})
	if err != nil {
		l.cut()
		return nil, err
	}
	return s, nil
}

// known are the runs that the writer has looked up: those that it wrote to since the last but one turn.
type known struct{ hot, cold map[string]*run }

const hotRuns = 2048

// run is one of them, as the transaction sees it.
type run struct {
	key     int64
	head    runs.Head
	ended   bool // the file says so too
	moved   bool // the head or a mark is to be written
	written bool // not the head
	marks   map[string]*mark
}

type mark struct {
	runs.Mark
	moved bool
}

func (k *known) find(id string) *run {
	if r := k.hot[id]; r != nil {
		return r
	}
	r := k.cold[id]
	if r != nil {
		k.hot[id] = r
	}
	return r
}

func (k *known) forget(id string) {
	delete(k.hot, id)
	delete(k.cold, id)
}

// turn forgets those that were not asked for since the last turn, when there are many. Between transactions only.
func (k *known) turn() {
	if len(k.hot) >= hotRuns {
		k.cold, k.hot = k.hot, map[string]*run{}
	}
}

// tx is one transaction of a session.
type tx struct {
	*session
	ctx   context.Context
	moved []*run
}

// exec is a statement of which only the error counts.
func (t *tx) exec(s *sql.Stmt, args ...any) error {
	_, err := s.ExecContext(t.ctx, args...)
	return err
}

// execute is exec for a statement that is rare enough not to be prepared. It returns how many rows it changed.
func (t *tx) execute(statement string, args ...any) (int64, error) {
	res, err := t.ExecContext(t.ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// commit writes what is still only known, and ends the transaction.
func (t *tx) commit() error {
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.exec(t.end); err != nil {
		return err
	}
	t.runs.turn()
	return nil
}

// flush writes the heads and marks that moved. Whoever reads or changes them in the file calls it first.
func (t *tx) flush() error {
	for _, r := range t.moved {
		if err := t.write(r); err != nil {
			return err
		}
	}
	t.moved = nil
	return nil
}

func (t *tx) write(r *run) error {
	h := r.head
	var err error
	if !r.written {
		err = t.exec(t.moveRun, h.First, h.Last, h.Epoch, h.JumpFrom, h.JumpTo, h.Fence, h.Holder, h.HeldAt.UnixMicro(), h.Closed, h.Rows, h.Bytes, r.key)
	}
	if err != nil {
		return err
	}
	r.moved = false
	if h.EndSeq != 0 && !r.ended { // apart, for these have indices
		if err := t.exec(t.endRun, h.EndSeq, string(h.End), h.EndedAt.UnixMicro(), r.key); err != nil {
			return err
		}
		r.ended = true
	}
	for producer, m := range r.marks {
		if m.moved {
			if err := t.exec(t.moveMark, r.key, producer, m.Epoch, m.Seq, m.Last); err != nil {
				return err
			}
			m.moved = false
		}
	}
	return nil
}
