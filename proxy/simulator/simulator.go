// Package simulator is a scriptable provider with several accounts, for tests, benchmarks and the demo. It answers as a
// real provider answers, labels everything it says as simulated, and breaks in every way a real one was seen to break.
//
// It speaks five protocols under one base URL, and the path tells which (dialect.go): OpenAI's chat completions and Responses,
// the latter also as ChatGPT's Codex backend takes them, Anthropic's Messages, Google's Gemini and Cloud Code. In all but the
// first it is as strict as the provider: members nobody knows, conversations that do not add up, reasoning that another
// account sealed are refused in the provider's words, so that a translator's mistake shows. Beside them it has the providers'
// usage endpoints (usage.go), which tell an account's present quota, and a token endpoint (oauth.go).
//
// A call is handled in four steps: a connection reads it (serve), a dialect understands it (the file named after the
// protocol, its request, shape and turns), its account admits it (admit: key, model, concurrency, quota), and the next Step of
// the account's script plays the answer on the exchange (step, exchange). Steps write bytes to a connection, so that a broken
// answer is broken on the wire and not by description.
//
// There are two ways to reach a Provider, and both run the code above. RoundTrip is Go's own HTTP client over a connection
// in memory: no port, no real clock, fit for a testing/synctest bubble (make the Provider inside the bubble). Listen serves
// a TCP port on the loopback interface.
package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Provider is a simulated provider. Make it with New; it is safe for concurrent use.
type Provider struct {
	// Now is the clock that quotas reset by and that calls are stamped with. Set it before the first call.
	Now func() time.Time
	// Keep is how many calls are remembered for each account, the latest; 0 means 1000. Counters never forget.
	Keep int

	client *http.Transport // Go's HTTP client, dialling into conns
	conns  connections     // the connections in memory

	mu       sync.Mutex // guards everything below
	accounts []*account // in the order given to New
	stray    *account   // calls that belong to no account
	serial   int        // calls received, all accounts together
	strict   Failer
	changed  chan struct{} // closed and replaced whenever a call arrives or ends
}

// Failer is the part of testing.TB by which a strict Provider reports its misuse.
type Failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// New makes a provider of the accounts. It panics when two of them share a name or a key, or when a script holds an
// unknown step: that is a mistake in the program, like a bad regular expression.
func New(accounts ...Account) *Provider {
	p := &Provider{Now: time.Now, changed: make(chan struct{}), stray: newAccount(Account{})}
	for _, a := range accounts {
		if a.Name == "" || slices.ContainsFunc(p.accounts, func(b *account) bool { return a.Name == b.Name || a.Key != "" && a.Key == b.Key }) {
			panic(fmt.Sprintf("simulator: account %q: its name is empty, or its name or key is taken", a.Name))
		}
		mustResolve(a.Script)
		p.accounts = append(p.accounts, newAccount(a))
	}
	p.client = &http.Transport{
		DialContext:    p.dialMemory,
		DialTLSContext: p.dialMemory, // an https URL is served alike
		// No connection is kept, so that no goroutine is left behind when the last answer was read.
		MaxIdleConnsPerHost: -1,
	}
	return p
}

// RoundTrip sends the request to the provider in memory, whatever host its URL names, and reports what Go's HTTP client
// reports. It implements http.RoundTripper.
func (p *Provider) RoundTrip(req *http.Request) (*http.Response, error) {
	return p.client.RoundTrip(req)
}

// Close ends every call in memory and waits for its goroutine. A test whose calls have all been read to the end or closed
// does not need it.
func (p *Provider) Close() { p.conns.close() }

// Strict reports to t every call that exceeds an account's MaxConcurrent, and every call that no correct client sends
// (answered 400, 404 for its path, or 405).
func (p *Provider) Strict(t Failer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strict = t
}

// Push appends steps to the account's script. It panics for an unknown account or step.
func (p *Provider) Push(name string, steps ...Step) {
	mustResolve(steps)
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	a.script = append(a.script, steps...)
}

// PushAside appends steps to the script of the account's usage and token endpoints, which take no step of the account's own
// script. They are played in the dialect of the provider that has the endpoint; refusals and broken connections make sense
// there. It panics for an unknown account or step.
func (p *Provider) PushAside(name string, steps ...Step) {
	mustResolve(steps)
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	a.asides = append(a.asides, steps...)
}

// Reset makes the account as it was when New returned, but with these steps for its script: calls and counters are
// forgotten, the quota is full, only the first tokens are good. Calls still in flight stay in flight.
func (p *Provider) Reset(name string, steps ...Step) {
	mustResolve(steps)
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	a.script = slices.Clone(steps)
	a.window, a.asides, a.tokens = window{}, nil, grants{}
	a.calls, a.total, a.looks, a.cancelled, a.peak = nil, 0, 0, 0, a.inFlight
}

// SpendQuota takes all that is left of the account's quota: normal answers turn into refusals until it resets. A quota
// without a window or a time of reset stays spent, and says nothing about a reset, until RestoreQuota.
func (p *Provider) SpendQuota(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(name)
	a.window = a.Quota.spend(a.window, p.Now())
}

// RestoreQuota fills the account's quota.
func (p *Provider) RestoreQuota(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.account(name).window = window{}
}

// account finds an account by name, "" being the calls that belong to none. The caller holds mu.
func (p *Provider) account(name string) *account {
	if name == "" {
		return p.stray
	}
	for _, a := range p.accounts {
		if a.Name == name {
			return a
		}
	}
	panic(fmt.Sprintf("simulator: no account %q", name))
}
