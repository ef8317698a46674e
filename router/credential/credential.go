// Package credential knows what every account is called with now.
//
//	configuration ── Configure ──► Keyring ── Current ──► the token of a call
//	                                  │   └── Refused ──► a better one, after a 401
//	      the owner's file ── watch ──┤   └── Identity ─► e-mail, account id, plan, state
//	                                  └── OnChange
//
// A credential is a key of the configuration, a file of the data folder that was set over the admin API (it overrides the
// others), or the file in which the provider's own program (Codex, Claude Code, Gemini CLI, Antigravity) keeps its user's
// tokens. That file stays its owner's: it is watched and read again first; it is refreshed only when the token has run out
// or a provider refuses it; always by one at a time, under a lock, with one more look after the lock was taken, because
// the owner and other hubs refresh the same file and a refresh token works once. What is new is written back with every
// other byte kept. With refresh off the file is read and nothing else.
//
// Who owns what: Keyring.mu the table of accounts; store.mu the flight of the moment; the flight everything else of a
// store. A flight is one look at one file, with a refresh when one is due; the callers of the moment share it, and it
// goes on when they leave, since a token that was asked for must not be lost.
package credential

import (
	"time"

	"hermes-hub/router"
)

// Source says where an account's credential comes from. The first of these is taken: the file of that profile in
// Options.Dir, Static, File.
type Source struct {
	Profile      string
	Provider     string        // an id of router's table
	Static       router.Secret // the key or token of the configuration
	Token        bool          // Static is a token that somebody signed in for, whatever it looks like
	File         string        // a file of tokens; absolute
	Refresh      bool          // false = the file is never refreshed nor written
	TokenURL     string        // where tokens are refreshed; "" = the file format's own
	ProxyURL     string        // how TokenURL is reached; "" = directly
	ClientID     string        // of the OAuth client the file's tokens were given to; "" = what file and tokens say
	ClientSecret router.Secret // likewise
}

// Kind is what a credential is. An OAuth token is a bearer at every provider; a key travels in the provider's own way.
type Kind string

// The kinds.
const (
	APIKey Kind = "api_key"
	OAuth  Kind = "oauth"
)

// Credential is what a call is made with now.
type Credential struct {
	Token     router.Secret
	Kind      Kind
	AccountID string    // ChatGPT's account, for the header ChatGPT-Account-ID; "" = none
	Project   string    // Google's project; "" = unknown
	ExpiresAt time.Time // zero = unknown, or never
}

// Event is what has changed about an account.
type Event string

// The events. Several of one moment come in this order.
const (
	IdentityChanged   Event = "identity_changed"   // another e-mail, account or plan
	CredentialChanged Event = "credential_changed" // calls are made with another token now
	AuthLost          Event = "auth_lost"          // there was a usable credential; Identity says why there is none
	AuthRegained      Event = "auth_regained"      // there is one again
)

// Change is one event of one account. It holds no secret.
type Change struct {
	Profile  string
	Event    Event
	Identity Identity // after the change
}
