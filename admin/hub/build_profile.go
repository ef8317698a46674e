package hub

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"hermes-hub/router"
)

// profile is the view of one account.
func (b *builder) profile(i int) *ProfileViewModel {
	p, id := b.table.Profiles[i], b.src.Identities[b.table.Profiles[i].ID]
	auth, models := b.auth(i), b.models(i)
	health := b.health(i, auth, models)
	view := &ProfileViewModel{
		ProfileID: p.ID, DisplayName: displayName(p), AccountIdentity: identityOf(p, id).text,
		Provider: p.Provider.ID, ProviderDisplayName: p.Provider.Name,
		AssignedRoles: []string{}, IsMainAccount: p.Main,
		AuthState: auth, HealthState: health.state, ModelStates: b.families(i, auth, models),
		CooldownRemainingSec: health.remaining(b.now),
		Enabled:              p.Enabled, IsColdSpare: p.ColdSpare, IsEmptySlot: auth == NotConfigured,
		Email: id.Email, QuotaSnapshot: b.quota(i, auth),
		PreferredModels: append([]string{}, p.PreferredModels...),
		ActiveLeases:    b.src.ActiveCalls[p.ID],
	}
	view.HealthLabelRU, view.HealthLabelEN = healthLabel(health, auth)
	view.setPlan(planOf(id, b.src.Looks[p.ID]))
	b.assign(view, i)
	if at := b.checkedAt(i, view.QuotaSnapshot); !at.IsZero() {
		view.LastCheckedAt = Known(at.In(b.now.Location()).Format(time.TimeOnly))
	}
	return view
}

// orchestrator is the role whose primary is the main orchestrator.
const orchestrator = "orchestrator"

// assign tells the roles in whose chains the account stands. Its primary role is the first that it heads, else the first
// that it serves at all.
func (b *builder) assign(view *ProfileViewModel, i int) {
	heads := false
	for _, j := range b.jobs[i] {
		place := "primary"
		if j.position > 0 {
			place = "fallback " + strconv.Itoa(j.position)
		}
		view.AssignedRoles = append(view.AssignedRoles, j.role.ID+" ("+place+")")
		if !view.PrimaryRole.Known || j.position == 0 && !heads {
			view.PrimaryRole = Known(j.role.ID)
		}
		heads = heads || j.position == 0
		if j.role.ID == orchestrator && j.position == 0 {
			view.IsMainOrchestrator = true
		}
	}
}

// checkedAt is when the account was looked at last: beside its calls, or by an answer that measured something.
func (b *builder) checkedAt(i int, q *QuotaSnapshot) time.Time {
	at := b.src.Looks[b.table.Profiles[i].ID].At
	if q.Source != QuotaBaseline && q.Source != QuotaUnconfigured && q.FetchedAt.After(at) {
		return q.FetchedAt
	}
	return at
}

// displayName is the configured name, else that of the slot, else the id.
func displayName(p *router.Profile) string { return cmp.Or(p.DisplayName, slotNames[p.ID], p.ID) }

// name is an account's best identifier, and whether it tells whose it is.
type name struct {
	text    string
	private bool
}

// identityOf is the best identifier of an account: e-mail, configured name, the provider's id of it, the profile's id.
func identityOf(p *router.Profile, id Identity) name {
	switch account := cmp.Or(id.AccountID, p.AccountID); {
	case id.Email != "":
		return name{id.Email, true}
	case p.DisplayName != "":
		return name{p.DisplayName, false}
	case account != "":
		return name{account, true}
	}
	return name{p.ID, false}
}

// providers summarises the accounts by provider.
func (b *builder) providers(by map[string][]*ProfileViewModel) []ProviderSummary {
	all := make([]ProviderSummary, 0, len(by))
	for id, profiles := range by {
		s := ProviderSummary{ProviderID: id, ProviderName: profiles[0].ProviderDisplayName, TotalSlots: len(profiles), DiscoveredModels: []string{}}
		var last time.Time
		for _, p := range profiles {
			s.count(p)
			look := b.src.Looks[p.ProfileID]
			s.DiscoveredModels = append(s.DiscoveredModels, look.Models...)
			if look.At.After(last) {
				last = look.At
			}
		}
		slices.Sort(s.DiscoveredModels)
		s.DiscoveredModels, s.LastRefreshAt = slices.Compact(s.DiscoveredModels), instant(last)
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y ProviderSummary) int {
		return cmp.Or(cmp.Compare(y.ConnectedCount, x.ConnectedCount), cmp.Compare(y.TotalSlots, x.TotalSlots),
			cmp.Compare(x.ProviderName, y.ProviderName), cmp.Compare(x.ProviderID, y.ProviderID))
	})
	return all
}

func (s *ProviderSummary) count(p *ProfileViewModel) {
	switch p.AuthState {
	case Authenticated:
		s.ConnectedCount++
	case AuthRequired, AuthExpired:
		s.AuthRequiredCount++
	}
	switch p.HealthState {
	case HealthHealthy:
		s.OnlineCount++
	case HealthQuota, HealthRateLimited:
		s.QuotaExhaustedCount++
	}
	if p.IsColdSpare {
		s.ColdSpareCount++
	}
}
