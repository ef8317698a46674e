package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"hermes-hub/quota"
)

// Target is one account to look at.
type Target struct {
	Profile    string
	Provider   string // an id of the table of providers
	Name       string // of the provider, for people; "" = the table's, or the id
	Dialect    string // name of the quota reader; "" = Provider
	BaseURL    string // the profile's probe.base_url: stands in for the provider's own addresses; "" = those
	ServiceURL string // where the account's calls go
	Project    string // Google's project, when the configuration knows it
	Group      string // targets of one group are one account: one look serves all; "" = alone
}

// Credential is what a look is made with.
type Credential struct {
	Header        string // which header carries it; "" = Authorization
	Authorization string // the header's whole value; "" = the account has no credential
	AccountID     string // ChatGPT's account; "" = unknown
	Project       string // Google's project; "" = unknown
	OAuth         bool   // a token of a person's account, not a key of an API
}

// Format prints no credential, whatever the verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// LogValue keeps slog from printing it.
func (c Credential) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// Credentials are the accounts' credentials.
type Credentials interface {
	// Current is the credential of a profile now, refreshed where it had run out. The zero Credential means that the
	// account has none; an error that is ErrAuthRequired, that its owner has to sign in again.
	Current(ctx context.Context, profile string) (Credential, error)
	// Refused is told that a provider refused used with 401. It returns another credential to try, if there is one.
	Refused(ctx context.Context, profile string, used Credential) (Credential, bool)
}

// Errors that callers ask for.
var (
	// ErrAuthRequired is what Credentials wrap when only the account's owner can help.
	ErrAuthRequired = errors.New("the account's owner has to sign in again")
	// ErrUnknownProfile is Refresh's, for a profile that is not among the targets.
	ErrUnknownProfile = errors.New("no account of this name is probed")
	// ErrStopped is Refresh's, after Run has ended.
	ErrStopped = errors.New("probing has stopped")
)

// Outcome is what a look came to.
type Outcome string

// The outcomes.
const (
	Measured     Outcome = "measured"     // there are values
	NotExposed   Outcome = "not_exposed"  // the provider publishes none for such a credential
	Unconfigured Outcome = "unconfigured" // the account has no credential
	Auth         Outcome = "auth"         // the credential is refused, and there is no other
	Entitlement  Outcome = "entitlement"  // the credential is fine; what it would be asked about is not booked
	Forbidden    Outcome = "forbidden"    // the provider, or what stands before it, refuses
	Failed       Outcome = "failed"       // no answer, none in time, or none that can be read
)

// Result is what is known of a profile after a look at its account. Its lists are shared: nobody changes them.
type Result struct {
	Profile string
	Outcome Outcome   // of this look
	TriedAt time.Time // when this look ended
	Took    time.Duration

	// What was measured, by this look where it is Measured, else by the last one that was. Zero, nil = nothing ever.
	At       time.Time
	Readings []quota.Reading

	Models     []string // that the provider offers the account; nil = unknown
	Plan       string   // as the provider spells it; "" = unknown
	PlanSource string   // "provider_api" where Plan is known
	Project    string   // Google's project, learnt or given; "" = unknown

	UnavailableRU string // why there are no newer values, in the words of the UI state contract; "" after Measured
	UnavailableEN string
	Err           error // what went wrong, for the log: no secret, no address; nil after Measured, NotExposed, Unconfigured
}
