package proxy

import (
	"cmp"
	"errors"
	"time"

	"hermes-hub/proxy/wire"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// serve is the life of one request, in the order in which things happen. What may fail without an upstream comes first;
// nothing scarce is taken before the body is here and understood.
func (x *exchange) serve() {
	if !x.p.gate.enter(x) {
		x.refuse(draining(), telemetry.Unavailable)
		return
	}
	defer x.p.gate.leave(x)
	key, no := x.settings.keys.find(x.r.Header)
	if no != nil {
		x.refuse(no, telemetry.Refused)
		return
	}
	if x.key = key; key != nil {
		x.told.Key = key.Name
	}
	if !x.read() {
		return
	}
	if no := x.identify(); no != nil {
		x.refuse(no, refusedAs(no))
		return
	}
	x.p.router.Plan(x.query(), &x.plan)
	x.arm()
	x.try()
}

func draining() *refusal {
	return &refusal{code: codeHubUnavailable, message: "the hub is restarting: try again", retryAfter: 1, close: true}
}

// refusedAs tells a caller's mistake from a caller without the right.
func refusedAs(e *refusal) telemetry.Outcome {
	if e.code == codeRoleForbidden {
		return telemetry.Refused
	}
	return telemetry.InvalidCall
}

// read takes the body in and finds what routes it. false: the request was answered, or its sender is gone.
func (x *exchange) read() bool {
	body, err := readBody(x.w, x.r, x.settings.MaxBodyBytes)
	if no, ok := errors.AsType[*refusal](err); ok {
		x.refuse(no, telemetry.InvalidCall)
		return false
	}
	if err != nil {
		x.told.Outcome, x.told.Err, x.aborted = telemetry.ClientClosed, err.Error(), true
		return false
	}
	x.body = body
	if x.req, err = wire.ReadRequest(body, x.surface.shape); err != nil {
		x.refuse(badBody(err), telemetry.InvalidCall)
		return false
	}
	x.told.Model, x.told.Stream = x.req.Model, x.req.Stream
	return true
}

func badBody(err error) *refusal {
	no := &refusal{code: codeInvalidRequest, message: err.Error()}
	if field, ok := errors.AsType[*wire.FieldError](err); ok {
		no.param = field.Field
	}
	return no
}

func (x *exchange) query() router.Query {
	return router.Query{Role: x.role.Role, Model: x.role.Model, AnyNode: x.role.AnyNode, Session: x.session}
}

// try walks the plan: each usable node at most once, until one answers, one verdict ends the walk, or nothing is left.
func (x *exchange) try() {
	limit := x.attemptLimit()
	tooSmall := 0 // the window that was too small for this conversation, 0 = none was
	var short *failure
	for i := range x.plan.Nodes {
		n := &x.plan.Nodes[i]
		if n.Reason != router.Usable || tooSmall > 0 && !larger(n, tooSmall) {
			continue
		}
		if len(x.told.Attempts) >= limit {
			x.refuse(unavailable(x.role.Role.ID, "could not answer within its number of attempts"), telemetry.Exhausted)
			return
		}
		f := x.attempt(n)
		switch {
		case f == nil:
			return // answered, refused, or gone: attempt said so
		case f.reading.Class == quota.ContextTooLong:
			short = f
			tooSmall = max(tooSmall, n.Profile.ContextLength)
			if tooSmall == 0 { // nothing is known to be larger than an unknown window
				x.overflow(short)
				return
			}
		}
	}
	if short != nil {
		x.overflow(short)
		return
	}
	x.exhaust()
}

// attemptLimit is how many upstream attempts this request may make.
func (x *exchange) attemptLimit() int {
	return cmp.Or(x.plan.Snapshot.Table.Attempts(x.role.Role), len(x.plan.Nodes))
}

// overflow answers that the conversation is too long for every node that could be asked.
func (x *exchange) overflow(f *failure) {
	window := x.plan.Snapshot.Table.RoleWindow(x.role.Role)
	if window == 0 {
		x.passOn(f)
		return
	}
	x.refuse(tooLong(window), telemetry.InvalidCall)
}

// exhaust answers that nobody could serve, from a plan made now: it holds what the attempts have taught.
func (x *exchange) exhaust() {
	now := time.Now()
	var after router.Plan
	x.p.router.Plan(x.query(), &after)
	model := x.role.Model
	if model == "" {
		model = x.req.Model
	}
	x.refuse(exhausted(x.role.Role.ID, model, after.Nodes, now), telemetry.Exhausted)
}
