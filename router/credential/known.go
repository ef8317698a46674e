package credential

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"time"

	"hermes-hub/router"
)

const (
	skew      = time.Minute     // a token with less left is refreshed before it is used
	justGiven = 5 * time.Minute // a token that is refused so soon after it was given is not mended by another refresh
	atLeast   = skew / 2        // between two refreshes, however short-lived the tokens are, and however wrong the clock
)

// known is what the flights of a store have learnt.
type known struct {
	reading *reading          // what calls are made with; nil = nothing, or the file has gone
	sum     [sha256.Size]byte // of the file's content, when it was understood last
	onDisk  router.Secret     // the access token in it then
	problem *Problem          // of the last look; the reading before it stays
	warned  fs.FileMode       // the mode that the log was warned of

	unwritten *grant // the reading's, which is not in the file yet

	givenAt  time.Time     // when the reading's token came from the endpoint; zero = it was read
	refused  router.Secret // the access token that the provider refused
	dead     router.Secret // the refresh token that the endpoint refused
	deadWhy  string
	failures int       // refreshes in a row that came to nothing
	failed   string    // how the last one did
	nextTry  time.Time // after failures
	locked   string    // how the lock was not had at the last try; "" = it was
}

// view shows what is known.
func (s *store) view(now time.Time) *view {
	k := &s.known
	if k.reading == nil {
		return &view{problem: k.problem}
	}
	t := k.reading.tokens
	v := &view{
		credential: Credential{Token: t.access, Kind: t.kind, AccountID: t.account, Project: t.project, ExpiresAt: t.expires},
		identity:   identityOf(t),
	}
	if !t.expires.IsZero() {
		v.due = t.expires.Add(-skew)
	}
	if k.isRefused() {
		v.problem = s.refusal(now)
	}
	v.stale = s.obstacle(now)
	switch {
	case v.stale == nil:
	case v.stale.Reason == ReasonRefreshFailed:
		v.again = k.nextTry
	case v.stale.Reason == ReasonLocked:
		v.again = now.Add(firstWait)
	}
	return v
}

// isRefused reports whether the provider has refused the token there is.
func (k *known) isRefused() bool {
	return !k.refused.Empty() && k.reading.tokens.access.Equal(k.refused)
}

// refusal is the problem of a token that the provider refuses.
func (s *store) refusal(now time.Time) *Problem {
	detail := "the provider refuses the token in " + s.key.file
	if s.known.tooSoon(now) {
		detail = "the provider refuses a token that was refreshed just now, of " + s.key.file
	} else if p := s.obstacle(now); p != nil {
		return p
	}
	return &Problem{State: AuthRequired, Reason: ReasonRefused, Detail: detail, Mend: s.mend()}
}

// tooSoon reports whether the token was given so recently that a refresh would not mend its refusal.
func (k *known) tooSoon(now time.Time) bool {
	return !k.givenAt.IsZero() && now.Sub(k.givenAt) < justGiven
}

// obstacle is why the tokens cannot be refreshed now, nil when they can. It does not ask whether the account allows it.
func (s *store) obstacle(now time.Time) *Problem {
	k := &s.known
	t, f := k.reading.tokens, k.reading.format
	lacks := func(detail, mend string) *Problem {
		return &Problem{State: AuthRequired, Reason: ReasonNoRefresh, Detail: s.key.file + " " + detail, Mend: mend}
	}
	switch e := s.endpoint(); {
	case k.problem != nil: // what cannot be read cannot be kept up to date either
		return k.problem
	case t.kind == APIKey:
		return lacks("holds a key, which cannot be refreshed", s.mend())
	case f == nil || t.refresh.Empty():
		return lacks("holds no refresh token", s.mend())
	case t.refresh.Equal(k.dead):
		return &Problem{
			State: AuthRequired, Reason: ReasonRefreshDead, Mend: s.mend(),
			Detail: fmt.Sprintf("the refresh token in %s is of no use any more (%s)", s.key.file, k.deadWhy),
		}
	case e.url == "":
		return lacks("does not say where its tokens are refreshed", "set auth_config.token_url")
	case e.clientID == "":
		return lacks("does not say which OAuth client its tokens belong to", "add client_id to it, or let the program that keeps it refresh it")
	case f.needSecret && e.clientSecret.Empty():
		return lacks("has no client_secret, without which its tokens are not refreshed", "add it, or let the program that keeps the file refresh it")
	case k.locked != "":
		return &Problem{State: AuthExpired, Reason: ReasonLocked, Detail: "the tokens are not refreshed: " + k.locked}
	case k.failures > 0:
		return &Problem{
			State: AuthExpired, Reason: ReasonRefreshFailed,
			Detail: fmt.Sprintf("the tokens in %s are not refreshed: %s", s.key.file, k.failed),
		}
	}
	return nil
}

// mayRefresh reports whether the endpoint is worth asking now: there is no obstacle, or one that time may have removed.
func (s *store) mayRefresh(now time.Time) bool {
	k := &s.known
	if now.Before(k.nextTry) || now.Before(k.givenAt.Add(atLeast)) || k.isRefused() && k.tooSoon(now) {
		return false
	}
	p := s.obstacle(now)
	return p == nil || p.Reason == ReasonLocked || p.Reason == ReasonRefreshFailed
}

// mend is what the file's user can do.
func (s *store) mend() string {
	if f := s.known.reading.format; f != nil {
		return f.mend
	}
	return "set another one"
}

// endpoint is where the tokens are refreshed: as the configuration says, else the file, else the program's own.
func (s *store) endpoint() endpoint {
	f, t := s.known.reading.format, s.known.reading.tokens
	if f == nil {
		return endpoint{}
	}
	e := endpoint{
		url:          cmp.Or(s.key.tokenURL, f.tokenURL),
		clientID:     cmp.Or(s.key.clientID, t.clientID, f.clientID),
		clientSecret: t.clientSecret,
		form:         f.form,
	}
	if !s.secret.Empty() {
		e.clientSecret = s.secret
	}
	return e
}

// has reports whether there is a token to call with that is not used, nor refused, nor due.
func (k *known) has(used router.Secret, now time.Time) bool {
	if k.reading == nil || k.isRefused() {
		return false
	}
	t := k.reading.tokens
	return !t.access.Empty() && !t.access.Equal(used) && (t.expires.IsZero() || now.Before(t.expires.Add(-skew)))
}
