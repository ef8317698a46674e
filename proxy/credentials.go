package proxy

import (
	"context"
	"net/http"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// Credentials tell what an account is called with. Both methods are called from many goroutines and may wait for a token
// endpoint, as long as ctx lasts.
type Credentials interface {
	// Current is what a call is made with now. The error says why there is nothing; it may name files, and goes to the log
	// alone.
	Current(ctx context.Context, p *router.Profile) (Credential, error)
	// Refused says that the provider has refused used. The Credential is another one to try, if ok.
	Refused(ctx context.Context, p *router.Profile, used Credential) (other Credential, ok bool)
}

// Credential is what an account is called with.
type Credential struct {
	Token     router.Secret
	OAuth     bool   // a token that somebody has signed in for, and no key
	AccountID string // ChatGPT's account; "" = not known
	Project   string // Google's project; "" = not known
}

// credential is what the account is called with now: its configured key, where nobody knows better.
func (p *Proxy) credential(ctx context.Context, profile *router.Profile) (Credential, error) {
	if p.credentials == nil {
		return Credential{Token: profile.Credential}, nil
	}
	return p.credentials.Current(ctx, profile)
}

// renew asks for another credential in the place of the one that was refused, once an attempt. It reports whether the call
// is worth making again.
func (t *try) renew(status int, r quota.Reading) bool {
	x := t.x
	refused := status == http.StatusUnauthorized || r.Class == quota.AuthExpired
	if !refused || t.renewed || x.p.credentials == nil {
		return false
	}
	t.renewed = true
	other, ok := x.p.credentials.Refused(t.ctx, t.n.Profile, t.with)
	if ok {
		t.with = other
	}
	return ok
}

// lacking is an attempt that could not be made for want of a credential: another account may have one.
func (t *try) lacking(err error) *failure {
	if t.ctx.Err() != nil { // it took too long to find out
		return t.lost(err, 0)
	}
	t.x.p.logger.Warn("no credential to call with", "profile", t.n.Profile.ID, "error", err)
	return t.fail(quota.Reading{
		Class: quota.AuthExpired, Scope: quota.ScopeAccount, Failover: true, Source: quota.SourceRuntimeEvent, Reason: "credential_unavailable",
	}, 0, nil)
}
