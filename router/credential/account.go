package credential

import (
	"cmp"
	"time"

	"hermes-hub/router"
)

// account is one profile's credentials, in the order in which they count.
type account struct {
	profile  string
	renew    bool   // its file may be refreshed and written
	override *store // of Options.Dir; nil = it has none
	fixed    *view  // of the configuration; nil = file
	file     *store
}

// now is what counts now. The store is nil when it is no file's.
func (a *account) now() (*view, *store) {
	if a.override != nil {
		if v := a.override.shown.Load(); !v.missing() {
			return v, a.override
		}
	}
	if a.fixed != nil {
		return a.fixed, nil
	}
	return a.file.shown.Load(), a.file
}

// fixedView is a key or token of the configuration. Nothing but another configuration brings a new one.
func fixedView(secret router.Secret, token bool) *view {
	t := tokens{access: secret, kind: kindOf(secret)}.withClaims()
	if token {
		t.kind = OAuth
	}
	return &view{
		credential: Credential{Token: t.access, Kind: t.kind, AccountID: t.account, ExpiresAt: t.expires},
		identity:   identityOf(t),
		stale:      &Problem{State: AuthRequired, Reason: ReasonExpired, Detail: "the token of the configuration has run out", Mend: "set another one in auth_config"},
		due:        t.expires,
	}
}

// verdict is what a call gets out of a view.
func (a *account) verdict(v *view, now time.Time) (Credential, error) {
	if v.usable(now) {
		return v.credential, nil
	}
	return Credential{}, a.trouble(v).of(a.profile)
}

// trouble is the problem of a view that is not usable.
func (a *account) trouble(v *view) *Problem {
	switch {
	case v.problem != nil:
		return v.problem
	case v.stale != nil && (a.renew || v == a.fixed || v.stale.State == NotConfigured): // the last: its file is broken
		return v.stale
	case a.renew:
		return &Problem{State: AuthExpired, Reason: ReasonExpired, Detail: "the token has run out and was not refreshed yet"}
	}
	return &Problem{
		State: AuthExpired, Reason: ReasonExpired, Detail: "the token has run out, and refresh is off",
		Mend: "let the program that keeps the file refresh it",
	}
}

// identity is the account's, with its state. A token that can be refreshed does not have to be good now.
func (a *account) identity(v *view, now time.Time) Identity {
	i := v.identity
	i.PlanCode, i.PlanSource = cmp.Or(i.PlanCode, PlanCodeUnknown), cmp.Or(i.PlanSource, PlanUnknown)
	i.State = Authenticated
	if v.usable(now) || v.problem == nil && v.stale == nil && a.renew {
		return i
	}
	p := a.trouble(v)
	i.State, i.Reason, i.Detail = p.State, p.Reason, p.Detail
	if p.Mend != "" {
		i.Detail += ": " + p.Mend
	}
	return i
}

// told is what was said of an account last.
type told struct {
	token    router.Secret
	identity Identity
}

// announce tells OnChange what has changed since it was told last. Of an account that is new there is nothing to tell.
func (k *Keyring) announce() {
	k.telling.Lock()
	defer k.telling.Unlock()
	accounts, now := *k.accounts.Load(), k.rig.now()
	for profile := range k.told {
		if accounts[profile] == nil {
			delete(k.told, profile)
		}
	}
	for profile, a := range accounts {
		v, _ := a.now()
		is := told{v.credential.Token, a.identity(v, now)}
		was, knew := k.told[profile]
		k.told[profile] = is
		if knew && k.onChange != nil {
			for _, e := range is.since(was) {
				k.onChange(Change{Profile: profile, Event: e, Identity: is.identity})
			}
		}
	}
}

// since lists what is different from before.
func (t told) since(before told) []Event {
	var events []Event
	good, wasGood := t.identity.State == Authenticated, before.identity.State == Authenticated
	if !t.identity.same(before.identity) {
		events = append(events, IdentityChanged)
	}
	if !t.token.Equal(before.token) && !t.token.Empty() {
		events = append(events, CredentialChanged)
	}
	switch {
	case wasGood && !good:
		events = append(events, AuthLost)
	case good && !wasGood:
		events = append(events, AuthRegained)
	}
	return events
}
