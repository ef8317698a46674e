package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/admin"
	"hermes-hub/configs"
	"hermes-hub/proxy"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// app is the running program: both planes over one router. newApp does everything that can fail; run serves until its
// context ends, then drains and stops what was started, in reverse order.
type app struct {
	cfg      atomic.Pointer[configs.Config] // the one in force; reload puts another in its place
	log      *slog.Logger
	router   *router.Router
	trails   *router.Trails
	ledger   *ledger
	accounts *accounts
	switches *switches
	books    *books
	picture  *picture
	proxy    *proxy.Proxy
	admin    *admin.Admin
	planes   []*plane // proxy, then admin
	reloads  *reloads // nil: there is no file to look at
	stale    atomic.Bool
	draining atomic.Bool
	serving  atomic.Bool
}

// plane is one listener with its server.
type plane struct {
	name     string
	listener net.Listener
	server   *http.Server
}

// newApp wires one straight line: state, router, telemetry, books, planes, listeners. Nothing answers yet when it returns,
// but both addresses are bound, so that a taken port is a failed start and not a surprise.
func newApp(ctx context.Context, cfg *configs.Config, log *slog.Logger) (_ *app, err error) {
	if err := makeDataDir(cfg.Server.DataDir); err != nil {
		return nil, err
	}
	a := &app{log: log, trails: &router.Trails{}}
	a.cfg.Store(cfg)
	a.router = router.New(cfg.Table(), router.Options{
		Store:    &router.FileStore{Path: filepath.Join(cfg.Server.DataDir, "router.json")},
		Logger:   log,
		OnChange: a.touch,
	})
	if err := a.router.Restore(ctx); err != nil {
		log.Warn("the accounts' state of the last run is lost; it will be learnt anew", "error", err)
	}
	if a.accounts, err = newAccounts(cfg, a.router, log); err != nil {
		return nil, err
	}
	registry := telemetry.NewRegistry()
	registry.MustRegister(telemetry.StateCollector(a.state))

	verifier, err := a.verifier(ctx, cfg)
	if err != nil {
		return nil, err
	}
	calls := &innerCalls{}
	if a.books, err = openBooks(ctx, cfg, calls, registry, log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.books.close()
		}
	}()
	if err := a.openPicture(ctx, cfg); err != nil {
		return nil, err
	}
	a.ledger = newLedger(
		telemetry.NewMetrics(registry, labels(cfg.Table()), telemetry.Build{Version: version, Commit: commit(), GoVersion: runtime.Version()}),
		telemetry.NewPrices(cfg.Prices), a.picture.window, log,
	)
	routes := runRoutes{a.books.api, a.router}
	a.proxy = proxy.New(proxy.Options{
		Config: cfg.Proxy, Router: a.router, Trails: a.trails, Telemetry: a.ledger, Credentials: (*callerKeys)(a.accounts),
		Runs: routes, Responses: routes, Recorder: a.books.calls, Logger: log, Version: version, Ready: admin.Readiness(a.ready),
	})
	calls.proxy = a.proxy
	a.books.settle = a.proxy.Settle
	a.admin = admin.New(admin.Options{
		Config: cfg.Admin, Verifier: verifier, Registry: registry, Explainer: &explainer{a.router, a.trails, a.picture.seq},
		Leases: a.router.Leases, Runs: http.HandlerFunc(routes.ServeAdmin), Picture: a.shown(),
		Ready: a.ready, Version: admin.VersionInfo{Version: version, Commit: commit(), GoVersion: runtime.Version()}, Logger: log,
	})
	a.books.streams = a.admin.Streams
	return a, a.listen(cfg)
}

// verifier checks admin tokens. On loopback without a configured key a secret is made, which the token command reads.
func (a *app) verifier(ctx context.Context, cfg *configs.Config) (*admin.Verifier, error) {
	c := cfg.Admin
	secret, err := adminSecret(cfg, a.log)
	if err != nil {
		return nil, err
	}
	c.JWTSecret = secret
	v, err := admin.NewVerifier(ctx, c, time.Now, a.log)
	if err != nil {
		return nil, fmt.Errorf("set up admin tokens: %w", err)
	}
	return v, nil
}

// adminSecret is the configured HS256 secret, or the one of the data dir where nothing is configured.
func adminSecret(cfg *configs.Config, log *slog.Logger) (router.Secret, error) {
	c := cfg.Admin
	if !c.JWTSecret.Empty() || c.JWKSURL != "" || c.PublicKeyFile != "" {
		return c.JWTSecret, nil
	}
	secret, created, err := admin.Secret(cfg.Server.DataDir)
	if exposed, ok := errors.AsType[*admin.ExposedSecretError](err); ok {
		log.Warn(exposed.Error())
	} else if err != nil {
		return router.Secret{}, fmt.Errorf("read admin secret: %w", err)
	}
	if created {
		log.Info("made an admin secret; `hermes-hub token` mints from it", "path", filepath.Join(cfg.Server.DataDir, "admin.secret"))
	}
	return secret, nil
}

// listen binds both addresses.
func (a *app) listen(cfg *configs.Config) error {
	for _, p := range []struct {
		name, address string
		handler       http.Handler
	}{{"proxy", cfg.Proxy.Listen, a.proxy.Handler()}, {"admin", cfg.Admin.Listen, a.admin.Handler()}} {
		l, err := net.Listen("tcp", p.address)
		if err != nil {
			for _, bound := range a.planes {
				bound.listener.Close()
			}
			return fmt.Errorf("listen for the %s plane: %w", p.name, err)
		}
		a.planes = append(a.planes, &plane{p.name, l, newServer(p.handler, a.log)})
	}
	a.planes[1].server.RegisterOnShutdown(a.admin.Close)
	return nil
}

// newServer bounds what a client may hold open. There is no write timeout, which would cut streams; the relay has its own.
// HTTP/2 is spoken without TLS too, to a client that begins with it.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 128, SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// addr is where a plane listens, host:port.
func (a *app) addr(i int) string { return a.planes[i].listener.Addr().String() }

// run serves until ctx ends or a plane fails, then drains.
func (a *app) run(ctx context.Context) error {
	floor := make([]byte, heapFloor)
	defer runtime.KeepAlive(floor)
	keeper, stopKeeper := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	failed := make(chan error, len(a.planes)+4)
	wg.Go(func() {
		if err := a.router.Run(keeper); err != nil && !errors.Is(err, context.Canceled) {
			failed <- fmt.Errorf("keep router state: %w", err)
		}
	})
	wg.Go(func() {
		if err := a.accounts.run(keeper); err != nil && !errors.Is(err, context.Canceled) {
			failed <- fmt.Errorf("keep the accounts: %w", err)
		}
	})
	wg.Go(func() {
		if err := a.books.run(keeper); err != nil {
			failed <- fmt.Errorf("keep the journal of runs: %w", err)
		}
	})
	wg.Go(func() {
		if err := a.picture.run(keeper); err != nil {
			failed <- fmt.Errorf("keep the picture: %w", err)
		}
	})
	var servers sync.WaitGroup
	for _, p := range a.planes {
		servers.Go(func() {
			if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve the %s plane: %w", p.name, err)
			}
		})
	}
	reloading, stopReloading := context.WithCancel(ctx)
	defer stopReloading()
	var reloader sync.WaitGroup
	if a.reloads != nil {
		reloader.Go(func() { a.reloads.run(reloading) })
	}
	a.serving.Store(true)
	a.log.Info("serving", "proxy_addr", a.addr(0), "admin_addr", a.addr(1), "config", a.cfg.Load().Path, "version", version)

	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	stopReloading()
	reloader.Wait()
	err = errors.Join(err, a.drain())
	servers.Wait()
	a.settle()
	stopKeeper() // last, so that what the last requests taught is saved
	wg.Wait()
	a.proxy.Close()
	a.books.close()
	return err
}

// settle brings the ends of the last calls to the journal.
func (a *app) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := a.proxy.Settle(ctx); err != nil {
		a.log.Warn("the runs of the last calls have no end", "error", err)
	}
}

// drain lets what was begun end. Both planes go on answering meanwhile: readiness says no, and the proxy plane tells what
// is new to come back. What has not ended within the grace is cut: first the runs, then the calls, theirs among them.
func (a *app) drain() error {
	a.draining.Store(true)
	grace := a.cfg.Load().Server.DrainGrace
	a.log.Info("draining", "drain_grace_seconds", grace.Seconds())
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	over, cutNow := context.WithCancel(context.Background())
	defer cutNow()
	ending := context.AfterFunc(ctx, func() {
		a.books.endRuns()
		cutNow()
	})
	if cut := a.proxy.Drain(over); cut > 0 {
		a.log.Warn("cut what had not ended", "requests", cut)
	}
	ending()
	var errs []error
	for _, p := range a.planes {
		errs = append(errs, p.close())
	}
	return errors.Join(errs...)
}

// close stops a plane. Nothing of worth is left on its connections: a moment for the last bytes is enough.
func (p *plane) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := p.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = p.server.Close()
	}
	if err != nil {
		return fmt.Errorf("close the %s plane: %w", p.name, err)
	}
	return nil
}

// ready lists what a ready hub has. Accounts that are out do not make it unready.
func (a *app) ready() []admin.Check {
	config := admin.Check{Name: "config", OK: true}
	if a.stale.Load() {
		config.Detail = "the last reload failed; the configuration before it is in force"
	}
	return []admin.Check{
		{Name: "serving", OK: a.serving.Load()},
		config,
		a.books.check(),
		{Name: "not_draining", OK: !a.draining.Load()},
	}
}
