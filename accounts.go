package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/configs"
	"hermes-hub/proxy"
	"hermes-hub/quota/probe"
	"hermes-hub/router"
	"hermes-hub/router/credential"
)

// accounts is what goes on about the accounts beside their calls: the keyring keeps their credentials, the prober asks their
// providers what is left, and the router hears of both.
type accounts struct {
	keyring *credential.Keyring
	prober  *probe.Prober
	router  *router.Router
	log     *slog.Logger
	told    func(profile string) // that a profile has another credential, or none that is good any more

	projects atomic.Pointer[map[string]string] // auth_config.project, by profile
	twins    struct {
		sync.Mutex
		told [][]string // the groups that the log has
	}
}

func newAccounts(cfg *configs.Config, r *router.Router, log *slog.Logger) (*accounts, error) {
	a := &accounts{router: r, log: log}
	ways := &ways{by: map[string]*http.Transport{}}
	a.keyring = credential.New(credential.Options{
		Dir: filepath.Join(cfg.Server.DataDir, "credentials"), UserAgent: agent(), Transport: ways.through, OnChange: a.changed, Logger: log,
	})
	a.prober = probe.New(probe.Options{
		UserAgent: agent(), Credentials: (*proberKeys)(a), Report: a.report, Logger: log,
		Transport: func(profile string) http.RoundTripper {
			p, _ := r.Snapshot().Table.Profile(profile)
			if p == nil {
				return ways.through("")
			}
			return ways.through(p.ProxyURL)
		},
	})
	return a, a.configure(cfg)
}

// agent is how the hub names itself in every request of its own.
func agent() string { return "hermes-hub/" + version }

// configure makes these the accounts, at start and at every reload.
func (a *accounts) configure(cfg *configs.Config) error {
	if err := a.keyring.Configure(cfg.Credentials()); err != nil {
		return err
	}
	projects := map[string]string{}
	for i, p := range cfg.Profiles {
		projects[p.ID] = cfg.Accounts[i].Project
	}
	a.projects.Store(&projects)
	for _, p := range cfg.Profiles {
		a.router.Identify(p.ID, a.keyring.Identity(p.ID).Key())
	}
	a.reportTwins()
	a.prober.Configure(cfg.Probes())
	return nil
}

// run keeps credentials fresh and asks for what is left, until ctx ends.
func (a *accounts) run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	failed := make(chan error, 2)
	for _, keep := range []func(context.Context) error{a.keyring.Run, a.prober.Run} {
		wg.Go(func() { failed <- keep(ctx) })
	}
	return errors.Join(<-failed, <-failed)
}

// changed passes on what has changed about an account's credential.
func (a *accounts) changed(c credential.Change) {
	switch c.Event {
	case credential.IdentityChanged:
		a.router.Identify(c.Profile, c.Identity.Key())
		a.reportTwins()
	case credential.CredentialChanged, credential.AuthRegained:
		a.router.CredentialChanged(c.Profile)
		a.prober.CredentialChanged(c.Profile)
		a.told(c.Profile)
	case credential.AuthLost:
		a.router.AuthRequired(c.Profile, string(c.Identity.Reason), time.Now())
		a.told(c.Profile)
	}
}

// reportTwins tells of profiles that have turned out to be one account: neither helps the other. It tells once.
func (a *accounts) reportTwins() {
	a.twins.Lock()
	defer a.twins.Unlock()
	known := a.twins.told
	a.twins.told = a.router.Twins()
	for _, group := range a.twins.told {
		if !slices.ContainsFunc(known, func(g []string) bool { return slices.Equal(g, group) }) {
			a.log.Warn("profiles are one account, and share its quota", "profiles", group)
		}
	}
}

// report passes on what a usage endpoint has measured. What else it came to says nothing about the account.
func (a *accounts) report(r probe.Result) {
	if r.Outcome != probe.Measured {
		return
	}
	for _, reading := range r.Readings {
		a.router.Measure(r.Profile, reading, r.At)
	}
}

// callerKeys are the accounts' credentials as calls are made with them.
type callerKeys accounts

// Current is what an account is called with. One without a credential is called without: its headers may hold one, and an
// account on this machine needs none.
func (k *callerKeys) Current(ctx context.Context, p *router.Profile) (proxy.Credential, error) {
	c, err := k.keyring.Current(ctx, p.ID)
	if problem, ok := errors.AsType[*credential.Problem](err); ok && problem.Reason == credential.ReasonNone {
		return proxy.Credential{}, nil
	}
	if err != nil {
		return proxy.Credential{}, err
	}
	return k.call(ctx, p, c), nil
}

// Refused asks for another credential than the one that a provider refused.
func (k *callerKeys) Refused(ctx context.Context, p *router.Profile, used proxy.Credential) (proxy.Credential, bool) {
	c, ok := k.keyring.Refused(ctx, p.ID, used.Token)
	return k.call(ctx, p, c), ok
}

func (k *callerKeys) call(ctx context.Context, p *router.Profile, c credential.Credential) proxy.Credential {
	out := proxy.Credential{Token: c.Token, OAuth: c.Kind == credential.OAuth, AccountID: c.AccountID, Project: c.Project}
	if p.Protocol == router.ProtocolCloudCode && out.Project == "" {
		out.Project = k.project(ctx, p.ID)
	}
	return out
}

// project is the Google project that an account's calls belong to: the configured one, else what the prober learnt, and,
// before it looked for the first time, what it learns now. "" = nobody says; the provider will.
func (k *callerKeys) project(ctx context.Context, profile string) string {
	if configured := (*k.projects.Load())[profile]; configured != "" {
		return configured
	}
	if known, ok := k.prober.Last(profile); ok {
		return known.Project
	}
	known, err := k.prober.Refresh(ctx, profile, false)
	if err != nil && !errors.Is(err, probe.ErrUnknownProfile) {
		k.log.Debug("no project learnt", "profile", profile, "error", err)
	}
	return known.Project
}

// proberKeys are the accounts' credentials as the prober sends them.
type proberKeys accounts

// Current is what a look at a profile is made with.
func (k *proberKeys) Current(ctx context.Context, profile string) (probe.Credential, error) {
	c, err := k.keyring.Current(ctx, profile)
	problem, _ := errors.AsType[*credential.Problem](err)
	switch {
	case problem == nil:
	case problem.State == credential.NotConfigured:
		return probe.Credential{}, nil
	case problem.Reason != credential.ReasonRefreshFailed && problem.Reason != credential.ReasonLocked: // those heal by themselves
		return probe.Credential{}, fmt.Errorf("%w: %w", probe.ErrAuthRequired, err)
	}
	if err != nil {
		return probe.Credential{}, err
	}
	return k.sent(profile, c), nil
}

// Refused asks for another credential than the one that a provider refused.
func (k *proberKeys) Refused(ctx context.Context, profile string, used probe.Credential) (probe.Credential, bool) {
	now, err := k.keyring.Current(ctx, profile)
	if err != nil {
		return probe.Credential{}, false
	}
	if sent := k.sent(profile, now); sent != used {
		return sent, true
	}
	next, ok := k.keyring.Refused(ctx, profile, now.Token)
	return k.sent(profile, next), ok
}

// sent is a credential in the provider's way of sending one.
func (k *proberKeys) sent(profile string, c credential.Credential) probe.Credential {
	out := probe.Credential{AccountID: c.AccountID, Project: c.Project, OAuth: c.Kind == credential.OAuth, Authorization: "Bearer " + c.Token.Reveal()}
	p, ok := k.router.Snapshot().Table.Profile(profile)
	if ok && !out.OAuth && p.Provider.Auth != router.AuthBearer {
		out.Header, out.Authorization = string(p.Provider.Auth), c.Token.Reveal()
	}
	return out
}

// ways are the transports of what the hub asks on its own, one for each proxy that an account may have.
type ways struct {
	mu sync.Mutex
	by map[string]*http.Transport
}

// through is the transport of a proxy, "" for that of the environment.
func (w *ways) through(proxyURL string) http.RoundTripper {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.by[proxyURL]; t != nil {
		return t
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = func(req *http.Request) (*url.URL, error) {
		if proxyURL == "" {
			return http.ProxyFromEnvironment(req)
		}
		return url.Parse(proxyURL)
	}
	t.ResponseHeaderTimeout = cmp.Or(t.ResponseHeaderTimeout, 30*time.Second)
	w.by[proxyURL] = t
	return t
}
