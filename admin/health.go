package admin

import (
	"net/http"
	"slices"
)

// Check is one condition of readiness. It is shown to anybody: no secret, no account, no address.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // why not, or in what state; may be empty
}

// VersionInfo says which program answers.
type VersionInfo struct {
	Version   string `json:"version"`
	Commit    string `json:"commit"`
	GoVersion string `json:"go_version"`
}

// healthz answers as long as the process can.
func (a *Admin) healthz(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// Readiness answers for readyz, on this plane and on the other: 200 when every check holds, else 503, both with the
// checks. Without checks there is nothing to wait for.
func Readiness(checks func() []Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := struct {
			Status string  `json:"status"`
			Checks []Check `json:"checks"`
		}{"ready", []Check{}}
		if checks != nil {
			answer.Checks = append(answer.Checks, checks()...)
		}
		status := http.StatusOK
		if slices.ContainsFunc(answer.Checks, func(c Check) bool { return !c.OK }) {
			answer.Status, status = "not_ready", http.StatusServiceUnavailable
		}
		_ = writeJSON(w, status, answer) // strings and booleans: can be encoded
	})
}

func (a *Admin) readyz(w http.ResponseWriter, r *http.Request) error {
	a.ready.ServeHTTP(w, r)
	return nil
}

func (a *Admin) showVersion(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, a.version)
}
