package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"
)

// How much one transaction of a removal does, so that appends go on in between.
const (
	runsAtOnce  = 64
	rowsAtOnce  = 256
	pagesAtOnce = 256
	pagesSpared = 1024 // so many empty ones are kept for what comes next
)

// Expire is runs.Store's. It takes many small transactions: a run is a tombstone at once, its rows go bit by bit, and then
// the file shrinks if more than a quarter of it is empty. What an Expire that was interrupted left behind, the next one
// sweeps away.
func (s *Store) Expire(ctx context.Context, ended, forgotten time.Time) (int, error) {
	n, err := s.db.steps(ctx, runsAtOnce, func(t *tx) (int, error) {
		return t.remove(`UPDATE runs SET expired = 1, first_seq = 0 WHERE key = ?`, `expired = 0 AND end_seq != 0 AND ended < ?`, ended.UnixMicro())
	})
	if err != nil {
		return n, err
	}
	if _, err := s.db.steps(ctx, runsAtOnce, func(t *tx) (int, error) {
		return t.remove(`DELETE FROM runs WHERE key = ?`, `expired = 1 AND ended < ?`, forgotten.UnixMicro())
	}); err != nil {
		return n, err
	}
	return n, s.db.clean(ctx)
}

// DeleteSession is runs.Store's. When it returns without an error, the runs' rows are gone from the tables; bytes of them
// may stay in the file's empty pages until these are used again.
func (s *Store) DeleteSession(ctx context.Context, owner, sessionID string) (int, error) {
	n, err := s.db.steps(ctx, runsAtOnce, func(t *tx) (int, error) {
		return t.remove(`DELETE FROM runs WHERE key = ?`, `session = ? AND owner = ?`, sessionID, owner)
	})
	if err != nil {
		return n, err
	}
	return n, s.db.clean(ctx)
}

// clean removes the rows of runs that are gone, and gives empty pages back.
func (d *DB) clean(ctx context.Context) error {
	if _, err := d.steps(ctx, 1, (*tx).sweep); err != nil {
		return err
	}
	_, err := d.steps(ctx, 1, (*tx).shrink)
	return err
}

// steps does transactions until one has done less than a whole step, and returns how much they did.
func (d *DB) steps(ctx context.Context, whole int, step func(*tx) (int, error)) (total int, err error) {
	for {
		var n int // read only after submit has seen it written
		if err := d.writer.submit(ctx, mostBytes/4, func(t *tx) (err error) { n, err = step(t); return err }); err != nil {
			return total, err
		}
		if total += n; n < whole {
			return total, nil
		}
	}
}

// remove does to some of the runs that are so what makes them go, and leaves their rows to sweep.
func (t *tx) remove(do, which string, args ...any) (int, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	found, err := t.QueryContext(t.ctx, `SELECT key, id FROM runs WHERE `+which+` LIMIT ?`, append(args, runsAtOnce)...)
	if err != nil {
		return 0, err
	}
	defer found.Close()
	keys := map[int64]string{} // and ids
	for found.Next() {
		var key int64
		var id string
		if err := found.Scan(&key, &id); err != nil {
			return 0, err
		}
		keys[key] = id
	}
	if err := found.Err(); err != nil {
		return 0, err
	}
	for key, id := range keys {
		t.runs.forget(id)
		if _, err := t.execute(`INSERT OR IGNORE INTO swept VALUES (?)`, key); err != nil {
			return 0, err
		}
		if _, err := t.execute(do, key); err != nil {
			return 0, err
		}
	}
	return len(keys), nil
}

// sweep removes some rows of a run that is gone, if there is one.
func (t *tx) sweep() (int, error) {
	var key int64
	err := t.QueryRowContext(t.ctx, `SELECT run FROM swept LIMIT 1`).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := t.execute(`DELETE FROM rows WHERE run = ?1 AND seq IN (SELECT seq FROM rows WHERE run = ?1 LIMIT ?2)`, key, rowsAtOnce)
	if err != nil || n == rowsAtOnce {
		return 1, err
	}
	if _, err := t.execute(`DELETE FROM marks WHERE run = ?`, key); err != nil {
		return 0, err
	}
	_, err = t.execute(`DELETE FROM swept WHERE run = ?`, key)
	return 1, err
}

// shrink gives some empty pages back to the file system, if there are many.
func (t *tx) shrink() (int, error) {
	var pages, empty int
	if err := t.QueryRowContext(t.ctx, `SELECT page_count, freelist_count FROM pragma_page_count, pragma_freelist_count`).Scan(&pages, &empty); err != nil {
		return 0, err
	}
	if empty <= max(pages/4, pagesSpared) {
		return 0, nil
	}
	_, err := t.execute(`PRAGMA incremental_vacuum(` + strconv.Itoa(pagesAtOnce) + `)`)
	return 1, err
}
