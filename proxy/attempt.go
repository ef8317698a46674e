package proxy

import (
	"context"
	"net/http"
	"time"

	"hermes-hub/proxy/wire"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// failure is one attempt that did not answer, with nothing of it shown to the client yet.
type failure struct {
	reading    quota.Reading
	status     int    // upstream's, 0 when there was none
	body       []byte // the head of upstream's body, for an error that is the client's own
	translated bool   // that body is of another protocol than the client's
	again      bool   // the same account is worth asking once more
	unsaid     error  // the call was not made: an account of this kind cannot be told what the request wants
}

// try is one call to one account: what it holds, and how it went. Everything an attempt takes is given back by its defers.
type try struct {
	x        *exchange
	n        *router.Node
	lease    *router.Lease
	call     call
	with     Credential
	unsealed bool // what is sealed was left out
	renewed  bool // another credential was asked for
	ctx      context.Context
	cancel   context.CancelCauseFunc
	clock    *clock
	started  time.Time
	told     telemetry.Attempt
}

// attempt tries one node, by the lease it was given. nil: the exchange is over, one way or another. Otherwise nothing was
// committed and the next node may be tried.
func (x *exchange) attempt(n *router.Node, lease *router.Lease) *failure {
	defer lease.Release()

	ctx, cancel := context.WithCancelCause(x.ctx)
	defer cancel(nil)
	t := &try{x: x, n: n, lease: lease, ctx: ctx, cancel: cancel, clock: newClock(cancel, x.firstTokenLimit()), started: lease.Started}
	defer t.clock.stop()

	with, lacking := x.p.credential(ctx, n.Profile)
	if lacking == nil {
		c, err := x.compose(n, with, false)
		if err != nil {
			return &failure{unsaid: err}
		}
		t.with, t.call, x.dropped = with, c, c.dropped
	}

	if len(x.told.Attempts) > 0 {
		x.told.Failovers++
	}
	x.told.Attempts = append(x.told.Attempts, telemetry.Attempt{Profile: n.Profile.ID, Provider: n.Profile.Provider.ID, Model: n.Model})
	t.told = x.told.Attempts[len(x.told.Attempts)-1]
	defer t.close()

	if lacking != nil {
		return t.lacking(lacking)
	}
	return t.run()
}

// stop ends a call whose client is not there any more.
func (t *try) stop(error) { t.cancel(errStopped) }

// firstTokenLimit bounds the silence in front of a stream. A whole answer may take as long as the request may.
func (x *exchange) firstTokenLimit() time.Duration {
	if x.req.Stream {
		return x.settings.FirstTokenTimeout
	}
	return 0
}

// run sends the call and turns what comes back into an answer or a failure. What the account itself can cure is mended, and
// the call made once more.
func (t *try) run() *failure {
	for {
		res, err := t.send()
		if err != nil {
			return t.lost(err, 0)
		}
		if f := t.settle(res); f == nil || !f.again {
			return f
		}
	}
}

// settle makes of one answer what it comes to.
func (t *try) settle(res *http.Response) *failure {
	defer res.Body.Close()
	t.told.Status = res.StatusCode
	switch {
	case res.StatusCode != http.StatusOK:
		return t.refused(res)
	case t.x.req.Stream:
		return t.relay(res)
	default:
		return t.answer(res)
	}
}

func (t *try) send() (*http.Response, error) {
	x := t.x
	if x.p.credentials != nil {
		x.with = append(x.with, t.with.Token)
	}
	req, err := upstreamRequest(t.ctx, t.n.Profile, t.with, &t.call, x.r.Header, x.p.agent)
	if err != nil {
		return nil, err
	}
	return x.p.transport(t.n.Profile).RoundTrip(req)
}

// refused reads an answer other than 200. A redirect is not followed: it would take the credential elsewhere.
func (t *try) refused(res *http.Response) *failure {
	head, err := readUpTo(res.Body, quota.BodyLimit)
	if err != nil && len(head) == 0 && t.ctx.Err() != nil {
		return t.lost(err, res.StatusCode)
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return t.fail(broken("upstream_redirect"), res.StatusCode, nil)
	}
	head = unpacked(res.Header, head)
	r := t.read(res.StatusCode, plainHeader(res.Header), head)
	if r.Class == quota.OK { // a 204 or 206 is no completion
		r = broken("status:unexpected")
	}
	return t.fail(r, res.StatusCode, head)
}

// read asks the quota package what an answer means.
func (t *try) read(status int, h http.Header, body []byte) quota.Reading {
	return quota.Read(quota.Response{Provider: reader(t.n.Profile), Status: status, Header: h, Body: body, At: time.Now()})
}

// reader names how the account's answers are to be read: as its provider's, or, where that is anybody's, as those of the one
// whose protocol it speaks.
func reader(p *router.Profile) string {
	if p.Provider.Dialect != "generic" {
		return p.Provider.Dialect
	}
	switch p.Protocol {
	case router.ProtocolMessages:
		return "anthropic"
	case router.ProtocolGemini:
		return "google-gemini-api"
	case router.ProtocolCloudCode:
		return "google-cloudcode"
	default:
		return p.Provider.Dialect
	}
}

// lost is the end of a call without an answer: the network's doing, a deadline's, the client's, or the hub's own.
func (t *try) lost(err error, status int) *failure {
	switch {
	case t.over():
		return nil
	case ownLimit(err):
		t.told.Outcome, t.told.Reason = string(telemetry.Unavailable), "hub_out_of_resources"
		t.x.tried = append(t.x.tried, t.tried(t.told.Outcome, t.told.Reason, time.Time{}))
		t.x.refuse(&refusal{code: codeHubUnavailable, message: "the hub has no descriptor or memory left to call an account with: try again", retryAfter: 1}, telemetry.Unavailable)
		return nil
	default:
		return t.fail(lostReading(context.Cause(t.ctx), err), status, nil)
	}
}

// over ends the exchange when its own deadline passed or its client left, which is nobody's fault. It reports whether
// it did.
func (t *try) over() bool {
	x := t.x
	if !x.lapsed() {
		return false
	}
	t.told.Outcome = string(telemetry.ClientClosed)
	if x.told.Outcome == telemetry.Exhausted { // by a deadline
		t.told.Outcome, t.told.Reason = string(quota.Timeout), context.Cause(x.ctx).Error()
		x.tried = append(x.tried, t.tried(t.told.Outcome, t.told.Reason, time.Time{}))
	}
	return true
}

// fail settles a failed attempt: the router learns of it, the client either gets its own mistake back or nothing yet. What
// the account itself can cure is no failure yet.
func (t *try) fail(r quota.Reading, status int, body []byte) *failure {
	if status != 0 && (t.renew(status, r) || t.bare(status, body)) {
		return &failure{again: true}
	}
	t.blame(r)
	x := t.x
	f := &failure{reading: r, status: status, body: body, translated: t.call.codec != nil}
	if r.Failover {
		x.classes = append(x.classes, r.Class)
		return f
	}
	x.passOn(f)
	return nil
}

// blame notes what an attempt came to, and tells the router.
func (t *try) blame(r quota.Reading) {
	t.told.Outcome, t.told.Reason = string(r.Class), r.Reason
	t.x.tried = append(t.x.tried, t.tried(string(r.Class), r.Reason, r.ResetAt))
	if blamed(r.Class) && !t.x.surface.aside {
		t.x.p.router.Observe(t.n.Profile.ID, t.observed(), r)
	}
}

// succeed notes a whole answer and what its headers measured, and binds the session to the account.
func (t *try) succeed(r quota.Reading, use wire.Usage) {
	x := t.x
	t.told.Outcome = string(quota.OK)
	t.told.Usage = telemetry.Usage(use)
	x.tried = append(x.tried, t.tried(router.Succeeded, "", time.Time{}))
	x.told.Outcome = telemetry.Success
	if x.surface.aside {
		return
	}
	x.p.router.Observe(t.n.Profile.ID, t.observed(), r)
	if x.session != "" {
		x.p.router.Bind(x.session, x.role.Role.ID, t.n.Profile.ID)
	}
}

func (t *try) observed() quota.Call {
	return quota.Call{Model: t.n.Model, Family: t.n.Family, StartedAt: t.started, At: time.Now()}
}

func (t *try) tried(class, detail string, until time.Time) router.Tried {
	return router.Tried{Profile: t.n.Profile.ID, Model: t.n.Model, Class: class, At: time.Now(), Detail: detail, Until: until}
}

// close writes the attempt's story back.
func (t *try) close() {
	t.told.Duration = time.Since(t.started)
	attempts := t.x.told.Attempts
	attempts[len(attempts)-1] = t.told
}
