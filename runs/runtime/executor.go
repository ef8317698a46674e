package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/runs"
)

// Options make an Executor. Journal is needed; zero values are the defaults.
type Options struct {
	Journal  *runs.Journal
	Runtimes map[string]Runtime // by the name that orders call them by, and that stands in Run.Runtime
	Default  string             // of an order that names none
	Instance string             // the Journal's

	// Shared says that other hubs use the store: their runs are left alone while they show that they are alive.
	Shared bool

	// CancelGrace is how long a cancelled run may take to end by itself, and how long a successor waits for it; 10 s.
	CancelGrace time.Duration

	Logger *slog.Logger
}

const (
	holdEvery    = 15 * time.Second
	sweepEvery   = 30 * time.Second
	staleAfter   = 60 * time.Second // without a sign of life an executor is dead
	silentFor    = 6 * time.Hour    // the same of an outside runtime, which may think for long
	stopIn       = 5 * time.Second  // that executions have to return in when the hub stops
	cancelGrace  = 10 * time.Second
	resumePause  = time.Second // after the first Resume that could not find out; it doubles up to
	resumeAtMost = 30 * time.Second
	recoverIn    = 5 * time.Second // that somebody waits for a run of the last start
)

// Executor owns the runs that are going on in this process. Run must be running for it to do anything. Who else writes runs,
// as a proxied call does, shows by Journal.Hold that they are alive: one that is silent for a minute is taken for dead.
type Executor struct {
	o       Options
	now     func() time.Time
	jobs    chan func(context.Context) // to Run, which starts and waits for them
	stopped chan struct{}              // closed when Run takes no more

	menu atomic.Pointer[menu]

	born      time.Time
	recovered chan struct{} // closed when Recover has succeeded
	recovery  sync.Once

	mu   sync.Mutex
	live map[string]*live // by run id
}

// New returns an Executor.
func New(o Options) *Executor {
	if o.CancelGrace <= 0 {
		o.CancelGrace = cancelGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Executor{
		o: o, now: time.Now, jobs: make(chan func(context.Context)), stopped: make(chan struct{}),
		live: map[string]*live{},
	}
	e.born, e.recovered = e.now(), make(chan struct{})
	e.Use(o.Runtimes, o.Default)
	return e
}

// menu is what orders may ask for.
type menu struct {
	runtimes map[string]Runtime
	fallback string
}

// Use replaces the runtimes, and the one that orders mean which name none. Runs that go on stay with theirs.
func (e *Executor) Use(runtimes map[string]Runtime, fallback string) {
	e.menu.Store(&menu{runtimes, fallback})
}

// Run owns the executor's goroutines until ctx ends. Then every execution is told so (ErrStopping is the cause of its
// context's end) and has five seconds to return; an error says that some have not. The journal must outlive it: it commits
// the last rows. Run is called once.
func (e *Executor) Run(ctx context.Context) error {
	base, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var jobs sync.WaitGroup
	jobs.Go(func() { every(base, holdEvery, e.hold) })
	jobs.Go(func() { every(base, sweepEvery, e.sweep) })
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case job := <-e.jobs:
			jobs.Go(func() { job(base) })
		}
	}
	close(e.stopped)
	stop(ErrStopping)

	returned := make(chan struct{})
	go func() { jobs.Wait(); close(returned) }()
	timer := time.NewTimer(stopIn)
	defer timer.Stop()
	select {
	case <-returned:
		return nil
	case <-timer.C:
		return fmt.Errorf("stop executing runs: %d did not return within %s", e.Active(), stopIn)
	}
}

// every calls do again and again.
func every(ctx context.Context, pause time.Duration, do func(context.Context)) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do(ctx)
		}
	}
}

// wait pauses, or returns why ctx has ended.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// spawn has Run start a job in a goroutine of its own.
func (e *Executor) spawn(ctx context.Context, job func(context.Context)) error {
	select {
	case e.jobs <- job:
		return nil
	case <-e.stopped:
		return ErrStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Active is how many runs this process executes now.
func (e *Executor) Active() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.live)
}

// hold shows that this process is alive, for each of its runs.
func (e *Executor) hold(ctx context.Context) {
	if err := e.o.Journal.Hold(ctx, e.writers()...); err != nil && ctx.Err() == nil {
		e.o.Logger.Warn("the journal was not told that runs are alive", "error", err)
	}
}

// writers are those of the runs that go on here.
func (e *Executor) writers() (ws []*runs.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.live {
		ws = append(ws, l.w)
	}
	return ws
}

// over reports whether a channel is closed.
func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// runtime is the runtime of that name.
func (e *Executor) runtime(name string) (Runtime, error) {
	rt, ok := e.menu.Load().runtimes[name]
	if !ok {
		return nil, fmt.Errorf("%w: %.60q", ErrNoRuntime, name)
	}
	return rt, nil
}

// Why the context of an execution ends, besides ErrStopping.
var (
	errLost      = errors.New("the run was taken over or deleted")
	errCancelled = errors.New("the run did not end by itself when it was cancelled")
	errOver      = errors.New("the run is over")
)
