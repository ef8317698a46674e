package credential

import (
	"cmp"
	"strings"
	"time"
)

// AuthState is how an account stands with its provider, in the words of the UI state contract.
type AuthState string

// The states.
const (
	Authenticated AuthState = "AUTHENTICATED"
	AuthRequired  AuthState = "AUTH_REQUIRED"  // somebody has to sign in or mend something
	AuthExpired   AuthState = "AUTH_EXPIRED"   // run out; it may come back by itself
	NotConfigured AuthState = "NOT_CONFIGURED" // there is no credential
)

// PlanSource is where a plan is known from.
type PlanSource string

// The sources that a credential can be.
const (
	PlanFromClaim    PlanSource = "jwt_claim"     // a claim of the account's token
	PlanFromProvider PlanSource = "provider_auth" // the provider's sign-in left it in the file
	PlanUnknown      PlanSource = "unknown"
)

// PlanCodeUnknown is the code of a plan that nothing names.
const PlanCodeUnknown = "UNKNOWN"

// Identity is who an account is, as far as its credential tells. Nothing in it is guessed.
type Identity struct {
	Email      string // "" = unknown, as everywhere here
	UserID     string
	AccountID  string // ChatGPT's account: several users may share it, and one user have several
	Plan       string // in the provider's words
	PlanCode   string // PLUS, PRO, MAX, …; PlanCodeUnknown
	PlanSource PlanSource
	State      AuthState
	Reason     Reason // why State is not Authenticated
	Detail     string // the same in words: for operators, with the file's name
	ExpiresAt  time.Time
}

// Key is equal for two profiles that are one account, and so share its quota. "" = not known.
func (i Identity) Key() string { return cmp.Or(i.AccountID, i.UserID) }

// same reports whether both are the same account with the same plan.
func (i Identity) same(other Identity) bool {
	return i.Email == other.Email && i.UserID == other.UserID && i.AccountID == other.AccountID &&
		i.Plan == other.Plan && i.PlanSource == other.PlanSource
}

// identityOf is who the tokens belong to: the id token is asked first, then the access token, then the file.
func identityOf(t tokens) Identity {
	id, access := claimsOf(t.id), claimsOf(t.access)
	i := Identity{
		Email:     cmp.Or(id.email(), access.email(), t.email),
		UserID:    cmp.Or(id.user(), access.user()),
		AccountID: cmp.Or(t.account, id.account(), access.account()),
		PlanCode:  PlanCodeUnknown, PlanSource: PlanUnknown,
		ExpiresAt: t.expires,
	}
	for _, p := range []struct {
		plan   string
		source PlanSource
	}{{id.plan(), PlanFromClaim}, {access.plan(), PlanFromClaim}, {t.plan, PlanFromProvider}} {
		if code := planCode(p.plan); code != PlanCodeUnknown {
			i.Plan, i.PlanCode, i.PlanSource = p.plan, code, p.source
			break
		}
	}
	return i
}

// planCode is the first word of a plan in capitals: "Grok Pro" is GROK. A plan that calls itself unknown is none.
func planCode(plan string) string {
	word, _, _ := strings.Cut(strings.ToUpper(plan), " ")
	return cmp.Or(word, PlanCodeUnknown)
}
