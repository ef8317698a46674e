package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// Depth is how thorough a look at an account is.
type Depth uint8

// The depths.
const (
	DepthCurrent Depth = iota // what is left
	DepthFull                 // its models and its plan too
	DepthAsked                // likewise, and now: somebody wants to know
)

// Account is one account that is to be looked at.
type Account struct{ Profile, Provider string }

// SchedulerOptions are what a Scheduler works with.
type SchedulerOptions struct {
	Store *Store
	// Accounts are those of now, in any order.
	Accounts func() []Account
	// Look asks a provider about an account. What it learns it puts where the store collects from. It returns soon after its
	// context has ended. The error is shown to operators: it holds no secret.
	Look func(ctx context.Context, profile string, depth Depth) error
	// CurrentEvery and FullEvery are how often each provider's accounts are looked at; 0 = 120 s and 600 s.
	CurrentEvery, FullEvery time.Duration
	// Within bounds the looks of one refresh; 0 = 20 s.
	Within time.Duration
	Logger *slog.Logger // nil = silence
}

// Scheduler refreshes: each provider's accounts by themselves, so that none waits for another's, and all on demand. The same
// refresh asked for twice at once is made once.
type Scheduler struct {
	store    *Store
	accounts func() []Account
	look     func(context.Context, string, Depth) error
	every    [2]time.Duration // by depth
	within   time.Duration
	log      *slog.Logger

	mu      sync.Mutex
	stopped bool
	flights map[string]*flight // by key
	flying  sync.WaitGroup
}

// NewScheduler is a scheduler that does nothing by itself until Run.
func NewScheduler(o SchedulerOptions) *Scheduler {
	return &Scheduler{
		store: o.Store, accounts: o.Accounts, look: o.Look, within: cmp.Or(o.Within, 20*time.Second),
		every: [2]time.Duration{DepthCurrent: cmp.Or(o.CurrentEvery, 120*time.Second), DepthFull: cmp.Or(o.FullEvery, 600*time.Second)},
		log:   cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), flights: make(map[string]*flight),
	}
}

// RefreshAll looks at every account and publishes what was found out. It waits for the end. A provider that fails is told by
// a REFRESH_FAILED of its own and keeps no other from being published.
func (s *Scheduler) RefreshAll(ctx context.Context) error {
	return s.refresh(ctx, KeyAll, DepthAsked, func(Account) bool { return true })
}

// RefreshProvider looks at every account of a provider and publishes what was found out. It waits for the end.
func (s *Scheduler) RefreshProvider(ctx context.Context, provider string, depth Depth) error {
	return s.refresh(ctx, "provider:"+provider, depth, func(a Account) bool { return a.Provider == provider })
}

// RefreshAccount looks at one account and publishes what was found out. It waits for the end.
func (s *Scheduler) RefreshAccount(ctx context.Context, profile string) error {
	return s.refresh(ctx, "account:"+profile, DepthAsked, func(a Account) bool { return a.Profile == profile })
}

func (s *Scheduler) refresh(ctx context.Context, key string, depth Depth, wanted func(Account) bool) error {
	f, err := s.join(ctx, key, func(ctx context.Context) error { return s.run(ctx, key, depth, wanted) })
	if err != nil {
		return err
	}
	return f.wait(ctx)
}

// run is one refresh. What its looks found out is published also when it is late, or when they failed: why there is nothing
// newer is news.
func (s *Scheduler) run(ctx context.Context, key string, depth Depth, wanted func(Account) bool) error {
	ticket := s.store.Begin(ctx, key)
	accounts := slices.DeleteFunc(slices.Clone(s.accounts()), func(a Account) bool { return !wanted(a) })
	failed := s.lookAt(ctx, accounts, depth)
	if key == KeyAll {
		for _, provider := range failed {
			s.store.Fail(ctx, Ticket{Key: "provider:" + provider.name, Seq: ticket.Seq}, provider.err)
		}
	} else if len(failed) > 0 {
		s.log.Warn("refresh failed", "key", key, "error", failed[0].err)
		s.store.Fail(ctx, ticket, failed[0].err)
		return errors.Join(failed[0].err, s.store.Sync(ctx))
	}
	err := s.store.Complete(ctx, ticket)
	if errors.Is(err, ErrLate) {
		return s.store.Sync(ctx)
	}
	return err
}

// failure is a provider none of whose accounts could be looked at.
type failure struct {
	name string
	err  error
}

// lookAt looks at accounts side by side, and returns the providers of which every look has failed, by name.
func (s *Scheduler) lookAt(ctx context.Context, accounts []Account, depth Depth) []failure {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	errs := make([]error, len(accounts))
	var looks sync.WaitGroup
	for i, a := range accounts {
		looks.Go(func() { errs[i] = s.look(ctx, a.Profile, depth) })
	}
	looks.Wait()
	by := make(map[string][]error)
	for i, a := range accounts {
		by[a.Provider] = append(by[a.Provider], errs[i])
	}
	var failed []failure
	for _, provider := range slices.Sorted(maps.Keys(by)) {
		if !slices.Contains(by[provider], nil) {
			failed = append(failed, failure{provider, oneOf(by[provider])})
		}
	}
	return failed
}

// oneOf tells one of several errors, for they are alike.
func oneOf(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return fmt.Errorf("%w (and %d more accounts)", errs[0], len(errs)-1)
}

// Run refreshes everything, then each provider in its turn, until ctx ends; it then waits for what is under way. A Scheduler
// runs once.
func (s *Scheduler) Run(ctx context.Context) error {
	defer s.stop()
	if err := s.RefreshAll(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("first refresh", "error", err)
	}
	due := make(map[string]*turns)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-timer.C:
			timer.Reset(s.startDue(ctx, now, due))
		}
	}
}

// tick is how often it is looked which provider's turn it is: providers come and go with the configuration.
const tick = 5 * time.Second

// startDue starts what is due, and says when to look again. A provider that is new has its turns spread over the interval, by
// its name, so that they do not all come at once. One whose refresh is still under way is not started twice.
func (s *Scheduler) startDue(ctx context.Context, now time.Time, due map[string]*turns) time.Duration {
	for _, a := range s.accounts() {
		t := due[a.Provider]
		if t == nil {
			t = &turns{}
			for depth, every := range s.every {
				t[depth] = now.Add(every - spread(a.Provider, every/4))
			}
			due[a.Provider] = t
		}
		if depth, ok := t.take(now, s.every); ok {
			s.start(ctx, a.Provider, depth)
		}
	}
	return tick
}

// turns are when a provider is to be refreshed next, by depth.
type turns [2]time.Time

// take is the refresh that is due, if one is. A full one is also the other.
func (t *turns) take(now time.Time, every [2]time.Duration) (depth Depth, ok bool) {
	switch {
	case !now.Before(t[DepthFull]):
		t[DepthFull], t[DepthCurrent] = now.Add(every[DepthFull]), now.Add(every[DepthCurrent])
		return DepthFull, true
	case !now.Before(t[DepthCurrent]):
		t[DepthCurrent] = now.Add(every[DepthCurrent])
		return DepthCurrent, true
	}
	return DepthCurrent, false
}

// start begins a provider's refresh and does not wait for it: it tells by itself how it ends.
func (s *Scheduler) start(ctx context.Context, provider string, depth Depth) {
	key := "provider:" + provider
	_, _ = s.join(ctx, key, func(ctx context.Context) error {
		return s.run(ctx, key, depth, func(a Account) bool { return a.Provider == provider })
	})
}

// spread is a part of a time that depends on a name alone.
func spread(name string, of time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // a hash takes everything
	return time.Duration(float64(of) * float64(h.Sum32()) / (1 << 32))
}
