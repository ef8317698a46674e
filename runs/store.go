package runs

import (
	"context"
	"errors"
	"time"
)

// Store keeps the rows of runs. It is the only state: Journal adds batching, bounds and bells on top of it.
//
// Every method may be called from many goroutines, and from many processes when the store is shared. What a method returned
// without an error has happened for all of them and survives whatever the store promises to survive. After an error of
// Append nobody knows which of the batches were stored; the caller sends them again as they were, and those that were
// stored answer Duplicate.
//
// Rows and payloads that were handed in or out are shared: neither side changes them afterwards.
type Store interface {
	// Append answers each batch by itself, in order, as Decide says: a batch is stored whole or not at all, and a refused
	// one hinders no other. Batches of one call are one commit (one fsync, one pipeline). Rows of a batch get contiguous
	// seqs, whoever else is writing. Answers are as many as batches.
	Append(ctx context.Context, batches []Batch) ([]Answer, error)

	// Read returns the run's head and its rows after the seq `after`, oldest first, from one consistent look: no row of
	// the page is beyond the head, and a page that is shorter than the limit ends at the head. At most limit rows, and at
	// most about maxBytes of payload but always one row when limit allows it; limit 0 reads the head alone. ErrUnknownRun
	// when there is neither run nor tombstone; a tombstone is a Head with Expired, without rows.
	Read(ctx context.Context, runID string, after int64, limit, maxBytes int) (Page, error)

	// List returns heads, newest first: by CreatedAt, then by id, both descending. Tombstones are not listed.
	List(ctx context.Context, f Filter) ([]Head, error)

	// Expire removes the rows of runs that ended before `ended`, leaves their heads as tombstones, and removes tombstones
	// of runs that ended before `forgotten`. Runs that have not ended never expire. It returns how many runs lost rows.
	Expire(ctx context.Context, ended, forgotten time.Time) (int, error)

	// DeleteSession removes everything of a session's runs, tombstones included, and returns how many they were. owner is
	// the key that the runs belong to. A run of that id may begin anew, from seq 1.
	DeleteSession(ctx context.Context, owner, sessionID string) (int, error)
}

// ErrUnknownRun is a run that never was, was deleted, or is forgotten.
var ErrUnknownRun = errors.New("no such run")

// Head is what a store knows of a run without reading its rows.
type Head struct {
	RunID     string
	SessionID string
	Owner     string // name of the client key that began the run, "" when none is needed
	CreatedAt time.Time

	First    int64 // seq of the oldest row that is still there, 0 when there is none
	Last     int64 // seq of the newest row, 0 before the first
	Epoch    int64
	JumpFrom int64 // the last seq before the newest epoch began
	JumpTo   int64 // that epoch's rows begin at JumpTo+1; 0: there was no jump

	Fence  int64     // epoch of the run's executor, 0 before it has one
	Holder string    // producer that holds the fence
	HeldAt time.Time // when it last wrote or held

	EndSeq  int64 // seq of the terminal row, 0 before it
	End     TerminalState
	EndedAt time.Time
	Closed  bool  // the closing row is there: nothing will follow
	Expired bool  // a tombstone
	Rows    int64 // ever stored
	Bytes   int64 // of their payloads
}

// Active reports whether the run has not ended.
func (h Head) Active() bool { return h.EndSeq == 0 && !h.Expired }

// LastEventID is the id of the newest row, "" before the first.
func (h Head) LastEventID() string {
	if h.Last == 0 {
		return ""
	}
	return eventID(h.RunID, h.Last)
}

// Page is a run's head and rows that follow one another.
type Page struct {
	Head Head
	Rows []Event
}

// Filter says which runs to list.
type Filter struct {
	Owner     string // "": of every owner
	SessionID string // "": of every session
	Active    bool   // only runs that have not ended
	After     Head   // the last of the page before, of which CreatedAt and RunID count; zero: from the newest
	Limit     int    // at most so many; 0: all
}

// Origin makes a run.
type Origin struct {
	SessionID string
	Owner     string
	CreatedAt time.Time
}

// AnySeq is a Batch's Expect that expects nothing.
const AnySeq = -1

// Batch is what one producer appends to one run in one step.
type Batch struct {
	RunID string
	// Begin makes the run when it is not there yet, and is ignored otherwise. Without it a batch cannot bring back a run
	// that was deleted in the meantime.
	Begin *Origin

	// A producer numbers its rows from 1 in each of its epochs, and so may send a batch as often as it likes.
	Producer string
	Epoch    int64
	FirstSeq int64 // of Rows[0] in the producer's own numbering

	// Executor is set by the one producer that runs the run: its epoch is the fence. A higher one takes the run over and
	// shuts out the one before. A batch without rows does only that, or shows that the executor is alive.
	Executor bool
	At       time.Time // when the batch was made: Head.HeldAt

	// Expect is the seq that the run's newest row must have, or AnySeq. When it has another: Stale, or with Heal (rows that
	// had been acknowledged are lost) a new epoch whose seqs no row ever had.
	Expect int64
	Heal   bool

	Rows []Event // Type, CreatedAt, Terminal, Payload; the rest is the store's to fill in
}

// Mark is how far a producer has come in one run. The zero Mark is that of a producer that wrote nothing.
type Mark struct {
	Epoch int64
	Seq   int64 // of its newest row, in its own numbering
	Last  int64 // of that row, in the run's
}
