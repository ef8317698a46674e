package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Options make a Journal. Zero values are the defaults.
type Options struct {
	Store  Store
	Logger *slog.Logger

	// Instance names this process among those that share the store. It must not be that of another one that is alive.
	Instance string

	// Redact takes secrets out of a payload before anything keeps it, and returns a JSON object; nil: nothing is taken out.
	Redact func(Type, json.RawMessage) json.RawMessage

	// Hold is how many bytes at the end of a text may be the beginning of a secret, for Redact sees one delta at a time. They
	// wait for the message's next delta, or for whatever else follows; nil: nothing waits.
	Hold func(text string) int

	FlushEvery    time.Duration // commits begin at most so often; 5 ms
	FlushRows     int           // so many waiting rows are committed at once; 64
	MaxEventBytes int           // payloads are cut to it, marked; 256 KiB
	MaxRunRows    int64         // beyond it only a run's lifecycle is kept; 20,000
	MaxRunBytes   int64         // the same; 16 MiB
	MaxWaiting    int           // rows of one run that wait for a commit before deltas are left out; 4096

	// Resend is for a store that may lose what it has acknowledged, as one that fails over to a replica: writers keep their
	// newest rows (4 MiB of each run, or a minute's) and send them again when the store shows that it has not got them.
	Resend bool

	// Poll is how often a subscription looks without having heard a bell, for a store in which others write too; 0: never.
	Poll time.Duration
}

func (o Options) withDefaults() Options {
	set := func(n *int, to int) {
		if *n <= 0 {
			*n = to
		}
	}
	set(&o.FlushRows, 64)
	set(&o.MaxEventBytes, 256<<10)
	set(&o.MaxWaiting, 4096)
	if o.MaxRunRows <= 0 {
		o.MaxRunRows = 20_000
	}
	if o.MaxRunBytes <= 0 {
		o.MaxRunBytes = 16 << 20
	}
	if o.FlushEvery <= 0 {
		o.FlushEvery = 5 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Journal writes and observes runs. Run is its one goroutine, which commits; it must be running for anything to be stored.
type Journal struct {
	o   Options
	now func() time.Time

	mu         sync.Mutex
	waiting    []*Writer // those with rows to commit, each once
	committing []*Writer // those whose rows are being committed
	fresh      int       // events taken in since the last commit began

	dirty  chan struct{} // a Writer waits
	urgent chan struct{} // it need not wait for others

	rooms rooms

	stored, dropped, refused, resent atomic.Int64
	degraded                         atomic.Bool
}

// New returns a Journal over a store.
func New(o Options) *Journal {
	return &Journal{
		o: o.withDefaults(), now: time.Now,
		dirty: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
		rooms: rooms{byRun: map[string]*room{}},
	}
}

// skipSealed takes a log that is sealed already for what was wanted.
func skipSealed(err error) error {
	if r, ok := errors.AsType[*Refusal](err); ok && r.Outcome == Sealed {
		return nil
	}
	return err
}

// Stats count what the journal did since it was made.
type Stats struct {
	Stored      int64 // rows
	Dropped     int64 // events that were left out: over a cap, or under pressure
	Refused     int64 // batches that a store refused
	Subscribers int   // now
	Degraded    bool  // the last commit failed
	Resent      int64 // rows that the store had acknowledged and lost, and was sent again
}

// Stats is a look at the counters.
func (j *Journal) Stats() Stats {
	return Stats{j.stored.Load(), j.dropped.Load(), j.refused.Load(), j.rooms.subscribers(), j.degraded.Load(), j.resent.Load()}
}

// ErrBadID is an id that no cursor could name.
var ErrBadID = errors.New("a run's id has 1 to 128 letters, digits, _ and -")

// ErrNothingKept is a run that is to be found again and of which nothing is to be stored.
var ErrNothingKept = errors.New("of a run with content off nothing is kept, so it cannot be found again")

// Begin starts a run and returns its writer, this instance being its executor. Nothing is stored when it returns: Sync waits
// for that. With NoStore the writer takes everything and stores nothing.
func (j *Journal) Begin(runID string, o Origin, c Content, started RunStarted) (*Writer, error) {
	if !ValidID(runID) {
		return nil, fmt.Errorf("%w: %.40q", ErrBadID, runID)
	}
	o.CreatedAt = stamp(j.now())
	w := j.writer(runID, 1, c)
	w.begin = &o
	if err := w.Append(started); err != nil {
		return nil, err
	}
	return w, nil
}

// Take takes a run over: whoever was its executor is shut out before Take returns. A Refusal says why not; of a run that is
// Sealed there is nothing to take.
func (j *Journal) Take(ctx context.Context, runID string, c Content) (*Writer, error) {
	head, err := j.Head(ctx, runID)
	if err != nil {
		return nil, err
	}
	w := j.writer(runID, head.Fence+1, c)
	w.begin = &Origin{SessionID: head.SessionID, Owner: head.Owner, CreatedAt: head.CreatedAt} // should the run be lost
	w.begun, w.last, w.ended, w.rows, w.bytes = true, head.Last, head.EndSeq != 0, head.Rows, head.Bytes
	answers, err := j.o.Store.Append(ctx, []Batch{w.batch(nil)})
	if err != nil {
		return nil, err
	}
	if err := answers[0].Err(); err != nil {
		return nil, err
	}
	w.last = answers[0].Last
	return w, nil
}

// Interrupt ends a run whose executor is gone: it takes the run over, stores the one terminal row that says so, and seals
// the log. A run that has ended is only sealed; one that is sealed is left as it is.
func (j *Journal) Interrupt(ctx context.Context, runID string) error {
	w, err := j.Take(ctx, runID, Redacted)
	if err != nil {
		return skipSealed(err)
	}
	if !w.Ended() {
		_ = w.Append(ErrorRaised{ // a refusal comes back from Sync
			Reason: "interrupted", Code: "executor_lost", Message: "The program that ran this was stopped before it ended.", Ends: true, RecoveryControl: true,
		})
	}
	_ = w.Append(RunClosed{})
	_, err = w.Sync(ctx)
	return skipSealed(err)
}

// Head is what the store knows of a run. ErrUnknownRun when there is none.
func (j *Journal) Head(ctx context.Context, runID string) (Head, error) {
	page, err := j.o.Store.Read(ctx, runID, 0, 0, 0)
	return page.Head, err
}

// Look folds a run's rows: the run object. Of a tombstone that is what its head still tells.
func (j *Journal) Look(ctx context.Context, runID string) (Run, error) {
	f, head, err := j.fold(ctx, runID)
	if head.Expired {
		return Tombstone(head), err
	}
	return f.Run(), err
}

// fold reads all of a run. Of a tombstone there is only the head.
func (j *Journal) fold(ctx context.Context, runID string) (*Fold, Head, error) {
	f := new(Fold)
	for after := int64(0); ; {
		page, err := j.o.Store.Read(ctx, runID, after, pageRows, pageBytes)
		if err != nil || page.Head.Expired || len(page.Rows) == 0 {
			return f, page.Head, err
		}
		for _, e := range page.Rows {
			f.Apply(e)
			after = e.Seq
		}
	}
}

// List is the store's.
func (j *Journal) List(ctx context.Context, f Filter) ([]Head, error) { return j.o.Store.List(ctx, f) }

// Expire is the store's: rows of runs that ended longer than retention ago go, and their tombstones a week later.
func (j *Journal) Expire(ctx context.Context, retention time.Duration) (int, error) {
	ended := j.now().Add(-retention)
	return j.o.Store.Expire(ctx, ended, ended.Add(-tombstoneFor))
}

const tombstoneFor = 7 * 24 * time.Hour

// DeleteSession is the store's. Writers of the session's runs learn by their next commit that there is nothing to write to.
func (j *Journal) DeleteSession(ctx context.Context, owner, sessionID string) (int, error) {
	return j.o.Store.DeleteSession(ctx, owner, sessionID)
}
