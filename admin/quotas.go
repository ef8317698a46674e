package admin

import (
	"fmt"
	"net/http"
	"regexp"
	"time"

	"hermes-hub/admin/hub"
	"hermes-hub/quota"
)

func (a *Admin) listQuotas(w http.ResponseWriter, r *http.Request) error {
	part, err := readPart(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, cutNamed(a.picture.Store.Current().Quotas(), part, func(q hub.QuotaSnapshot) string { return q.AccountID }))
}

func (a *Admin) showQuota(w http.ResponseWriter, r *http.Request) error {
	p, err := a.profile(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, p.QuotaSnapshot)
}

// refreshQuotas looks at every account, or at one, and answers when what was found out can be seen.
func (a *Admin) refreshQuotas(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Profile string `json:"profile"` // "" = all
	}
	if err := readOptional(r, &body); err != nil {
		return err
	}
	return a.answerAction(w, body.Profile, a.picture.Accounts.Refresh(r.Context(), body.Profile))
}

// bucketID is how an id of a bucket is formed: a prefix, then what the bucket is of.
var bucketID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_:-]*)+$`)

// longestReset bounds how far off a simulated reset may be.
const longestReset = 366 * 24 * time.Hour

// simulate puts a bucket of the operator's own in the place of what was measured.
func (a *Admin) simulate(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Bucket           string   `json:"bucket"`
		RemainingPercent *float64 `json:"remaining_percent"`
		ResetInSeconds   *int64   `json:"reset_in_seconds"` // null: it is not known
	}
	if _, err := readQuery(r); err != nil {
		return err
	}
	if err := readJSON(r, &body); err != nil {
		return err
	}
	if len(body.Bucket) > 100 || !bucketID.MatchString(body.Bucket) {
		return invalid(fmt.Sprintf("bucket is %q; want the id of one, as in codex.session or antigravity.claude.5h", clip(body.Bucket)))
	}
	if p := body.RemainingPercent; p == nil || *p < 0 || *p > 100 {
		return invalid("remaining_percent is missing or outside of 0 to 100; DELETE ends a simulation")
	}
	b := quota.Bucket{ID: body.Bucket, RemainingPercent: quota.Known(*body.RemainingPercent), UsedPercent: quota.Known(100 - *body.RemainingPercent)}
	if in := body.ResetInSeconds; in != nil {
		if *in < 1 || *in > int64(longestReset.Seconds()) {
			return invalid(fmt.Sprintf("reset_in_seconds is %d; want 1 to %d, or null where the reset is not known", *in, int64(longestReset.Seconds())))
		}
		b.ResetAt = a.now().Add(time.Duration(*in) * time.Second)
	}
	id := r.PathValue("id")
	return a.answerAction(w, id, a.picture.Accounts.Simulate(r.Context(), id, b))
}

// stopSimulation takes out what was simulated of an account.
func (a *Admin) stopSimulation(w http.ResponseWriter, r *http.Request) error {
	if err := readOptional(r, &struct{}{}); err != nil {
		return err
	}
	id := r.PathValue("id")
	return a.answerAction(w, id, a.picture.Accounts.StopSimulation(r.Context(), id))
}
