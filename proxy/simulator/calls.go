package simulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const keptCalls = 1000

// Call is one call as the provider received it and what became of it.
type Call struct {
	Account   string // "" = it belonged to none
	Method    string
	Path      string // with the query, as received
	Host      string
	Header    http.Header // as received; not to be written to
	Body      []byte      // as received; not to be written to
	Protocol  Protocol    // "" when it asks for no answer
	Request   Request     // as its dialect understood it, before it was admitted
	Model     string      // "" when the call was not understood
	Stream    bool
	Step      string // what was played: a step's name, "quota", "concurrency", "refused", "models", "count"
	Status    int    // of the answer; 0 = no head was sent
	Start     time.Time
	End       time.Time // zero = still in flight
	Cancelled bool      // the client went away before the answer was complete
}

// Member is a member of the call's body by its path, names and indexes with a dot between ("messages.0.content"): a string
// as it is, anything else as JSON, "" where there is none.
func (c Call) Member(path string) string {
	value, ok := readTree(c.Body)
	if !ok {
		return ""
	}
	at := node{value: value, found: true, style: &dotted}
	for name := range strings.SplitSeq(path, ".") {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(at.items()) {
			at = at.items()[i]
			continue
		}
		at = at.member(name)
	}
	if text, isText := at.value.(string); isText {
		return text
	}
	return string(at.json())
}

// Calls returns the latest calls of the account, oldest first, those in flight included. The account "" has the calls
// that belonged to none: an unknown key, a path that names nobody.
func (p *Provider) Calls(name string) []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	calls := make([]Call, 0, len(p.account(name).calls))
	for _, c := range p.account(name).calls {
		calls = append(calls, *c)
	}
	return calls
}

// Total is how many calls the account received since New or Reset, remembered or not. Looks are none.
func (p *Provider) Total(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account(name).total
}

// Looks is how often the account was asked for its models, its usage or a token since New or Reset.
func (p *Provider) Looks(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account(name).looks
}

// InFlight is how many calls the account is answering now. A call leaves before its client can see the end of the answer;
// a call whose client went away leaves when the provider sees that. Lists of models and refused calls do not count.
func (p *Provider) InFlight(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account(name).inFlight
}

// Peak is the largest InFlight since New or Reset.
func (p *Provider) Peak(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account(name).peak
}

// WaitCalls waits until the account has received n calls since New or Reset.
func (p *Provider) WaitCalls(ctx context.Context, name string, n int) error {
	return p.wait(ctx, fmt.Sprintf("%d calls of account %q", n, name), func() bool { return p.account(name).total >= n })
}

// WaitCancelled waits until the clients of n calls of the account have gone away since New or Reset.
func (p *Provider) WaitCancelled(ctx context.Context, name string, n int) error {
	return p.wait(ctx, fmt.Sprintf("%d cancelled calls of account %q", n, name), func() bool { return p.account(name).cancelled >= n })
}

// WaitIdle waits until no call is in flight.
func (p *Provider) WaitIdle(ctx context.Context) error {
	return p.wait(ctx, "no call in flight", func() bool {
		return !slices.ContainsFunc(p.accounts, func(a *account) bool { return a.inFlight > 0 })
	})
}

// wait waits until the condition holds, which is asked with mu held.
func (p *Provider) wait(ctx context.Context, what string, holds func() bool) error {
	for {
		p.mu.Lock()
		ok, changed := holds(), p.changed
		p.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("simulator: wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// record remembers a call of the account, and counts it or the look that it is. The caller holds mu.
func (p *Provider) record(a *account, call *Call, looks bool) {
	if looks {
		a.looks++
	} else {
		a.total++
	}
	keep := p.Keep
	if keep == 0 {
		keep = keptCalls
	}
	if len(a.calls) >= keep {
		a.calls = slices.Delete(a.calls, 0, len(a.calls)-keep+1)
	}
	a.calls = append(a.calls, call)
}

// announce wakes everyone who waits. The caller holds mu.
func (p *Provider) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}
