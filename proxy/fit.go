package proxy

import (
	"fmt"
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/router"
)

// bytesPerToken is more of a body than any tokenizer puts into one token on average. An estimate by it is too low, so that
// nothing is refused that would have fitted: what it lets through the account counts itself.
const bytesPerToken = 6

// planFirst makes the request's first plan. What it needs of a model is guessed from above where telling costs a walk over
// the whole body, and that is made only when the guess would rule somebody out. A guess that has ruled out nobody is
// forgotten: it must not do so later, when a reload has brought other accounts.
func (x *exchange) planFirst() {
	if x.surface.alone {
		x.p.router.Plan(x.query(), &x.plan)
		return
	}
	known := router.Needs{Tools: x.req.Tools, Structured: x.req.Structured}
	x.needs = known
	x.needs.Vision, x.needs.Tokens = true, len(x.body)/bytesPerToken
	x.p.router.Plan(x.query(), &x.plan)
	guessed := x.needs
	x.needs = known
	ruled := func(r router.Reason) bool {
		return slices.ContainsFunc(x.plan.Nodes, func(n router.Node) bool { return n.Reason == r })
	}
	small, blind := ruled(router.ReasonWindow), ruled(router.ReasonVision)
	if small {
		x.needs.Tokens = wire.TextBytes(x.body) / bytesPerToken
	}
	if blind {
		x.needs.Vision = wire.HasImage(x.body, x.surface.shape.Needs)
	}
	if (small || blind) && x.needs != guessed {
		x.p.router.Plan(x.query(), &x.plan)
	}
	x.plan.Query.Needs = x.needs
}

// misfit is the answer when what is known of their models rules out every account that could be asked; nil = it does not, or
// some were asked.
func (x *exchange) misfit(nodes []router.Node) *refusal {
	if len(x.told.Attempts) > 0 {
		return nil
	}
	role, why := x.role.Role.ID, map[router.Reason]bool{}
	for i := range nodes {
		switch r := nodes[i].Reason; r {
		case router.ReasonWindow, router.ReasonTools, router.ReasonVision, router.ReasonStructured:
			why[r] = true
		case router.ReasonDisabled, router.ReasonProtocol, router.ReasonModel, router.ReasonNoModel:
		default:
			return nil
		}
	}
	cannot := func(param, what string) *refusal {
		return &refusal{code: codeInvalidRequest, param: param, message: fmt.Sprintf("no account of role %q has a model that %s", role, what)}
	}
	switch {
	case why[router.ReasonWindow]:
		return tooLong(x.plan.Snapshot.Table.RoleWindow(x.role.Role))
	case why[router.ReasonVision]:
		return cannot(x.surface.shape.Needs, "takes images")
	case why[router.ReasonTools]:
		return cannot("tools", "calls tools")
	case why[router.ReasonStructured]:
		return cannot(x.surface.structured, "answers by a JSON schema")
	default:
		return nil
	}
}
