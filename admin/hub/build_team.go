package hub

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// route is a role with its steps in the order in which they are tried, as the router would plan its next request: of a
// session that prefers nobody, and as if every slot were free. That an account is busy for a moment moves no pipeline.
type route struct {
	b      *builder
	role   *router.Role
	names  roleText
	steps  []router.Node
	active int // index in steps; -1 = nobody can serve
}

// anyModel stands for whatever model a client may name: an account that lists no models is asked for it, and is as usable as
// one that does.
const anyModel = "*"

func (b *builder) route(r *router.Role) *route {
	var plan router.Plan
	router.Choose(b.src.Router, router.Query{Role: r, Model: anyModel, AnyNode: true}, -1, router.Vacant{}, b.now, &plan)
	line := &route{b: b, role: r, names: textOf(r), steps: plan.Nodes}
	line.active = slices.IndexFunc(line.steps, func(n router.Node) bool {
		return n.Reason == router.Usable && b.views[n.Index].AuthState == Authenticated
	})
	return line
}

// condition is that of a step. A cold spare that serves is none.
func (l *route) condition(i int) condition {
	s := &l.steps[i]
	auth := l.b.views[s.Index].AuthState
	switch {
	case !s.Profile.Enabled:
		return condition{state: HealthDisabled}
	case s.Profile.ColdSpare && i != l.active:
		return condition{state: HealthColdSpare}
	case auth == NotConfigured:
		return condition{state: HealthNotConfigured}
	case auth != Authenticated:
		return condition{state: HealthAuthRequired, source: s.Block.Source}
	case s.Reason == router.Usable, s.Reason == router.ReasonThreshold:
		return condition{state: HealthHealthy}
	}
	c := conditionOf(&s.Block)
	c.state = healthOf(quota.State(s.Reason)) // what is no state of a block is an error
	return c
}

// position is the name of a step by its place.
func position(i int) string {
	if i == 0 {
		return "Primary"
	}
	return "Fallback " + strconv.Itoa(i)
}

// asked is the model that a step is asked for; where the plan gives it none, the account's first, else the role's.
func (l *route) asked(s *router.Node) string {
	if s.Model != "" && s.Model != anyModel {
		return s.Model
	}
	first := ""
	if len(s.Profile.PreferredModels) > 0 {
		first = s.Profile.PreferredModels[0]
	}
	return cmp.Or(first, l.role.DefaultModel, "default")
}

// pool is the pool that bounds calls of a step, and how full it is: of one that is refused for quota it is exhausted,
// whatever was measured.
func (l *route) pool(s *router.Node) (v QuotaBucket, known bool) {
	model := l.asked(s)
	v, known = l.b.governing(s.Index, model, cmp.Or(s.Family, quota.Family(model)))
	if s.Block.State == quota.StateQuota {
		v.Status = QuotaExhausted
	}
	return v, known
}

// masked is the account of a step as it may be seen.
func (l *route) masked(s *router.Node) string {
	return identityOf(s.Profile, l.b.src.Identities[s.Profile.ID]).masked()
}

func (l *route) pipeline() *RolePipeline {
	p := &RolePipeline{
		RoleID: l.role.ID, RoleNameRU: l.names.name.ru, RoleNameEN: l.names.name.en, DefaultModel: cmp.Or(l.role.DefaultModel, "auto"),
		MaxFailover: cmp.Or(l.b.table.Attempts(l.role), len(l.steps)), SessionAffinity: l.role.Affinity,
		Nodes: make([]PipelineNode, 0, len(l.steps)),
	}
	if l.active >= 0 {
		p.ActiveProfileID = l.steps[l.active].Profile.ID
	}
	for i := range l.steps {
		s, c := &l.steps[i], l.condition(i)
		pool, _ := l.pool(s)
		n := PipelineNode{
			ProfileID: s.Profile.ID, DisplayName: displayName(s.Profile), Provider: s.Profile.Provider.Name, Model: l.asked(s),
			AccountIdentity: l.masked(s), Status: c.state, QuotaStatus: pool.Status, IsActive: i == l.active,
			CooldownRemainingSec: c.remaining(l.b.now),
		}
		n.StatusLabelRU, n.StatusLabelEN = stepLabel(c)
		if i < l.active {
			ru, en := l.left(i, c)
			n.FailoverReason, n.FailoverReasonEN = Known(ru), Known(en)
		}
		p.Nodes = append(p.Nodes, n)
	}
	return p
}

func (l *route) agent() AgentViewModel {
	a := AgentViewModel{
		RoleID: l.role.ID, RoleNameRU: l.names.name.ru, RoleNameEN: l.names.name.en,
		RoleDescriptionRU: l.names.purpose.ru, RoleDescriptionEN: l.names.purpose.en,
		RoutingPosition: position(max(l.active, 0)), IsActive: l.active >= 0, IsMainOrchestrator: l.role.ID == orchestrator,
		ActiveQuotaStatus: QuotaUnknown,
	}
	if len(l.steps) == 0 {
		a.Status, a.ActiveQuotaLabel, a.ActiveQuotaLabelEN = HealthNotConfigured, "Н/Д", "n/a"
		a.StatusLabelRU, a.StatusLabelEN = stepLabel(condition{state: HealthNotConfigured})
		return a
	}
	s, c := &l.steps[max(l.active, 0)], l.condition(max(l.active, 0))
	a.AssignedProfileID, a.AssignedDisplayName = Known(s.Profile.ID), Known(displayName(s.Profile))
	a.Provider, a.ProviderDisplayName = s.Profile.Provider.ID, s.Profile.Provider.Name
	a.Model, a.AccountIdentity = l.asked(s), l.masked(s)
	a.Status, a.CooldownRemainingSec = c.state, c.remaining(l.b.now)
	a.StatusLabelRU, a.StatusLabelEN = stepLabel(c)
	a.SessionID = text(l.b.src.Sessions[l.role.ID])
	pool, known := l.pool(s)
	a.ActiveQuotaStatus = pool.Status
	switch {
	case known:
		a.ActiveQuotaLabel, a.ActiveQuotaLabelEN = pool.LabelRU, pool.LabelEN
	case pool.Status == QuotaExhausted:
		a.ActiveQuotaLabel, a.ActiveQuotaLabelEN = "Исчерпана (429)", "Exhausted (429)"
	case a.IsActive:
		a.ActiveQuotaLabel, a.ActiveQuotaLabelEN = "Доступна", "Available"
	default:
		a.ActiveQuotaLabel, a.ActiveQuotaLabelEN = "Н/Д", "n/a"
	}
	return a
}

// left is what made traffic leave a step, as it was recorded when it did.
func (l *route) left(i int, c condition) (ru, en string) {
	where := position(i)
	why := label{}
	switch c.state {
	case HealthQuota:
		why = label{where + " исчерпал квоту", where + " is out of quota"}.refused(c.source)
	case HealthRateLimited:
		why = label{where + " превысил лимит запросов", where + " is over its rate limit"}.refused(c.source)
	case HealthHealthy:
		why = label{where + " близок к исчерпанию квоты", where + " is nearly out of quota"}
	case HealthAuthRequired, HealthNotConfigured, HealthDisabled:
		why = healthLabels[c.state]
	default:
		cause := causeOf(c, l.steps[i].Reason)
		why = label{"Недоступен (" + cause.ru + ")", "Unavailable (" + cause.en + ")"}
	}
	return why.marked(cmp.Or(c.source, l.steps[i].Block.Source))
}

// refused tells a refusal from a measurement.
func (l label) refused(source quota.Source) label {
	if source != quota.SourceRuntimeEvent {
		return l
	}
	return label{l.ru + " (429)", l.en + " (429)"}
}

// causes are what failures are called, by class.
var causes = map[quota.Class]label{
	quota.Overloaded:    {"провайдер перегружен", "the provider is overloaded"},
	quota.ServerError:   {"ошибка провайдера", "the provider failed"},
	quota.Timeout:       {"нет ответа вовремя", "no answer in time"},
	quota.Billing:       {"требуется оплата", "payment required"},
	quota.Forbidden:     {"доступ запрещён", "access forbidden"},
	quota.ModelNotFound: {"модель не найдена", "model not found"},
}

// causeOf is why a step is not usable that is in no state of the contract's which says so.
func causeOf(c condition, reason router.Reason) label {
	if cause, ok := causes[c.class]; ok {
		return cause
	}
	switch reason {
	case router.ReasonModel:
		return label{"модель не обслуживается", "the model is not served"}
	case router.ReasonProtocol:
		return label{"протокол не поддерживается", "the protocol is not supported"}
	}
	l := healthLabels[c.state]
	return label{strings.ToLower(l.ru), strings.ToLower(l.en)}
}
