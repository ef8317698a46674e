package admin

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"hermes-hub/telemetry"
)

// calls are the aggregates of a window as a whole, with those of its parts beside them.
type calls struct {
	telemetry.Aggregates
	WindowSeconds float64                         `json:"window_seconds"`
	Global        telemetry.Aggregates            `json:"global"` // the same again, under its name in the snapshot
	ByProvider    map[string]telemetry.Aggregates `json:"by_provider"`
	ByRole        map[string]telemetry.Aggregates `json:"by_role"`
}

// showTelemetry answers what the calls of a window came to, of one role, provider or profile where it is asked.
func (a *Admin) showTelemetry(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, "window", "role", "provider", "profile")
	if err != nil {
		return err
	}
	window, err := readSpan(cmp.Or(q.Get("window"), "24h"))
	if err != nil {
		return err
	}
	f := telemetry.Filter{Role: q.Get("role"), Provider: q.Get("provider"), Profile: q.Get("profile")}
	b := a.picture.Calls(window, f)
	if err := a.known(f, b); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, calls{b.Global, b.WindowSeconds, b.Global, b.ByProvider, b.ByRole})
}

// readSpan reads a length of time up to the one that is remembered.
func readSpan(given string) (time.Duration, error) {
	window, err := time.ParseDuration(given)
	if err != nil || window <= 0 || window > telemetry.Kept {
		return 0, invalid(fmt.Sprintf("window is %q; want a length of time up to 24h, as in 90m or 24h", clip(given)))
	}
	return window, nil
}

// known tells of a filter by something that there is not. What was removed is known as long as its calls are.
func (a *Admin) known(f telemetry.Filter, b telemetry.Breakdown) error {
	if b.HasData {
		return nil
	}
	edition := a.picture.Store.Current()
	for _, by := range []struct {
		kind, name string
		has        func(string) bool
	}{{"role", f.Role, edition.HasRole}, {"provider", f.Provider, edition.HasProvider}, {"profile", f.Profile, edition.HasProfile}} {
		if by.name != "" && by.name != telemetry.Other && !by.has(by.name) {
			return unknown(by.kind, by.name)
		}
	}
	return nil
}

// unknown is the answer to a name that nothing has.
func unknown(kind, name string) error {
	return newProblem(http.StatusNotFound, "unknown-"+kind, fmt.Sprintf("There is no %s %q.", kind, clip(name)))
}

// showHost answers what the machine was measured to be at last.
func (a *Admin) showHost(w http.ResponseWriter, r *http.Request) error {
	if _, err := readQuery(r); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, a.picture.Host())
}
