package router

import "time"

// ProfileState is the condition of an account in one word, as metrics and dashboards show it.
type ProfileState string

// The states of an account as a whole. Those of one model or family of it are told by Choose.
const (
	ProfileHealthy   ProfileState = "healthy"
	ProfileDisabled  ProfileState = "disabled"
	ProfileColdSpare ProfileState = "cold_spare"

	// In the words of quota.State.
	ProfileAuthRequired ProfileState = "auth_required"
	ProfileBilling      ProfileState = "billing"
	ProfileForbidden    ProfileState = "forbidden"
	ProfileQuota        ProfileState = "quota_exhausted"
	ProfileRateLimited  ProfileState = "rate_limited"
	ProfileCooldown     ProfileState = "cooldown"
)

// ProfileStates lists every state, for metrics that exist before the first request.
func ProfileStates() []ProfileState {
	return []ProfileState{
		ProfileHealthy, ProfileDisabled, ProfileColdSpare, ProfileAuthRequired, ProfileBilling, ProfileForbidden,
		ProfileQuota, ProfileRateLimited, ProfileCooldown,
	}
}

// ProfileStatus is one account at a moment.
type ProfileStatus struct {
	ID    string
	State ProfileState
	Held  int // slots taken, by every instance together
	Limit int // 0 = unlimited
}

// Statuses tells the condition of every account at now, in file order.
func Statuses(s *Snapshot, occ Occupancy, now time.Time) []ProfileStatus {
	all := make([]ProfileStatus, 0, len(s.Table.Profiles))
	for i, p := range s.Table.Profiles {
		all = append(all, ProfileStatus{p.ID, stateOf(s, i, now), occ.Held(i), p.MaxConcurrency})
	}
	return all
}

// stateOf puts what the owner configured before what was learnt.
func stateOf(s *Snapshot, i int, now time.Time) ProfileState {
	p, block := s.Table.Profiles[i], s.Standings[i].Account(now)
	switch {
	case !p.Enabled:
		return ProfileDisabled
	case p.ColdSpare:
		return ProfileColdSpare
	case block.State != "":
		return ProfileState(block.State)
	case s.outageOf(i).resting(now):
		return ProfileCooldown
	default:
		return ProfileHealthy
	}
}
