package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hermes-hub/admin"
	"hermes-hub/admin/hub"
	"hermes-hub/configs"
	"hermes-hub/quota/probe"
	"hermes-hub/router"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// picture is the one picture of the hub that its operators see: what it is collected from, who keeps it up to date, and the
// numbers that the hub counts and measures of itself.
type picture struct {
	router    *router.Router
	accounts  *accounts
	store     *hub.Store
	scheduler *hub.Scheduler
	window    *telemetry.Window
	sampler   *host.Sampler
	log       *slog.Logger
}

// openPicture puts the picture together from what was kept. db may be nil: numbers and calls are then forgotten with the
// process.
func openPicture(ctx context.Context, r *router.Router, accounts *accounts, db *sqlitestore.DB, log *slog.Logger) *picture {
	p := &picture{router: r, accounts: accounts, sampler: host.New(host.Options{Logger: log}), log: log}
	o := telemetry.WindowOptions{Labels: labels(r.Snapshot().Table), Logger: log}
	if db != nil {
		o.Store = rollups{db.Space("telemetry")}
	}
	p.window = telemetry.NewWindow(o)
	if _, err := p.window.Restore(ctx); err != nil {
		log.Error("the calls of the last day are lost to telemetry", "error", err)
	}
	p.store = hub.NewStore(ctx, hub.StoreOptions{Collect: p.collect, Measure: p.measure, Sequence: openSequence(ctx, db, log), Logger: log})
	p.scheduler = hub.NewScheduler(hub.SchedulerOptions{Store: p.store, Accounts: p.list, Look: p.look, Logger: log})
	return p
}

// openSequence is what numbers the pictures. One whose last numbers cannot be read begins anew, under another epoch.
func openSequence(ctx context.Context, db *sqlitestore.DB, log *slog.Logger) hub.Sequence {
	o := hub.CounterOptions{NewEpoch: newEpoch, Logger: log}
	if db != nil {
		o.Keep = db.Space("snapshot")
	}
	counter, err := hub.OpenCounter(ctx, o)
	if err != nil {
		log.Error("the snapshot's numbers begin anew", "error", err)
		o.Keep = nil
		counter, _ = hub.OpenCounter(ctx, o) // what keeps nothing has nothing to fail
	}
	return counter
}

// newEpoch names a life of the snapshot's numbers.
func newEpoch() string {
	var id [6]byte
	rand.Read(id[:]) //nolint:errcheck // never fails
	return hex.EncodeToString(id[:])
}

// collect gathers what is known at this moment. It waits for nobody.
func (p *picture) collect(context.Context) hub.Sources {
	s := p.router.Snapshot()
	held := s.Occupancy()
	n := len(s.Table.Profiles)
	src := hub.Sources{
		Router: s, Identities: make(map[string]hub.Identity, n), Looks: make(map[string]hub.Look, n), ActiveCalls: make(map[string]int, n),
		Sessions: p.router.Sessions(),
	}
	for i, profile := range s.Table.Profiles {
		src.ActiveCalls[profile.ID] = held.Held(i)
		id := p.accounts.keyring.Identity(profile.ID)
		src.Identities[profile.ID] = hub.Identity{
			Email: id.Email, AccountID: id.Key(), Plan: id.Plan, PlanSource: string(id.PlanSource), State: hub.AuthState(id.State),
		}
		if look, ok := p.accounts.prober.Last(profile.ID); ok {
			src.Looks[profile.ID] = hub.Look{
				Outcome: hub.LookOutcome(look.Outcome), At: look.TriedAt, Models: look.Models, Plan: look.Plan,
				UnavailableRU: look.UnavailableRU, UnavailableEN: look.UnavailableEN,
			}
		}
	}
	return src
}

// measure is what the hub counts and measures of itself.
func (p *picture) measure(context.Context) (*telemetry.Breakdown, *host.Metrics) {
	calls, machine := p.calls(telemetry.Kept, telemetry.Filter{}), p.sampler.Metrics()
	return &calls, &machine
}

func (p *picture) calls(window time.Duration, f telemetry.Filter) telemetry.Breakdown {
	return p.window.Breakdown(time.Now(), window, f)
}

// list is the accounts that can be looked at.
func (p *picture) list() []hub.Account {
	var all []hub.Account
	for _, profile := range p.router.Snapshot().Table.Profiles {
		if profile.Enabled {
			all = append(all, hub.Account{Profile: profile.ID, Provider: profile.Provider.ID})
		}
	}
	return all
}

// look asks a provider about an account. What an operator wants to know is asked now; for the rest, a look that stands is as
// good, and spares the provider. A provider that says why it tells nothing has answered.
func (p *picture) look(ctx context.Context, profile string, depth hub.Depth) error {
	r, err := p.accounts.prober.Refresh(ctx, profile, depth == hub.DepthAsked)
	switch {
	case errors.Is(err, probe.ErrUnknownProfile): // the file says that it is not to be probed, or it has just gone
		return nil
	case err != nil:
		return err
	case r.Outcome == probe.Failed:
		return r.Err
	}
	return nil
}

// openPicture puts what operators have switched in force, and the picture over everything.
func (a *app) openPicture(ctx context.Context, cfg *configs.Config) error {
	a.switches = &switches{log: a.log}
	if a.books.db != nil {
		a.switches.keep = a.books.db.Space("switches")
	}
	a.switches.restore(ctx)
	next, err := a.switches.over(ctx, cfg, a.switches.set)
	if err != nil {
		return err
	}
	a.picture = openPicture(ctx, a.router, a.accounts, a.books.db, a.log)
	a.accounts.told, a.trails.Seq = a.picture.credentialChanged, a.picture.seq
	if next == cfg {
		return nil
	}
	a.router.Swap(next.Table())
	a.cfg.Store(next)
	return a.accounts.configure(next)
}

// touch tells the picture, once there is one, that something has changed.
func (a *app) touch() {
	if a.picture != nil {
		a.picture.store.Touch()
	}
}

// credentialChanged tells that an account has another credential, or none that is good any more.
func (p *picture) credentialChanged(profile string) {
	_ = p.store.CredentialChanged(context.Background(), profile) // it has told the log, and the next look tries again
}

// seq is that of the newest picture.
func (p *picture) seq() uint64 { return p.store.Current().Stamp().Seq }

// reload takes over what a reload may change.
func (p *picture) reload(t *router.Table) {
	p.window.Relabel(labels(t))
	p.store.Touch()
}

// run keeps the picture up to date until ctx ends. The error is that of what could not be saved at the end.
func (p *picture) run(ctx context.Context) error {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { p.sampler.Run(ctx) })
	errs := make(chan error, 3)
	for _, keep := range []func(context.Context) error{p.window.Run, p.store.Run, p.scheduler.Run} {
		beside.Go(func() { errs <- keep(ctx) })
	}
	return errors.Join(<-errs, <-errs, <-errs)
}

// rollups are the minutes of telemetry in the database.
type rollups struct{ *sqlitestore.Space }

// All returns what is there.
func (r rollups) All(ctx context.Context) (map[string][]byte, error) {
	items, err := r.Space.All(ctx)
	values := make(map[string][]byte, len(items))
	for _, i := range items {
		values[i.Key] = i.Value
	}
	return values, err
}

// shown is the picture as the admin plane shows it.
func (a *app) shown() *admin.Picture {
	return &admin.Picture{Store: a.picture.store, Calls: a.picture.calls, Host: a.picture.sampler.Metrics, Accounts: (*operations)(a)}
}
