package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"hermes-hub/admin"
	"hermes-hub/configs"
	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/redact"
	"hermes-hub/runs/redisstore"
	"hermes-hub/runs/runtime"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/telemetry"
)

// databaseFile is the database's name in the data dir.
const databaseFile = "hub.db"

// books are what the hub keeps of runs, what executes them, and the routes by which they are seen. One goroutine, run, keeps
// them; what they were told is stored when it returns.
type books struct {
	db       *sqlitestore.DB       // nil: the data dir takes no database
	redis    redis.UniversalClient // nil: this hub shares nothing
	shared   *redisstore.Store     // over redis
	kind     string                // of the store of runs: sqlite, redis or memory
	journal  *runs.Journal
	executor *runtime.Executor
	others   *sharedExecutor // with the executors of those that share the store; nil: nobody does
	instance string          // this process among those that share the store
	api      *httpapi.API
	calls    *callRecorder
	inner    runtime.Caller              // this hub's own routes
	settle   func(context.Context) error // brings to calls what plain calls have left so far
	redactor *redact.Redactor
	metrics  *telemetry.JournalMetrics
	streams  func() int // how many follow the event bus
	log      *slog.Logger

	retention atomic.Int64  // of ended runs, a time.Duration; a reload may change it
	retained  chan struct{} // a note that it has changed
	keyed     atomic.Bool   // clients need a key; a reload may change it

	ending, ended chan struct{} // see endRuns
}

// openBooks opens the stores and puts journal, executor and routes over them. Nothing goes on before run.
func openBooks(ctx context.Context, cfg *configs.Config, calls runtime.Caller, r prometheus.Registerer, log *slog.Logger) (*books, error) {
	b := &books{
		log: log, inner: calls, redactor: redact.New(secretsOf(cfg)), retained: make(chan struct{}, 1),
		ending: make(chan struct{}), ended: make(chan struct{}),
	}
	b.retention.Store(int64(cfg.Journal.Retention))
	b.keyed.Store(len(cfg.Proxy.Keys) > 0)
	b.instance = newInstance()
	store, err := b.openStore(ctx, cfg)
	if err != nil {
		return nil, err
	}
	b.metrics = telemetry.NewJournalMetrics(r, b.state)
	o := runs.Options{
		Store: timed{store, b.metrics}, Logger: log, Instance: b.instance, MaxEventBytes: int(cfg.Journal.MaxEventBytes),
		Redact: func(_ runs.Type, payload json.RawMessage) json.RawMessage { return b.redactor.JSON(payload) }, Hold: b.redactor.Hold,
	}
	if b.shared != nil {
		o.Poll, o.Resend = time.Second, true
	}
	b.journal = runs.New(o)
	runtimes, err := runtimesOf(cfg, calls, b.journal, log)
	if err != nil {
		b.close()
		return nil, err
	}
	b.executor = runtime.New(runtime.Options{
		Journal: b.journal, Runtimes: runtimes, Default: cfg.Runs.DefaultRuntime,
		Instance: b.instance, Shared: b.shared != nil, Logger: log,
	})
	executor := httpapi.Executor(b.executor)
	if b.shared != nil {
		b.others = &sharedExecutor{b.executor, b.journal, b.shared}
		executor = b.others
	}
	b.api = httpapi.New(httpapi.Options{
		Journal: b.journal, Executor: executor, SessionHeaders: cfg.Proxy.SessionHeaders, Content: runs.Content(cfg.Journal.Content),
		MaxBody: cfg.Proxy.MaxBodyBytes, Logger: log, Await: b.await,
		Capabilities: func() httpapi.Capabilities { return httpapi.Capabilities{AuthRequired: b.keyed.Load()} },
	})
	b.calls = newCallRecorder(b.journal, b.redactor.Text, log)
	return b, nil
}

// newInstance names this process among those that share a store, now or later.
func newInstance() string {
	var id [8]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	return "hub_" + hex.EncodeToString(id[:])
}

// openStore opens the database of the data dir, and Redis where one is configured, and returns the store of runs. A data dir
// that cannot take a database leaves a hub that works and forgets its runs with the process, and says so.
func (b *books) openStore(ctx context.Context, cfg *configs.Config) (runs.Store, error) {
	var err error
	b.db, err = sqlitestore.Open(ctx, filepath.Join(cfg.Server.DataDir, databaseFile), sqlitestore.Options{Logger: b.log})
	switch {
	case errors.Is(err, sqlitestore.ErrInUse), errors.Is(err, sqlitestore.ErrNewer), errors.Is(err, sqlitestore.ErrOthers):
		return nil, fmt.Errorf("server.data_dir %s: %w", cfg.Server.DataDir, err)
	case err != nil:
		b.log.Error("the data dir takes no database: runs are forgotten when the hub stops", "server.data_dir", cfg.Server.DataDir, "error", err)
	}
	if !cfg.Server.RedisURL.Empty() {
		if b.redis, err = newRedis(cfg.Server.RedisURL.Reveal(), b.log); err != nil {
			b.close()
			return nil, err
		}
		b.shared = redisstore.New(b.redis, redisstore.Options{Instance: b.instance, Retention: cfg.Journal.Retention})
		b.kind = "redis"
		return b.shared, nil
	}
	if b.db == nil {
		b.kind = "memory"
		return new(memstore.Store), nil
	}
	b.kind = "sqlite"
	return b.db.Runs(), nil
}

// runtimesOf are the programs that execute runs, by name.
func runtimesOf(cfg *configs.Config, calls runtime.Caller, j *runs.Journal, log *slog.Logger) (map[string]runtime.Runtime, error) {
	by := map[string]runtime.Runtime{"completion": runtime.NewCompletion(calls, j)}
	for _, r := range cfg.Runs.Runtimes {
		hermes, err := runtime.NewHermes(runtime.HermesOptions{Name: r.Name, BaseURL: r.BaseURL, APIKey: r.APIKey.Reveal, Logger: log})
		if err != nil {
			return nil, fmt.Errorf("runs.runtimes.%s: %w", r.Name, err)
		}
		by[r.Name] = hermes
	}
	return by, nil
}

// timed is a store whose commits are measured.
type timed struct {
	runs.Store
	metrics *telemetry.JournalMetrics
}

func (t timed) Append(ctx context.Context, batches []runs.Batch) ([]runs.Answer, error) {
	begun := time.Now()
	answers, err := t.Store.Append(ctx, batches)
	t.metrics.Appended(time.Since(begun))
	return answers, err
}

// awaitFor is how long somebody who asks for a run waits for what is on its way into the store.
const awaitFor = time.Second

// await has everything stored that happened so far. A store that does not take it is no reason to answer nothing.
func (b *books) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, awaitFor)
	defer cancel()
	if err := b.settle(ctx); err == nil {
		_ = b.journal.Flush(ctx) // the journal tells of its own troubles
	}
}

// reload takes over what a reload may change. Runs that go on stay with the runtime that they have.
func (b *books) reload(cfg *configs.Config) error {
	b.redactor.Know(secretsOf(cfg))
	b.keyed.Store(len(cfg.Proxy.Keys) > 0)
	if b.retention.Swap(int64(cfg.Journal.Retention)) != int64(cfg.Journal.Retention) {
		select {
		case b.retained <- struct{}{}:
		default:
		}
	}
	runtimes, err := runtimesOf(cfg, b.inner, b.journal, b.log)
	if err != nil {
		return err
	}
	b.executor.Use(runtimes, cfg.Runs.DefaultRuntime)
	return nil
}

// state is what the journal's series show.
func (b *books) state() telemetry.JournalState {
	s, o := b.journal.Stats(), b.api.Observers()
	return telemetry.JournalState{
		Stored: s.Stored, Dropped: s.Dropped, Refused: s.Refused, Degraded: s.Degraded, Active: b.executor.Active(),
		Subscribers: map[string]int{"run": int(o.Runs), "session": int(o.Sessions), "response": int(o.Responses), "events": b.streams()},
		Stores:      map[string]bool{b.kind: !s.Degraded},
	}
}

// showAliveEvery is how often a hub shows that the calls that it records go on. Who is silent for a minute is taken for dead.
const showAliveEvery = 15 * time.Second

// recover goes on with the runs that an earlier process began, or ends them.
func (b *books) recover(ctx context.Context) {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		err := b.executor.Recover(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		b.log.Warn("the runs of the last start wait for the store", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Runs past their retention are removed when a tenth of it has passed, within these bounds.
const (
	expireSoonest = time.Second
	expireLatest  = 10 * time.Minute
)

// run executes, commits, listens and removes until ctx ends: first the executions are told, then what they said last is
// committed.
func (b *books) run(ctx context.Context) error {
	writing, stopWriting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWriting()
	var beside sync.WaitGroup
	var commitErr error
	beside.Go(func() { commitErr = b.journal.Run(writing) })
	if b.shared != nil {
		beside.Go(func() { b.shared.Listen(writing, b.journal.Ring) })
		beside.Go(func() { b.shared.Answer(ctx, b.others.grant) })
		beside.Go(func() { b.warnOfRedis(ctx) }) // a Redis that hangs keeps no run from beginning
	}
	beside.Go(func() { b.recover(ctx) })
	beside.Go(func() { b.calls.hold(ctx, showAliveEvery) })
	beside.Go(func() { b.expire(ctx) })
	err := b.execute(ctx)
	stopWriting()
	beside.Wait()
	if errors.Is(commitErr, context.Canceled) {
		commitErr = nil
	}
	return errors.Join(err, commitErr)
}

// execute executes runs until ctx ends or endRuns is called.
func (b *books) execute(ctx context.Context) error {
	defer close(b.ended)
	executing, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-b.ending:
			stop()
		case <-executing.Done():
		}
	})
	defer watch.Wait()
	defer stop()
	return b.executor.Run(executing)
}

// endRuns ends what is executed, and waits for it, before the calls that runs make are cut: a run that is told why it ends
// does not blame an account. It is called once, while run goes on.
func (b *books) endRuns() {
	close(b.ending)
	<-b.ended
}

// warnOfRedis says what of Redis' settings may lose runs.
func (b *books) warnOfRedis(ctx context.Context) {
	warnings, err := b.shared.Check(ctx)
	if err != nil {
		b.log.Warn("Redis does not answer: runs are kept in memory until it does", "error", err)
	}
	for _, w := range warnings {
		b.log.Warn("Redis may lose runs", "why", w)
	}
}

func (b *books) expire(ctx context.Context) {
	for {
		retention := time.Duration(b.retention.Load())
		n, err := b.journal.Expire(ctx, retention)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			b.log.Warn("runs past their retention were not removed", "error", err)
		case n > 0:
			b.log.Info("removed runs past their retention", "runs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-b.retained:
		case <-time.After(min(max(retention/10, expireSoonest), expireLatest)):
		}
	}
}

// check tells readiness of the store. One that does not take rows makes no hub unready: it serves, and says what it lacks.
func (b *books) check() admin.Check {
	c := admin.Check{Name: "store", OK: true, Detail: b.kind}
	switch {
	case b.journal.Stats().Degraded:
		c.Detail = b.kind + ": degraded, rows of runs wait in memory"
	case b.kind == "memory":
		c.Detail = "memory: degraded, runs are forgotten when the hub stops"
	}
	return c
}

// close gives up the stores.
func (b *books) close() {
	if b.redis != nil {
		_ = b.redis.Close() // nothing is under way
	}
	if b.db != nil {
		if err := b.db.Close(); err != nil {
			b.log.Warn("the database was not closed well", "error", err)
		}
	}
}
