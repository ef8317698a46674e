package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// What one transaction takes at most, so that no writer waits long for the others.
const (
	mostJobs  = 256
	mostBytes = 4 << 20
)

// job is one call's part of a transaction.
type job struct {
	ctx  context.Context
	size int // bytes that it writes, about
	do   func(*tx) error
	err  error
	done chan error
}

// writer is the only one who writes to the file.
type writer struct {
	pool    *sql.DB
	jobs    chan *job
	closing chan struct{}
	ended   sync.WaitGroup

	session *session // nil before the first transaction, and after one that failed
}

func newWriter(pool *sql.DB) *writer {
	return &writer{pool: pool, jobs: make(chan *job), closing: make(chan struct{})}
}

// submit has do done in a transaction and returns when that is synced. do is called at most once, not by this goroutine,
// and perhaps after submit has returned ctx's error; its error undoes what all others of the transaction did.
func (w *writer) submit(ctx context.Context, size int, do func(*tx) error) error {
	j := &job{ctx: ctx, size: size, do: do, done: make(chan error, 1)}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return ErrClosed
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run commits until stop. Whoever waits while a transaction is synced is in the next one.
func (w *writer) run() {
	for {
		select {
		case j := <-w.jobs:
			w.commit(w.gather(j))
		case <-w.closing:
			return
		}
	}
}

// gather takes in who waits.
func (w *writer) gather(first *job) []*job {
	group, size := []*job{first}, first.size
	for len(group) < mostJobs && size < mostBytes {
		select {
		case j := <-w.jobs:
			group, size = append(group, j), size+j.size
		default:
			return group
		}
	}
	return group
}

// commit does the jobs in one transaction and answers them.
func (w *writer) commit(group []*job) {
	// A caller who goes does not take the others along.
	err := w.try(context.WithoutCancel(group[0].ctx), group)
	if err != nil {
		err = fmt.Errorf("write to the database: %w", err)
		w.reset()
	}
	for _, j := range group {
		j.done <- cmp.Or(j.err, err)
	}
}

func (w *writer) try(ctx context.Context, group []*job) error {
	t, err := w.begin(ctx)
	if err != nil {
		return err
	}
	for _, j := range group {
		if j.err = context.Cause(j.ctx); j.err != nil {
			continue
		}
		if err := j.do(t); err != nil {
			return err
		}
	}
	return t.commit()
}

func (w *writer) begin(ctx context.Context) (*tx, error) {
	if w.session == nil {
		s, err := newSession(ctx, w.pool)
		if err != nil {
			return nil, err
		}
		w.session = s
	}
	if _, err := w.session.begin.ExecContext(ctx); err != nil {
		return nil, err
	}
	return &tx{session: w.session, ctx: ctx}, nil
}

// reset forgets the connection, and with it a transaction that is not committed.
func (w *writer) reset() {
	if w.session != nil {
		w.session.cut()
		w.session = nil
	}
}

// stop waits for the transaction that is being committed; who waits behind it gets ErrClosed.
func (w *writer) stop() error {
	close(w.closing)
	w.ended.Wait()
	w.reset()
	return nil
}
