package credential

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"hermes-hub/router"
)

// storeKey is what makes two accounts use one store: the same file, understood and refreshed in the same way.
type storeKey struct {
	file, provider, tokenURL, proxyURL, clientID string
	clientSecret                                 string // its fingerprint
	keys                                         bool   // the file may be a key: it is one of Options.Dir
}

// store is one file of tokens.
type store struct {
	key    storeKey
	secret router.Secret // the OAuth client's, of the configuration
	rig    *rig

	shown atomic.Pointer[view] // never nil

	mu     sync.Mutex
	flight *flight // nil = none is under way
	again  bool    // the file was touched since the flight looked

	known known // the flight's
}

// newStore is a store that has read its file: nobody else has it yet.
func newStore(key storeKey, secret router.Secret, r *rig) *store {
	s := &store{key: key, secret: secret, rig: r}
	s.look()
	s.shown.Store(s.view(r.now()))
	return s
}

// view is what a store knows, for everybody to see: immutable.
type view struct {
	credential Credential
	identity   Identity // without State and what explains it
	problem    *Problem // why the credential is not to be used; nil = as far as is known it is good until it runs out
	stale      *Problem // the problem once it has run out, nil when it can be refreshed then, the account allowing
	due        time.Time
	again      time.Time // when a refresh that came to nothing is worth another try, though nobody asks; zero = it is not
}

// ready reports whether calls may be made with the credential at once.
func (v *view) ready(now time.Time) bool {
	return v.problem == nil && !v.credential.Token.Empty() && (v.due.IsZero() || now.Before(v.due))
}

// usable reports whether the credential has not run out yet, though it may be due.
func (v *view) usable(now time.Time) bool {
	until := v.credential.ExpiresAt
	return v.problem == nil && !v.credential.Token.Empty() && (until.IsZero() || now.Before(until))
}

// missing reports whether there is no file.
func (v *view) missing() bool { return v.problem != nil && v.problem.Reason == ReasonFileMissing }

// errand is what a flight is for: a token other than used.
type errand struct {
	used    router.Secret
	refused bool // a provider has refused used
	renew   bool // the account allows a refresh
	anew    bool // what was held against the tokens is forgotten first
}

// serves reports whether the flight on errand e makes one on other needless.
func (e errand) serves(other errand) bool {
	return e.used.Equal(other.used) && e.refused == other.refused && (e.renew || !other.renew) && (e.anew || !other.anew)
}

// flight is one look at the file, with a refresh when one is due. The callers of the moment share it.
type flight struct {
	errand errand
	done   chan struct{}
}

// flightTime bounds a flight: two locks are waited for and two requests made at most.
const flightTime = 2 * time.Minute

// send takes the flight that is under way, or starts one. nil: the hub is stopping, and none starts any more.
func (s *store) send(ctx context.Context, e errand) *flight {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flight != nil {
		return s.flight
	}
	f := &flight{errand: e, done: make(chan struct{})}
	// The callers may leave; a token that was asked for must not be lost with them.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flightTime)
	if !s.rig.start(func() { defer cancel(); s.fly(ctx, f) }) {
		cancel()
		return nil
	}
	s.flight = f
	return f
}

// fly does a flight's work and shows what came of it, until nobody has touched the file meanwhile; then the next one may
// start.
func (s *store) fly(ctx context.Context, f *flight) {
	s.serve(ctx, f.errand)
	for {
		s.shown.Store(s.view(s.rig.now()))
		s.rig.announce()
		if s.land() {
			break
		}
		s.look()
	}
	close(f.done)
}

// land ends the flight, unless the file was touched.
func (s *store) land() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.again {
		s.again = false
		return false
	}
	s.flight = nil
	return true
}

// touch says that the file may have changed. It does not wait.
func (s *store) touch(ctx context.Context) {
	s.mu.Lock()
	under := s.flight != nil
	s.again = s.again || under
	s.mu.Unlock()
	if !under {
		s.send(ctx, errand{})
	}
}

// better waits for a token other than the errand's, or for what there is when none can be had. An error is ctx's.
func (s *store) better(ctx context.Context, e errand) (*view, error) {
	for {
		f := s.send(ctx, e)
		if f == nil {
			return s.shown.Load(), nil
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return s.shown.Load(), context.Cause(ctx)
		}
		v := s.shown.Load()
		if f.errand.serves(e) || v.ready(s.rig.now()) && !v.credential.Token.Equal(e.used) {
			return v, nil
		}
	}
}
