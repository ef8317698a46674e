package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// link is one connection and the statements that live as long as it does.
type link struct {
	*sql.Conn
	statements []*sql.Stmt
}

func connect(ctx context.Context, pool *sql.DB) (*link, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &link{Conn: conn}, nil
}

// prepare makes statements, each where its text is told to go.
func (l *link) prepare(ctx context.Context, texts map[**sql.Stmt]string) error {
	for at, text := range texts {
		s, err := l.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		*at, l.statements = s, append(l.statements, s)
	}
	return nil
}

// settleLog writes the log back into the file, syncs that and empties the log. Nothing may be written behind a log that
// another connection left: if a sync of it has failed, what can be read of it may be in memory only, and after a loss of power
// whatever had been synced behind it would be behind a hole.
func (l *link) settleLog(ctx context.Context) error {
	var busy, frames, written int
	if err := l.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &written); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("somebody reads for so long that its log cannot be written back")
	}
	return nil
}

// cut closes the connection, which may be in the midst of anything, instead of giving it back to its pool. A statement that
// stayed open would keep the file open too. Errors say nothing that is not known: what was not committed is gone.
func (l *link) cut() {
	for _, s := range l.statements {
		_ = s.Close()
	}
	_ = l.Raw(func(any) error { return driver.ErrBadConn })
}
