// Package sqlitestore keeps runs, and other small state of the hub, in one SQLite file: the default, for a hub that is alone
// with its data.
//
//	Append, Expire, Space.Save … ─▶ writer: one goroutine, one connection; who waits is in the next commit ─▶ hub.db
//	Read, List, Space.Load …     ─▶ readers: a few connections, each call one consistent look ◀──────────────┘
//
// What a call returned without an error was synced first: it survives the end of the process and of the machine's power.
// While the writer syncs, whoever else writes gathers for the next transaction, so that many writers cost little more than
// one. The writer knows the heads of the runs that it writes to, for nobody else writes: a second process on the same file
// is refused at once.
//
// An error of the file (a full disk, a failed sync, one that became read-only) fails the calls of that transaction and makes
// the writer begin anew: with a new connection, which writes SQLite's log back and empties it before anything is written
// behind it. Until that succeeds everything that writes fails; then it goes on by itself. Reading goes on all the time.
//
// A damaged file keeps nobody from starting: Open moves it aside, begins a new one and takes over what can still be read. A
// row carries a checksum, for SQLite's pages have none: one that is not what was written is left out, and the journal shows
// a gap.
package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Options change how a DB is opened. Zero values are the defaults.
type Options struct {
	Logger  *slog.Logger // nil: nothing is logged
	Readers int          // reads at the same time; 4

	// CheckWithin is how long Open looks for damage before it takes the file for sound; 10 s.
	CheckWithin time.Duration
}

func (o Options) withDefaults() Options {
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.CheckWithin <= 0 {
		o.CheckWithin = 10 * time.Second
	}
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// DB is one open file. Its methods may be called from many goroutines.
type DB struct {
	file    string
	log     *slog.Logger
	now     func() time.Time
	lock    *flock.Flock
	writing *sql.DB // one connection
	reading *sql.DB // one for each reader
	writer  *writer
	readers chan *reader // those that nobody uses
	damage  Damage

	closing chan struct{}
	close   func() error
}

// Errors of Open and, of a DB that is closed, of everything else.
var (
	ErrInUse  = errors.New("another process has it open")
	ErrNewer  = errors.New("a newer version of the hub wrote it: run that version, or move the file away")
	ErrOthers = errors.New("it belongs to another program: move it away, or keep the hub's data elsewhere")
	ErrClosed = errors.New("the database is closed")
)

// Open opens the file, and makes it and its folder when they are not there: for the owner alone (0600, in a folder of 0700).
// Beside the file stand its -wal and -shm while it is open, and a .lock, which stays. ctx bounds the opening, not the DB's
// life.
//
// It fails with ErrInUse, ErrNewer or ErrOthers, or when the file can be neither read nor made. A damaged file is no reason
// to fail: see Damage.
func Open(ctx context.Context, file string, o Options) (*DB, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	o = o.withDefaults()
	d := &DB{file: file, log: o.Logger, now: time.Now, closing: make(chan struct{})}
	d.close = sync.OnceValue(d.shut)
	if err := d.open(ctx, o); err != nil {
		_ = d.Close() // of what was opened: the first error is the one to tell
		return nil, fmt.Errorf("open database %s: %w", file, err)
	}
	return d, nil
}

func (d *DB) open(ctx context.Context, o Options) error {
	if err := os.MkdirAll(filepath.Dir(d.file), 0o700); err != nil {
		return err
	}
	lock := flock.New(d.file+".lock", flock.SetPermissions(0o600))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return cmp.Or(err, ErrInUse)
	}
	d.lock = lock
	if err := d.settle(ctx, o.CheckWithin); err != nil {
		return err
	}
	d.writing, d.reading = connections(d.file, forWriting), connections(d.file, forReading)
	d.reading.SetMaxOpenConns(o.Readers)
	d.writer = newWriter(d.writing)
	d.readers = make(chan *reader, o.Readers)
	for range o.Readers {
		d.readers <- &reader{pool: d.reading}
	}
	d.writer.ended.Go(d.writer.run)
	return nil
}

// Close waits for the calls that are being answered, writes the log back into the file and lets go of it. Calls that come
// later get ErrClosed.
func (d *DB) Close() error { return d.close() }

func (d *DB) shut() error {
	close(d.closing)
	var errs []error
	if d.writer != nil {
		for range cap(d.readers) {
			(<-d.readers).reset()
		}
		errs = append(errs, d.reading.Close(), d.writer.stop(), d.writing.Close())
	}
	if d.lock != nil {
		errs = append(errs, d.lock.Unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close database %s: %w", d.file, err)
	}
	return nil
}

// Runs is the store of runs in this file.
func (d *DB) Runs() *Store { return &Store{d} }
