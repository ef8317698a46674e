package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"hermes-hub/configs"
	"hermes-hub/telemetry"
)

// configFile is where every configuration of a serving hub comes from: the file, with the command line's flags over it.
type configFile struct {
	path   string
	getenv func(string) string
	flags  configs.Flags
	seen   string // what was there at the last look
}

// load reads the file. The error is a configs.Problems, or a usageError about the flags.
func (f *configFile) load() (*configs.Config, error) {
	data, err := configs.Read(f.path)
	f.seen = sight(data, err)
	if err != nil {
		return nil, err
	}
	cfg, err := configs.Parse(f.path, data, f.getenv)
	if err != nil {
		return nil, err
	}
	if err := cfg.Override(f.flags); err != nil {
		return nil, usageError{err}
	}
	return cfg, nil
}

// changed reports whether the file's bytes are others than at the last look, good or bad. So a broken file is complained
// about once, whatever else happens in its folder.
func (f *configFile) changed() bool { return sight(configs.Read(f.path)) != f.seen }

// sight is what a look at a file showed, to be compared with the next look.
func sight(data []byte, err error) string {
	if err != nil {
		return "error " + err.Error()
	}
	return "bytes " + string(data)
}

// reload puts the app under the configuration that f holds now. Everything that can fail comes first: a file with an
// error leaves everything as it is. Requests that have begun end under what they began with.
func (a *app) reload(f *configFile) {
	next, waiting, err := a.next(f)
	a.stale.Store(err != nil)
	if err != nil {
		a.logFailedReload(f.path, err)
		return
	}
	a.switches.mu.Lock()
	defer a.switches.mu.Unlock()
	if next, err = a.switches.over(context.Background(), next, a.switches.set); err != nil {
		a.stale.Store(true)
		a.logFailedReload(f.path, err)
		return
	}
	t := next.Table()
	a.ledger.metrics.Relabel(labels(t))
	change := a.router.Swap(t)                         // before the proxy plane, whose client keys name roles of this table
	if err := a.accounts.configure(next); err != nil { // the file was checked: this is a bug that serving survives
		a.log.Error("credentials not reloaded", "error", err)
	}
	if err := a.books.reload(next); err != nil { // likewise
		a.log.Error("runtimes not reloaded", "error", err)
	}
	a.proxy.Configure(next.Proxy)
	a.admin.AllowHosts(next.Admin.AllowedHosts)
	a.ledger.prices.Store(telemetry.NewPrices(next.Prices))
	a.cfg.Store(next)
	a.picture.reload(t)

	a.log.Info("configuration reloaded", "config", next.Path, "roles", len(next.Roles), "profiles", len(next.Profiles),
		"added", change.Added, "removed", change.Removed, "reset", change.Reset)
	for _, key := range waiting {
		a.log.Warn("needs a restart", "key", key)
	}
	warn(next, a.log)
}

// next is the configuration that f holds, as far as a running hub can take it on; waiting are the keys that it cannot.
func (a *app) next(f *configFile) (next *configs.Config, waiting []string, err error) {
	if next, err = f.load(); err != nil {
		return nil, nil, err
	}
	waiting = next.KeepRunning(a.cfg.Load())
	if open := next.OpenListen(); len(open) > 0 {
		return nil, nil, open
	}
	return next, waiting, nil
}

func (a *app) logFailedReload(path string, err error) {
	problems, ok := errors.AsType[configs.Problems](err)
	if !ok {
		a.log.Error("configuration not reloaded: the one before stays in force", "config", path, "error", err)
		return
	}
	a.log.Error("configuration not reloaded: the one before stays in force", "config", path, "problems", len(problems))
	for _, p := range problems {
		a.log.Error(p.String())
	}
}

const (
	settleTime = 300 * time.Millisecond // of silence in the folder: an editor is not interrupted half-way
	settleMost = 3 * time.Second        // of noise in the folder: it may be somebody else's
	lookAgain  = 5 * time.Second        // at a folder that is gone
)

// reloads asks for a reload whenever somebody says so, and whenever the file's bytes have changed. One goroutine, run,
// does it all: there is never more than one reload.
type reloads struct {
	file    *configFile
	hangups <-chan os.Signal
	reload  func(*configFile)
	watch   *folderWatch
}

// newReloads begins to watch, so that run misses nothing from here on. close ends it.
func newReloads(f *configFile, hangups <-chan os.Signal, reload func(*configFile), log *slog.Logger) *reloads {
	return &reloads{file: f, hangups: hangups, reload: reload, watch: newFolderWatch(f.path, log)}
}

func (r *reloads) close() { r.watch.close() }

// run returns when ctx ends and no reload is under way.
func (r *reloads) run(ctx context.Context) {
	settle := time.NewTimer(0) // the file may have changed since it was read
	defer settle.Stop()
	var stirred time.Time // since when the folder has had no quiet; zero = it is quiet
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hangups:
			r.reload(r.file)
		case <-r.watch.stirs():
			now := time.Now()
			if stirred.IsZero() {
				stirred = now
			}
			settle.Reset(settleIn(stirred, now))
		case <-r.watch.losses():
			settle.Reset(settleTime)
		case <-settle.C:
			stirred = time.Time{}
			if !r.watch.follow() {
				settle.Reset(lookAgain)
			}
			if r.file.changed() {
				r.reload(r.file)
			}
		}
	}
}

// settleIn is how long to wait after something happened at now in a folder that has been stirred since then.
func settleIn(stirred, now time.Time) time.Duration {
	return max(0, min(settleTime, settleMost-now.Sub(stirred)))
}
