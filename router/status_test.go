package router

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
)

// The state of an account in one word, and who would serve each role: what metrics show.
func TestStatuses(t *testing.T) {
	off, spare, busy := account("off", "m"), account("spare", "m"), account("busy", "m")
	off.Enabled, spare.ColdSpare, busy.MaxConcurrency = false, true, 1
	classes := []quota.Class{
		quota.AuthInvalid, quota.Billing, quota.Forbidden, quota.QuotaExhausted, quota.RateLimited, quota.ServerError,
	}
	profiles := []Profile{off, spare, busy}
	answers := map[string][]quota.Reading{}
	for _, class := range classes {
		profiles = append(profiles, account(string(class), "m"))
		answers[string(class)] = []quota.Reading{refusal(class, quota.ScopeAccount, time.Time{})}
	}
	answers["off"], answers["spare"] = answers["billing"], answers["billing"]
	profiles = append(profiles, account("family", "m"), account("fine", "m"))
	answers["family"] = []quota.Reading{refusal(quota.QuotaExhausted, quota.ScopeFamily, time.Time{})}
	tab := table(t, profiles, role("out", "off", "busy", "spare"), role("late", "busy", "family", "fine"))
	s := learnt(tab, answers, "m")

	var got strings.Builder
	for _, st := range Statuses(s, held{2: 1}, noon) {
		got.WriteString(fmt.Sprintf("%s %s %d/%d\n", st.ID, st.State, st.Held, st.Limit))
		if !slices.Contains(ProfileStates(), st.State) {
			t.Errorf("state %q is not in the list", st.State)
		}
	}
	equalText(t, got.String(), `
		off disabled 0/0
		spare cold_spare 0/0
		busy healthy 1/1
		auth_invalid auth_required 0/0
		billing billing 0/0
		forbidden forbidden 0/0
		quota_exhausted quota_exhausted 0/0
		rate_limited rate_limited 0/0
		server_error cooldown 0/0
		family healthy 0/0
		fine healthy 0/0`)
}
