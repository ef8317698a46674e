package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hermes-hub/admin/hub"
	"hermes-hub/quota"
)

// Accounts carry out an operator's word about accounts, and return when the newest picture shows it. What an operator
// switches stays so over a restart. The errors are ErrUnknownProfile, or failures.
type Accounts interface {
	// Switch turns an account on or off.
	Switch(ctx context.Context, profile string, on bool) error
	// SetMain makes an account the main one, and every other none.
	SetMain(ctx context.Context, profile string) error
	// ClearCooldown forgets what stands against an account, a refused credential apart.
	ClearCooldown(ctx context.Context, profile string) error
	// Refresh looks at an account now, "" = at every one. A look that fails is a *LookError.
	Refresh(ctx context.Context, profile string) error
	// Test finds out whether an account's provider takes its credential.
	Test(ctx context.Context, profile string) (TestResult, error)
	// Simulate puts a bucket of an operator's own in the place of what was measured, until the next measurement of it.
	Simulate(ctx context.Context, profile string, b quota.Bucket) error
	// StopSimulation takes out what was simulated and looks at the account.
	StopSimulation(ctx context.Context, profile string) error
}

// ErrUnknownProfile means that no account has this id.
var ErrUnknownProfile = errors.New("no such profile")

// LookError is a look at an account that has failed.
type LookError struct{ Err error }

func (e *LookError) Error() string { return "look at the account: " + e.Err.Error() }

// Unwrap is what went wrong, without a secret or an address.
func (e *LookError) Unwrap() error { return e.Err }

// TestResult is what a test of an account came to. Nothing was spent by it.
type TestResult struct {
	OK       bool          `json:"ok"`      // the provider answered and takes the credential
	Outcome  string        `json:"outcome"` // as of a look: measured, not_exposed, auth, …
	DetailRU string        `json:"detail_ru"`
	DetailEN string        `json:"detail_en"`
	Models   []string      `json:"models"` // that the provider offers the account; null = unknown
	Took     time.Duration `json:"-"`
}

// actionRoutes are what may be done with an account. No action takes anything but the account.
func (a *Admin) actionRoutes() []route {
	p := a.picture.Accounts
	act := func(name string, do func(ctx context.Context, profile string) error) route {
		return route{http.MethodPost, "/admin/v1/profiles/:id/" + name, needAdmin, a.act(do)}
	}
	return []route{
		act("enable", func(ctx context.Context, id string) error { return p.Switch(ctx, id, true) }),
		act("disable", func(ctx context.Context, id string) error { return p.Switch(ctx, id, false) }),
		act("set-main", p.SetMain),
		act("clear-cooldown", p.ClearCooldown),
		act("refresh", p.Refresh),
		{http.MethodPost, "/admin/v1/profiles/:id/test", needAdmin, a.test},
	}
}

// acted answers an action: the account as it is since, and the numbers of the picture that shows it.
type acted struct {
	Profile *hub.ProfileViewModel `json:"profile"` // null: the action was about every account, or the account has gone since
	pictured
}

// pictured are the numbers of a picture.
type pictured struct {
	Generation uint64 `json:"generation"`
	Seq        uint64 `json:"seq"`
	StoreEpoch string `json:"store_epoch"`
}

func picturedIn(e *hub.Edition) pictured {
	s := e.Stamp()
	return pictured{s.Generation, s.Seq, s.Epoch}
}

// act serves an action on one account.
func (a *Admin) act(do func(ctx context.Context, profile string) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := readOptional(r, &struct{}{}); err != nil {
			return err
		}
		id := r.PathValue("id")
		return a.answerAction(w, id, do(r.Context(), id))
	}
}

// answerAction answers what an action came to.
func (a *Admin) answerAction(w http.ResponseWriter, profile string, err error) error {
	if err := ofAction(profile, err); err != nil {
		return err
	}
	edition := a.picture.Store.Current()
	answer := acted{pictured: picturedIn(edition)}
	if p, ok := edition.Profile(profile); ok {
		answer.Profile = &p
	}
	return writeJSON(w, http.StatusOK, answer)
}

// ofAction is the problem that an action ran into.
func ofAction(profile string, err error) error {
	if errors.Is(err, ErrUnknownProfile) {
		return unknown("profile", profile)
	}
	if errors.Is(err, hub.ErrStopped) || errors.Is(err, context.Canceled) {
		return newProblem(http.StatusServiceUnavailable, "stopping", "The hub is stopping; ask again when it is back.")
	}
	if failed, ok := errors.AsType[*LookError](err); ok {
		return newProblem(http.StatusBadGateway, "look-failed", "The provider could not be asked: "+failed.Err.Error())
	}
	return err
}

func (a *Admin) test(w http.ResponseWriter, r *http.Request) error {
	if err := readOptional(r, &struct{}{}); err != nil {
		return err
	}
	id := r.PathValue("id")
	result, err := a.picture.Accounts.Test(r.Context(), id)
	if err := ofAction(id, err); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		ProfileID string `json:"profile_id"`
		TestResult
		TookMS int64 `json:"took_ms"`
		pictured
	}{id, result, result.Took.Milliseconds(), picturedIn(a.picture.Store.Current())})
}

func (a *Admin) listProfiles(w http.ResponseWriter, r *http.Request) error {
	part, err := readPart(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, cutNamed(a.picture.Store.Current().Profiles(), part, func(p hub.ProfileViewModel) string { return p.ProfileID }))
}

func (a *Admin) showProfile(w http.ResponseWriter, r *http.Request) error {
	p, err := a.profile(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, p)
}

// profile is the account that the path names.
func (a *Admin) profile(r *http.Request) (hub.ProfileViewModel, error) {
	if _, err := readQuery(r); err != nil {
		return hub.ProfileViewModel{}, err
	}
	id := r.PathValue("id")
	p, ok := a.picture.Store.Current().Profile(id)
	if !ok {
		return p, unknown("profile", id)
	}
	return p, nil
}
