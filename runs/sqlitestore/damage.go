package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"modernc.org/sqlite"
)

// Damage is what Open found wrong with a file, and did about it.
type Damage struct {
	Found string // what is wrong, in SQLite's words
	Kept  string // where the damaged file is now

	Runs   int // that were taken over
	Rows   int // of these
	Lost   int // rows of these that should be there and could not be read
	Values int // of all spaces, that were taken over
}

// Damage tells what Open did about a damaged file. ok is false when it found none.
func (d *DB) Damage() (found Damage, ok bool) { return d.damage, d.damage.Kept != "" }

var errDamaged = errors.New("the file is damaged")

// The primary result codes of SQLite that accuse the file system, or nobody, rather than what stands in the file. A full
// disk's is among them, a read-only one's is not: touch has just opened the file for writing.
var innocent = map[int]bool{5: true, 6: true, 7: true, 9: true, 10: true, 13: true, 14: true, 23: true}

// isDamage reports whether the file has to be replaced for the hub to go on.
func isDamage(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return !innocent[e.Code()&0xff]
	}
	return errors.Is(err, errDamaged)
}

// settle leaves a file that can be worked with: sound, and of this version.
func (d *DB) settle(ctx context.Context, patience time.Duration) error {
	err := d.ready(ctx, patience)
	if !isDamage(err) {
		return err
	}
	d.damage = Damage{Found: err.Error(), Kept: d.file + ".damaged-" + d.now().UTC().Format("20060102T150405.000Z")}
	d.log.Error("the database is damaged: a new one is begun", "file", d.file, "found", d.damage.Found, "kept", d.damage.Kept)
	if err := moveAside(d.file, d.damage.Kept); err != nil {
		return err
	}
	if err := d.ready(ctx, patience); err != nil {
		return err
	}
	err = d.salvage(ctx)
	d.log.Warn("what could be read of the damaged database was taken over", "file", d.file, "error", err,
		"runs", d.damage.Runs, "rows", d.damage.Rows, "rows_lost", d.damage.Lost, "values", d.damage.Values)
	return nil
}

// ready opens the file by itself, looks for damage and brings it to this version.
func (d *DB) ready(ctx context.Context, patience time.Duration) error {
	if err := touch(d.file); err != nil {
		return err
	}
	pool := connections(d.file, forWriting)
	defer pool.Close()
	l, err := connect(ctx, pool)
	if err != nil {
		return err
	}
	defer l.cut()
	if err := l.settleLog(ctx); isDamage(err) {
		return err
	} else if err != nil { // a full disk: what is there can be read, and the writer will try again
		d.log.Warn("the database's log cannot be written back: nothing can be stored until it can", "file", d.file, "error", err)
	}
	if err := check(ctx, l.Conn, patience); err != nil {
		return err
	}
	return migrate(ctx, l.Conn)
}

// check looks for damage. What it has not found in time is not looked for.
func check(ctx context.Context, conn *sql.Conn, patience time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var found string
	err := conn.QueryRowContext(bounded, `PRAGMA quick_check(1)`).Scan(&found)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil:
		return nil
	case err == nil && found != "ok":
		return fmt.Errorf("%w: %s", errDamaged, found)
	}
	return err
}

// moveAside renames a database: the file, and the log that belongs to it.
func moveAside(file, to string) error {
	for _, part := range []string{"", "-wal"} {
		if err := os.Rename(file+part, to+part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(file + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
