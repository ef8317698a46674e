package credential

import "fmt"

// Reason is why an account has no credential to call with.
type Reason string

// The reasons.
const (
	ReasonNone          Reason = "none_configured" // no key, no file
	ReasonFileMissing   Reason = "file_missing"    // nobody signed in, or somebody signed out
	ReasonFileUnread    Reason = "file_unreadable" // permissions, a folder, a device
	ReasonFileShape     Reason = "file_not_tokens" // no JSON, cut short, too large, or other content than tokens
	ReasonForeign       Reason = "file_of_another" // tokens of another provider
	ReasonExpired       Reason = "expired"         // run out, and refresh is off
	ReasonNoRefresh     Reason = "not_renewable"   // run out, and nothing there to refresh it with
	ReasonRefreshDead   Reason = "refresh_refused" // the refresh token is used up, expired or revoked
	ReasonRefreshFailed Reason = "refresh_failing" // the token endpoint cannot be reached or is in trouble
	ReasonLocked        Reason = "file_locked"     // another program holds the file's lock, or no lock can be made
	ReasonRefused       Reason = "token_refused"   // the provider refuses a token that should be good
)

// Problem is the error of an account that has no credential to call with. It names the file and what mends it, and holds
// no secret: it is for logs and operators; clients get no more than its Reason.
type Problem struct {
	Profile string
	State   AuthState
	Reason  Reason
	Detail  string // what is wrong, in words
	Mend    string // what to do about it; "" = wait
}

func (p *Problem) Error() string {
	text := fmt.Sprintf("credential of %s: %s", p.Profile, p.Detail)
	if p.Mend != "" {
		text += ": " + p.Mend
	}
	return text
}

// of is the problem as that account's: two accounts may share a file.
func (p *Problem) of(profile string) *Problem {
	own := *p
	own.Profile = profile
	return &own
}
