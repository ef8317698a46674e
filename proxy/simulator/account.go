package simulator

import (
	"slices"
	"time"
)

// Account is one account of the provider: what it accepts, what it answers, and how. Zero values are working defaults.
type Account struct {
	Name     string   // how tests, answers and paths name it
	Key      string   // the credential it accepts; "" = any or none
	Protocol Protocol // the only one it speaks; "" = all of them
	// Codex makes it a ChatGPT subscription: all its Responses are as the Codex backend takes them, not only those below
	// /backend-api/codex.
	Codex          bool
	ChatGPTAccount string        // what ChatGPT-Account-ID must be; "" = anything, but something
	Project        string        // Cloud Code's; "" = any, but something
	OAuth          *OAuth        // its tokens are refreshed; Key is the first access token
	Models         []string      // the models it has; none = whatever is asked for
	Latency        time.Duration // from the end of the request to the head of the answer
	ChunkPace      time.Duration // between the events of a stream
	Answer         Answerer      // what it answers; nil = a sentence that names account and model, or a tool call that was asked for
	Usage          *Usage        // the token counts it reports; nil = estimated from the lengths, the same every time
	Quota          Quota         // the zero Quota never runs out
	MaxConcurrent  int           // calls it answers at once, more are refused with 429; 0 = any number
	Script         []Step        // played one step a call; after the last, calls are answered normally
}

// account is an Account with its state, which Provider.mu guards.
type account struct {
	Account
	script    []Step // what is left of it
	window    window
	inFlight  int
	peak      int
	total     int // calls received
	looks     int // those that only asked about the account
	cancelled int // calls whose client went away
	calls     []*Call
	asides    []Step // what is left of the script for usage and token endpoints
	tokens    grants // of OAuth
}

func newAccount(a Account) *account {
	return &account{Account: a, script: slices.Clone(a.Script)}
}

// speaks reports whether the account speaks the protocol.
func (a *account) speaks(protocol Protocol) bool { return a.Protocol == "" || a.Protocol == protocol }

// serves reports whether the account has the model.
func (a *account) serves(model string) bool {
	return len(a.Models) == 0 || slices.Contains(a.Models, model)
}

// open reports whether the account takes any credential.
func (a *account) open() bool { return a.Key == "" && a.OAuth == nil }

// knows reports whether the credential is, or was, good for calls.
func (a *account) knows(key string) bool {
	if a.OAuth != nil {
		_, issued := a.tokens.access[key]
		return issued
	}
	return a.open() || a.Key == key
}

// nextAside takes the next step of the script for usage and token endpoints.
func (a *account) nextAside() Step {
	if len(a.asides) == 0 {
		return Normal
	}
	step := a.asides[0]
	a.asides = a.asides[1:]
	return step
}

// next takes the next step of the script.
func (a *account) next() Step {
	if len(a.script) == 0 {
		return Normal
	}
	step := a.script[0]
	a.script = a.script[1:]
	return step
}
