// Package probe asks providers how full their accounts are, beside the calls that pass through the hub.
//
//	accounts ── Configure ──► Prober ── Run ───────► a look at each account once in TTL, spread by jitter
//	                            │   └── Refresh ───► a look now, unless the last one is fresh; all who ask share one
//	                            ├── Report ────────► every Result, before anybody who asked for it has it
//	                            └── Last ──────────► what is known, with the time it was measured
//
// What to ask a provider is a row of the table in table.go: a list of steps. What an answer means is quota.Read's to say;
// nothing is parsed here but lists of models and what a later step needs. A look that fails leaves what was known as it
// was, with its age, and adds why there is nothing newer. It says nothing about the health of the account: a usage
// endpoint has limits and outages of its own.
//
// The hub names itself in every request and plays no other client. A refusal is told, never worked around: no redirect is
// followed, no other endpoint is tried after a 403, a credential that was refused is not sent again until it changes.
// Nothing that is asked here spends or changes anything of the account.
//
// Who owns what: Prober.mu the table of units and what is known; a unit is one account, or twins that share one; a flight
// is one look at a unit and the goroutine that makes it. Run cancels the flights when it ends and waits for them.
package probe

import (
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Options are what a Prober is made of.
type Options struct {
	Now         func() time.Time                       // nil = time.Now
	Transport   func(profile string) http.RoundTripper // how the account reaches its provider; nil = http.DefaultTransport
	UserAgent   string                                 // hermes-hub/<version>
	Credentials Credentials
	Report      func(Result)   // called for every look, in order for one profile, before Refresh returns: it must not call Refresh; nil = nobody is told
	Logger      *slog.Logger   // nil = nothing is logged
	TTL         time.Duration  // how long a look stands; 0 = 300 s
	Jitter      func() float64 // in [0,1); nil = drawn
	Concurrency int            // looks under way at one provider at one time; 0 = 4
}

// Prober looks at accounts. Make it with New; it is safe for concurrent use.
type Prober struct {
	now         func() time.Time
	transport   func(profile string) http.RoundTripper
	userAgent   string
	credentials Credentials
	report      func(Result)
	log         *slog.Logger
	ttl         time.Duration
	jitter      func() float64
	concurrency int

	wake   chan struct{}  // of one: the schedule has changed
	flying sync.WaitGroup // the flights

	mu      sync.Mutex // guards everything below
	units   map[string]*unit
	targets map[string]placed // by profile
	known   map[string]Result // by profile; the last look
	lanes   map[string]chan struct{}
	stopped bool
}

// placed is an account and the unit that it is looked at with.
type placed struct {
	target Target
	unit   *unit
}

// New makes a Prober of no accounts.
func New(o Options) *Prober {
	p := &Prober{
		now: o.Now, transport: o.Transport, userAgent: o.UserAgent, credentials: o.Credentials, report: o.Report, log: o.Logger,
		ttl: o.TTL, jitter: o.Jitter, concurrency: o.Concurrency,
		wake:  make(chan struct{}, 1),
		units: map[string]*unit{}, targets: map[string]placed{}, known: map[string]Result{}, lanes: map[string]chan struct{}{},
	}
	if p.now == nil {
		p.now = time.Now
	}
	if p.transport == nil {
		p.transport = func(string) http.RoundTripper { return http.DefaultTransport }
	}
	if p.report == nil {
		p.report = func(Result) {}
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.jitter == nil {
		p.jitter = rand.Float64
	}
	if p.ttl <= 0 {
		p.ttl = 300 * time.Second
	}
	if p.concurrency <= 0 {
		p.concurrency = 4
	}
	return p
}

// Last is what is known of a profile: its last look, with the values of the last one that measured any.
func (p *Prober) Last(profile string) (Result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.known[profile]
	return r, ok
}
