package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// serve is the life of one request, in the order in which things happen. What may fail without an upstream comes first;
// nothing scarce is taken before the body is here and understood.
func (x *exchange) serve() {
	if !x.p.gate.enter(&x.visit) {
		x.refuse(draining(), telemetry.Unavailable)
		return
	}
	defer x.p.gate.leave(&x.visit)
	if no := x.recognize(); no != nil {
		x.refuse(no, telemetry.Refused)
		return
	}
	if !x.read() {
		return
	}
	no := x.identify()
	x.keep()
	if no != nil {
		x.refuse(no, refusedAs(no))
		return
	}
	if x.req.Kept.Background {
		x.handOver()
		return
	}
	x.planFirst()
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
	if no := unkept(x.req.Kept, x.mayDetach()); no != nil {
		x.refuse(no, telemetry.InvalidCall)
		return false
	}
	return true
}

// mayDetach reports whether there is somebody who makes answers in the background. What those ask for themselves is theirs to
// wait for.
func (x *exchange) mayDetach() bool {
	return x.p.responses != nil && x.surface == &responsesSurface && x.inner == nil
}

// unkept refuses what goes on with something that one account keeps, or leaves something with it: any account of the role
// may answer, and answers are kept nowhere, but for those that are made in the background where there is one.
func unkept(k wire.Kept, background bool) *refusal {
	field, what := "", "is not supported: answers are not kept here (store: false); send the whole input"
	switch {
	case k.Previous != "":
		field = "previous_response_id"
	case k.Conversation != "":
		field = "conversation"
	case k.Background && !background:
		field, what = "background", "cannot be true: answers are not kept here (store: false), so nobody could fetch one later"
	default:
		return nil
	}
	return &refusal{code: codeInvalidRequest, message: field + " " + what, param: field}
}

func badBody(err error) *refusal {
	no := &refusal{code: codeInvalidRequest, message: err.Error()}
	if field, ok := errors.AsType[*wire.FieldError](err); ok {
		no.param = field.Field
	}
	return no
}

func (x *exchange) query() router.Query {
	return router.Query{Role: x.role.Role, Model: x.role.Model, AnyNode: x.role.AnyNode, Session: x.session, Protocols: x.served, Needs: x.needs}
}

// try walks the plan, waits for somebody to become free where that may help, and walks the plan as it is then.
func (x *exchange) try() {
	for !x.walk() && x.wait() {
	}
}

// walk asks the plan's usable nodes, each at most once, until one answers, one verdict ends the walk, or nothing is left.
// It reports whether the exchange is over.
func (x *exchange) walk() bool {
	for i := range x.plan.Nodes {
		n := &x.plan.Nodes[i]
		if n.Reason != router.Usable || !x.open(n) {
			continue
		}
		if x.spent() {
			x.refuse(unavailable(x.role.Role.ID, "could not answer within its number of attempts"), telemetry.Exhausted)
			return true
		}
		lease, no := x.p.router.Acquire(n, x.holder())
		if no.Reason == router.Usable && x.ask(n, lease) {
			return true
		}
	}
	return false
}

// spent reports whether the request has made as many upstream attempts as it may. Without a number each walk asks every
// candidate once.
func (x *exchange) spent() bool {
	limit := x.plan.Snapshot.Table.Attempts(x.role.Role)
	return limit > 0 && len(x.told.Attempts) >= limit
}

func (x *exchange) holder() router.Holder {
	return router.Holder{Session: x.session, Role: x.role.Role.ID, RunID: x.runID, RequestID: x.told.ID}
}

// ask makes one attempt and keeps what it taught. It reports whether the exchange is over: answered, refused, or gone.
func (x *exchange) ask(n *router.Node, lease *router.Lease) bool {
	x.trying = lease
	f := x.attempt(n, lease)
	if f == nil {
		return true
	}
	if f.unsaid != nil {
		x.unsaid, n.Reason = f.unsaid, router.ReasonUnsayable
		x.mute = append(x.mute, itemOf(n))
	}
	x.failed = append(x.failed, itemOf(n))
	if f.reading.Class == quota.ContextTooLong {
		x.short = f
		x.tooSmall = max(x.tooSmall, n.Profile.Window(n.Model))
		if x.tooSmall == 0 { // nothing is known to be larger than an unknown window
			x.overflow(f)
			return true
		}
	}
	return false
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

// exhaust answers that nobody could serve, from a plan that holds what the attempts have taught.
func (x *exchange) exhaust(after *router.Plan) {
	if what := x.surface.lacks; what != "" && !slices.ContainsFunc(after.Nodes, x.speaks) {
		x.refuse(&refusal{code: codeNotFound, message: fmt.Sprintf("no account of role %q can %s", x.role.Role.ID, what)}, telemetry.InvalidCall)
		return
	}
	if x.short != nil {
		x.overflow(x.short)
		return
	}
	if no := x.misfit(after.Nodes); no != nil {
		x.refuse(no, telemetry.InvalidCall)
		return
	}
	if x.unsaid != nil && !slices.ContainsFunc(after.Nodes, x.sayable) {
		x.refuse(badBody(x.unsaid), telemetry.InvalidCall)
		return
	}
	x.refuse(exhausted(x.role.Role.ID, cmp.Or(x.role.Model, x.req.Model), after.Nodes, x.classes, after.At), telemetry.Exhausted)
}

// speaks reports whether a node is of a protocol that can serve the request.
func (x *exchange) speaks(n router.Node) bool { return slices.Contains(x.served, n.Profile.Protocol) }

// sayable reports whether a node could serve the request at another time: it is only out for now.
func (x *exchange) sayable(n router.Node) bool {
	switch n.Reason {
	case router.ReasonDisabled, router.ReasonProtocol, router.ReasonModel, router.ReasonNoModel,
		router.ReasonWindow, router.ReasonTools, router.ReasonVision, router.ReasonStructured:
		return false
	default:
		return !slices.Contains(x.mute, itemOf(&n))
	}
}
