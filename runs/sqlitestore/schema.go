package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver
)

// migrations[v] makes a file of version v one of version v+1; the version is the file's user_version. One that was released
// is never changed.
//
// Times are in microseconds since 1970. A run's rows hang on its key, which is never given twice: what is left of a deleted
// run can be swept away later, even when a new run has its id.
var migrations = []string{`
CREATE TABLE runs (
	key        INTEGER PRIMARY KEY AUTOINCREMENT,
	id         TEXT NOT NULL UNIQUE,
	session    TEXT NOT NULL,
	owner      TEXT NOT NULL,
	created    INTEGER NOT NULL,
	first_seq  INTEGER NOT NULL,
	last_seq   INTEGER NOT NULL,
	epoch      INTEGER NOT NULL,
	jump_from  INTEGER NOT NULL,
	jump_to    INTEGER NOT NULL,
	fence      INTEGER NOT NULL,
	holder     TEXT NOT NULL,
	held       INTEGER NOT NULL,
	end_seq    INTEGER NOT NULL,
	end_state  TEXT NOT NULL,
	ended      INTEGER NOT NULL,
	closed     INTEGER NOT NULL,
	expired    INTEGER NOT NULL,
	row_count  INTEGER NOT NULL,
	byte_count INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_newest ON runs (created, id) WHERE expired = 0;
CREATE INDEX runs_active ON runs (created, id) WHERE expired = 0 AND end_seq = 0;
CREATE INDEX runs_owner ON runs (owner, created, id) WHERE expired = 0;
CREATE INDEX runs_session ON runs (session, owner, expired, created, id);
CREATE INDEX runs_ended ON runs (ended) WHERE expired = 0 AND end_seq != 0;
CREATE INDEX runs_expired ON runs (ended) WHERE expired = 1;

CREATE TABLE rows (
	run      INTEGER NOT NULL,
	seq      INTEGER NOT NULL,
	epoch    INTEGER NOT NULL,
	type     TEXT NOT NULL,
	created  INTEGER NOT NULL,
	terminal INTEGER NOT NULL,
	sum      INTEGER NOT NULL, -- CRC-32C of the row
	payload  BLOB NOT NULL,    -- JSON
	PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE marks (
	run      INTEGER NOT NULL,
	producer TEXT NOT NULL,
	epoch    INTEGER NOT NULL,
	seq      INTEGER NOT NULL, -- in the producer's numbering
	last     INTEGER NOT NULL, -- in the run's
	PRIMARY KEY (run, producer)
) STRICT, WITHOUT ROWID;

-- Keys of runs that expired or were deleted and whose rows and marks are not all removed yet.
CREATE TABLE swept (run INTEGER PRIMARY KEY) STRICT;

CREATE TABLE state (
	space TEXT NOT NULL,
	key   TEXT NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
`}

// purpose is what connections are for.
type purpose string

// FULL syncs the log at each commit. The file can shrink (auto_vacuum), and so does a log that grew while a long read kept
// it from being written back.
const (
	forWriting purpose = "_auto_vacuum=INCREMENTAL&_journal_mode=WAL&_synchronous=FULL&_busy_timeout=5000&_dqs=0" +
		"&_pragma=wal_autocheckpoint(2000)&_pragma=journal_size_limit(33554432)&_pragma=cache_size(-16384)"
	forReading purpose = "_query_only=1&_busy_timeout=5000&_dqs=0"
)

// connections are a pool of connections to the file: of one, until it is told otherwise. No connection is made yet.
func connections(file string, p purpose) *sql.DB {
	file = filepath.ToSlash(file)
	if !strings.HasPrefix(file, "/") {
		file = "/" + file // C:/…
	}
	pool, _ := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: string(p)}).String()) // looks at the driver's name alone
	pool.SetMaxOpenConns(1)
	return pool
}

// touch makes the file when it is not there, and keeps others from reading it: SQLite gives its log the same rights. It
// fails when the file cannot be written.
func touch(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(0o600)
}

// migrate brings the file to the newest version.
func migrate(ctx context.Context, conn *sql.Conn) error {
	var version, tables, ours int
	err := conn.QueryRowContext(ctx, `SELECT user_version, (SELECT count(*) FROM sqlite_master),
		(SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'swept', 'state')) FROM pragma_user_version`).Scan(&version, &tables, &ours)
	switch {
	case err != nil:
		return err
	case version < 0 || version >= 1<<16 || ours > 0 && version == 0:
		return fmt.Errorf("%w: its version is %d", errDamaged, version)
	case version > len(migrations):
		return fmt.Errorf("%w (its version is %d, this hub knows %d)", ErrNewer, version, len(migrations))
	case version == 0 && tables > 0:
		return ErrOthers
	}
	for v := version; v < len(migrations); v++ {
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", migrations[v], v+1)
		if _, err := conn.ExecContext(ctx, script); err != nil {
			return fmt.Errorf("bring it from version %d to %d: %w", v, v+1, err)
		}
	}
	return nil
}
