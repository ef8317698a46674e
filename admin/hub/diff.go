package hub

import (
	"maps"
	"reflect"
	"slices"
)

// Diff is by which events one picture becomes the next, in an order in which they can be applied. What merely passes with
// time is no change: countdowns, and when something was looked at. The events have no numbers yet. None: the pictures are
// the same to whoever follows the events.
func Diff(before, after *HubSnapshot) []Payload {
	events := accountsGone(before, after)
	for _, id := range slices.Sorted(maps.Keys(after.AllProfiles)) {
		events = append(events, accountChanged(before.AllProfiles[id], after.AllProfiles[id])...)
	}
	for i := range after.Agents {
		agent := &after.Agents[i]
		is, was := after.Routing[agent.RoleID], before.Routing[agent.RoleID]
		if was == nil || !was.same(is) {
			events = append(events, &RoutingUpdated{RoleID: is.RoleID, ActiveProfileID: is.ActiveProfileID, Pipeline: is})
		}
		old := slices.IndexFunc(before.Agents, func(a AgentViewModel) bool { return a.RoleID == agent.RoleID })
		if old < 0 || !before.Agents[old].same(*agent) {
			events = append(events, &AgentUpdated{RoleID: agent.RoleID, Agent: agent})
		}
	}
	if !reflect.DeepEqual(before.Readiness, after.Readiness) {
		events = append(events, &ReadinessChanged{Readiness: &after.Readiness})
	}
	for id := range before.Routing {
		if after.Routing[id] == nil {
			return append(events, &Resync{}) // no event says that a role is gone
		}
	}
	return events
}

func accountsGone(before, after *HubSnapshot) []Payload {
	var events []Payload
	for _, id := range slices.Sorted(maps.Keys(before.AllProfiles)) {
		if after.AllProfiles[id] == nil {
			events = append(events, &AccountRemoved{Provider: before.AllProfiles[id].Provider, ProfileID: id})
		}
	}
	return events
}

// accountChanged tells what has become of one account; was is nil for one that is new.
func accountChanged(was, is *ProfileViewModel) []Payload {
	if was == nil {
		return []Payload{&AccountAdded{Provider: is.Provider, ProfileID: is.ProfileID, Profile: is}}
	}
	var events []Payload
	if was.AuthState != is.AuthState {
		events = append(events, is.authChanged())
	}
	if !was.same(is) {
		events = append(events, &AccountUpdated{ProfileID: is.ProfileID, Profile: is})
	}
	if !was.QuotaSnapshot.same(is.QuotaSnapshot) {
		events = append(events, &QuotaUpdated{Provider: is.Provider, ProfileID: is.ProfileID, Snapshot: is.QuotaSnapshot, QuotaSnapshot: is.QuotaSnapshot})
	}
	return events
}

func (p *ProfileViewModel) authChanged() *AccountAuthChanged {
	return &AccountAuthChanged{Provider: p.Provider, ProfileID: p.ProfileID, AuthState: p.AuthState}
}

// same compares accounts without their quota. It is written out because it is made for every account every second.
func (p *ProfileViewModel) same(o *ProfileViewModel) bool {
	return p.ProfileID == o.ProfileID && p.DisplayName == o.DisplayName && p.AccountIdentity == o.AccountIdentity &&
		p.Provider == o.Provider && p.ProviderDisplayName == o.ProviderDisplayName &&
		slices.Equal(p.AssignedRoles, o.AssignedRoles) && p.PrimaryRole == o.PrimaryRole &&
		p.IsMainAccount == o.IsMainAccount && p.IsMainOrchestrator == o.IsMainOrchestrator &&
		p.AuthState == o.AuthState && p.HealthState == o.HealthState && p.HealthLabelRU == o.HealthLabelRU && p.HealthLabelEN == o.HealthLabelEN &&
		maps.EqualFunc(p.ModelStates, o.ModelStates, (*ModelFamilyHealth).same) &&
		p.Enabled == o.Enabled && p.IsColdSpare == o.IsColdSpare && p.IsEmptySlot == o.IsEmptySlot && p.Email == o.Email &&
		p.Plan == o.Plan && p.PlanEN == o.PlanEN && p.PlanCode == o.PlanCode && p.PlanSource == o.PlanSource &&
		slices.Equal(p.PreferredModels, o.PreferredModels) && p.ActiveLeases == o.ActiveLeases
}

// same compares conditions without the countdown, which the label repeats.
func (m *ModelFamilyHealth) same(o *ModelFamilyHealth) bool {
	return m.Family == o.Family && m.State == o.State && m.ResetAt == o.ResetAt && m.Reason == o.Reason
}

// same compares quotas.
func (q *QuotaSnapshot) same(o *QuotaSnapshot) bool {
	return q.AccountID == o.AccountID && q.Provider == o.Provider && q.StaleAfterSeconds == o.StaleAfterSeconds && q.Source == o.Source &&
		q.UnavailableReason == o.UnavailableReason && q.UnavailableReasonEN == o.UnavailableReasonEN && q.IsEstimated == o.IsEstimated &&
		slices.EqualFunc(q.Buckets, o.Buckets, QuotaBucket.same)
}

// same compares pools without the time until the reset.
func (v QuotaBucket) same(o QuotaBucket) bool {
	o.ResetInSeconds, o.ResetLabelRU, o.ResetLabelEN = v.ResetInSeconds, v.ResetLabelRU, v.ResetLabelEN
	return v == o
}

// same compares routes.
func (p *RolePipeline) same(o *RolePipeline) bool {
	return p.RoleID == o.RoleID && p.RoleNameRU == o.RoleNameRU && p.RoleNameEN == o.RoleNameEN && p.DefaultModel == o.DefaultModel &&
		p.MaxFailover == o.MaxFailover && p.SessionAffinity == o.SessionAffinity && p.ActiveProfileID == o.ActiveProfileID &&
		slices.EqualFunc(p.Nodes, o.Nodes, PipelineNode.same)
}

// same compares steps without the countdown.
func (n PipelineNode) same(o PipelineNode) bool {
	o.CooldownRemainingSec = n.CooldownRemainingSec
	return n == o
}

// same compares agents without the countdown.
func (a AgentViewModel) same(o AgentViewModel) bool {
	o.CooldownRemainingSec = a.CooldownRemainingSec
	return a == o
}
