package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/router"
)

// Options are what a Keyring needs from outside.
type Options struct {
	Dir       string                                  // where credentials set over the admin API are, a file a profile; "" = none
	UserAgent string                                  // how the hub names itself to token endpoints
	Transport func(proxyURL string) http.RoundTripper // to token endpoints; nil = http.DefaultTransport, which knows no proxyURL
	OnChange  func(Change)                            // may ask for identities; must not wait for a credential. nil = nobody wants to know
	Now       func() time.Time                        // nil = time.Now
	Logger    *slog.Logger                            // nil = silence
}

// Keyring holds the accounts' credentials. Its methods may be called from any goroutine.
type Keyring struct {
	dir      string
	rig      *rig
	onChange func(Change)

	accounts atomic.Pointer[map[string]*account] // never written to once it is there
	changed  chan struct{}                       // holds one: there are other files to watch

	mu     sync.Mutex // writers of accounts
	stores map[storeKey]*store

	telling sync.Mutex
	told    map[string]told // by profile: what OnChange was told last
}

// rig is what every store works with.
type rig struct {
	agent     string
	transport func(proxyURL string) http.RoundTripper
	now       func() time.Time
	log       *slog.Logger
	announce  func()

	mu      sync.Mutex
	stopped bool           // no flight starts any more
	flights sync.WaitGroup // started under mu
}

// start runs a flight, unless the hub is stopping.
func (r *rig) start(fly func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.flights.Go(fly)
	}
	return !r.stopped
}

// stop lets no flight start any more and waits for those under way.
func (r *rig) stop() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.flights.Wait()
}

// New is a keyring without accounts.
func New(o Options) *Keyring {
	r := &rig{agent: o.UserAgent, transport: o.Transport, now: o.Now, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
	if r.transport == nil {
		r.transport = func(string) http.RoundTripper { return http.DefaultTransport }
	}
	if r.now == nil {
		r.now = time.Now
	}
	k := &Keyring{dir: o.Dir, rig: r, onChange: o.OnChange, changed: make(chan struct{}, 1), stores: map[storeKey]*store{}, told: map[string]told{}}
	k.accounts.Store(&map[string]*account{})
	r.announce = k.announce
	return k
}

// Configure makes these the accounts, at start and at every reload. Files that were known stay so, with what was learnt of
// them; others are read. A file that cannot be used is no error: Identity says so, the log does, and it is watched.
func (k *Keyring) Configure(sources []Source) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	accounts := make(map[string]*account, len(sources))
	for _, src := range sources {
		switch {
		case src.Profile == "":
			return errors.New("configure credentials: an account has no profile id")
		case accounts[src.Profile] != nil:
			return fmt.Errorf("configure credentials: there are two profiles %s", src.Profile)
		case src.File != "" && !filepath.IsAbs(src.File):
			return fmt.Errorf("configure credentials: %s: oauth_file %s is not absolute", src.Profile, src.File)
		}
		accounts[src.Profile] = nil
	}
	stores := map[storeKey]*store{}
	for _, src := range sources {
		accounts[src.Profile] = k.account(src, stores)
	}
	k.stores = stores
	k.accounts.Store(&accounts)
	select {
	case k.changed <- struct{}{}:
	default:
	}
	k.announce()
	return nil
}

// account makes an account of its source, with stores out of the new table, else the old one, else new ones.
func (k *Keyring) account(src Source, stores map[storeKey]*store) *account {
	take := func(key storeKey) *store {
		if stores[key] == nil {
			stores[key] = k.stores[key]
		}
		if stores[key] == nil {
			stores[key] = newStore(key, src.ClientSecret, k.rig)
		}
		return stores[key]
	}
	a := &account{profile: src.Profile, renew: src.Refresh}
	key := storeKey{
		provider: src.Provider, tokenURL: src.TokenURL, proxyURL: src.ProxyURL,
		clientID: src.ClientID, clientSecret: src.ClientSecret.Fingerprint(),
	}
	if k.dir != "" && filepath.IsLocal(src.Profile) && filepath.Base(src.Profile) == src.Profile {
		own := key
		own.file, own.keys = filepath.Join(k.dir, src.Profile), true
		a.override = take(own)
	}
	switch {
	case !src.Static.Empty():
		a.fixed = fixedView(src.Static, src.Token)
	case src.File != "":
		key.file = filepath.Clean(src.File)
		a.file = take(key)
	default:
		a.fixed = &view{problem: &Problem{
			State: NotConfigured, Reason: ReasonNone, Detail: "there is none", Mend: "set auth_config.api_key or auth_config.oauth_file",
		}}
	}
	return a
}

// files are all stores, in no order.
func (k *Keyring) files() []*store {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*store
	for s := range maps.Values(k.stores) {
		all = append(all, s)
	}
	return all
}

// Current is what a call of the profile is made with now. A token that has run out, or has less than a minute left, is
// looked for in its file again and then refreshed, once for all callers of the moment; ctx bounds the wait. The error is
// a *Problem, or ctx's.
func (k *Keyring) Current(ctx context.Context, profile string) (Credential, error) {
	a := (*k.accounts.Load())[profile]
	if a == nil {
		return Credential{}, unknown(profile)
	}
	v, s := a.now()
	if v.ready(k.rig.now()) {
		return v.credential, nil
	}
	if s == nil {
		return a.verdict(v, k.rig.now())
	}
	v, err := s.better(ctx, errand{used: v.credential.Token, renew: a.renew})
	if err != nil && !v.usable(k.rig.now()) {
		return Credential{}, fmt.Errorf("credential of %s: %w", profile, err)
	}
	return a.verdict(v, k.rig.now())
}

// Refused says that the provider answered 401 to used. The credential is another one to try, at most one refresh later.
// false: there is none, and Current will say why. A refusal of a token that was refreshed just now is final until its file
// changes. A key cannot be refreshed, and whether it is ever tried again is the caller's business.
func (k *Keyring) Refused(ctx context.Context, profile string, used router.Secret) (Credential, bool) {
	a := (*k.accounts.Load())[profile]
	if a == nil {
		return Credential{}, false
	}
	v, s := a.now()
	if s != nil && v.credential.Token.Equal(used) {
		v, _ = s.better(ctx, errand{used: used, refused: true, renew: a.renew}) // ctx's end leaves what there is
	}
	if v.credential.Token.Equal(used) || !v.usable(k.rig.now()) {
		return Credential{}, false
	}
	return v.credential, true
}

// Recheck forgets what was held against a profile's tokens and looks at them anew, as after somebody has mended something
// that no file shows.
func (k *Keyring) Recheck(ctx context.Context, profile string) error {
	a := (*k.accounts.Load())[profile]
	if a == nil {
		return unknown(profile)
	}
	v, s := a.now()
	if s != nil {
		var err error
		if v, err = s.better(ctx, errand{renew: a.renew, anew: true}); err != nil {
			return fmt.Errorf("credential of %s: %w", profile, err)
		}
	}
	_, err := a.verdict(v, k.rig.now())
	return err
}

// Identity is who a profile's account is and how it stands. It never waits.
func (k *Keyring) Identity(profile string) Identity {
	a := (*k.accounts.Load())[profile]
	if a == nil {
		return Identity{PlanCode: PlanCodeUnknown, PlanSource: PlanUnknown, State: NotConfigured, Reason: ReasonNone, Detail: unknown(profile).Detail}
	}
	v, _ := a.now()
	return a.identity(v, k.rig.now())
}

func unknown(profile string) *Problem {
	return &Problem{Profile: profile, State: NotConfigured, Reason: ReasonNone, Detail: "there is no such account"}
}
