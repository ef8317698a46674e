package hub

import (
	"time"

	"hermes-hub/router"
)

// Sources are what a picture is built from, all of one moment. What is absent is unknown. Nobody changes them once they
// were handed over.
type Sources struct {
	Router      *router.Snapshot    // the configuration, and what was learnt of the accounts; nil = not there yet
	Identities  map[string]Identity // by profile id: who the accounts are
	Looks       map[string]Look     // by profile id: the last look at each account beside its calls
	ActiveCalls map[string]int      // by profile id: slots taken, by every instance of the hub together
	Sessions    map[string]string   // by role id: the session that was bound to an account of the role last
}

// Identity is who an account is, as far as its credential tells.
type Identity struct {
	Email      string // "" = unknown, as everywhere here
	AccountID  string
	Plan       string // in the provider's words
	PlanSource string // "jwt_claim" or "provider_auth"; "" where Plan is
	State      AuthState
}

// LookOutcome is what a look at an account beside its calls came to.
type LookOutcome string

// The outcomes.
const (
	LookMeasured     LookOutcome = "measured"
	LookNotExposed   LookOutcome = "not_exposed"  // the provider publishes nothing for such a credential
	LookUnconfigured LookOutcome = "unconfigured" // the account has no credential
	LookAuth         LookOutcome = "auth"
	LookEntitlement  LookOutcome = "entitlement"
	LookForbidden    LookOutcome = "forbidden"
	LookFailed       LookOutcome = "failed"
)

// Look is the last look at an account beside its calls: at its usage endpoint, its list of models.
type Look struct {
	Outcome       LookOutcome
	At            time.Time // when it ended
	Models        []string  // that the provider offers the account; nil = unknown
	Plan          string    // as the provider spells it; "" = unknown
	UnavailableRU string    // why it measured nothing, in the words of the contract; "" where it did
	UnavailableEN string
}
