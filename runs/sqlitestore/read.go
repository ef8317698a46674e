package sqlitestore

import (
	"context"
	"database/sql"
	"errors"

	"hermes-hub/runs"
)

// reader is a connection that reads, and its statements.
type reader struct {
	pool       *sql.DB
	*link      // nil before the first use, and after an error
	begin, end *sql.Stmt
	head, rows *sql.Stmt
	value      *sql.Stmt
}

// look lends a reader to f. What f reads is not interrupted: reads are short.
func (d *DB) look(ctx context.Context, f func(context.Context, *reader) error) error {
	var r *reader
	select {
	case r = <-d.readers:
		defer func() { d.readers <- r }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.closing:
		return ErrClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err := r.connect(ctx)
	if err == nil {
		err = f(ctx, r)
	}
	if err != nil {
		r.reset()
	}
	return err
}

func (r *reader) connect(ctx context.Context) (err error) {
	if r.link != nil {
		return nil
	}
	if r.link, err = connect(ctx, r.pool); err != nil {
		return err
	}
	return r.prepare(ctx, map[**sql.Stmt]string{
		&r.begin: `BEGIN`,
		&r.end:   `COMMIT`,
		&r.head:  `SELECT key, ` + headColumns + ` FROM runs WHERE id = ?`,
		&r.rows:  `SELECT ` + rowColumns + ` FROM rows WHERE run = ? AND seq > ? ORDER BY seq`,
		&r.value: `SELECT value FROM state WHERE space = ? AND key = ?`,
	})
}

func (r *reader) reset() {
	if r.link != nil {
		r.cut()
		r.link = nil
	}
}

// Read is runs.Store's. A row that is not what was written is left out, as if it had never been.
func (s *Store) Read(ctx context.Context, runID string, after int64, limit, maxBytes int) (p runs.Page, err error) {
	known := false
	err = s.db.look(ctx, func(ctx context.Context, r *reader) error {
		if _, err := r.begin.ExecContext(ctx); err != nil {
			return err
		}
		key, head, err := scanHead(r.head.QueryRowContext(ctx, runID).Scan)
		if known = !errors.Is(err, sql.ErrNoRows); known && err != nil {
			return err
		}
		p.Head = head
		if known && limit > 0 && !head.Expired {
			if p.Rows, err = s.rows(ctx, r, key, head, after, limit, maxBytes); err != nil {
				return err
			}
		}
		_, err = r.end.ExecContext(ctx)
		return err
	})
	switch {
	case err != nil:
		return runs.Page{}, err
	case !known:
		return runs.Page{}, runs.ErrUnknownRun
	}
	return p, nil
}

func (s *Store) rows(ctx context.Context, r *reader, key int64, h runs.Head, after int64, limit, maxBytes int) ([]runs.Event, error) {
	found, err := r.rows.QueryContext(ctx, key, after)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var page []runs.Event
	for size := 0; len(page) < limit && found.Next(); {
		e, sound, err := scanRow(h, found.Scan)
		if err != nil {
			return nil, err
		}
		if !sound {
			s.db.log.Error("a stored row is damaged and left out", "run", h.RunID, "seq", e.Seq)
			continue
		}
		if size += len(e.Payload); size > maxBytes && len(page) > 0 {
			break
		}
		page = append(page, e)
	}
	return page, found.Err()
}

// List is runs.Store's.
func (s *Store) List(ctx context.Context, f runs.Filter) (heads []runs.Head, err error) {
	query, args := listing(f)
	err = s.db.look(ctx, func(ctx context.Context, r *reader) error {
		found, err := r.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			_, h, err := scanHead(found.Scan)
			if err != nil {
				return err
			}
			heads = append(heads, h)
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return heads, nil
}

// listing is a filter's query. Each of them finds its order in an index.
func listing(f runs.Filter) (query string, args []any) {
	query = `SELECT key, ` + headColumns + ` FROM runs WHERE expired = 0`
	if f.SessionID != "" {
		query, args = query+` AND session = ?`, append(args, f.SessionID)
	}
	if f.Owner != "" {
		query, args = query+` AND owner = ?`, append(args, f.Owner)
	}
	if f.Active {
		query += ` AND end_seq = 0`
	}
	if f.After.RunID != "" {
		query, args = query+` AND (created, id) < (?, ?)`, append(args, f.After.CreatedAt.UnixMicro(), f.After.RunID)
	}
	query += ` ORDER BY created DESC, id DESC`
	if f.Limit > 0 {
		query, args = query+` LIMIT ?`, append(args, f.Limit)
	}
	return query, args
}
