package simulator

import (
	"fmt"
	"mime"
	"strings"
)

// play is how a call is answered. It returns errGone when the client went away first.
type play func(*exchange) error

// admit decides how the call is answered, and counts it. What is wrong with its body is already known.
func (p *Provider) admit(x *exchange, r route, key string, wrong *problem) play {
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.announce()
	p.serial++
	x.stamp = stamp{serial: p.serial, created: now}
	x.req.stamp = x.stamp
	x.call.Account, x.call.Start = x.account.Name, now
	p.record(x.account, x.call, r.op.looks())
	if wrong = p.refuse(x, r, key, wrong); wrong != nil {
		x.call.Step = "refused"
		if !wrong.excused {
			p.misused("%s %s was refused: %s", x.call.Method, x.call.Path, wrong.message)
		}
		return refusing(wrong)
	}
	switch r.op {
	case opAnswer:
		return p.begin(x)
	case opCount:
		x.call.Step = "count"
		return answering(x.dialect.count(x.req))
	case opUsage, opToken:
		return p.aside(x, r)
	}
	x.call.Step = "models"
	return listing(r, p.models(x.account))
}

// aside answers a call beside the conversations: with the next step of the script for such calls, if there is one.
func (p *Provider) aside(x *exchange, r route) play {
	step := x.account.nextAside()
	x.call.Step = step.String()
	switch {
	case step != Normal:
		return step.play
	case r.op == opToken:
		x.call.Step = "token"
		return x.account.grant(tokenRequestOf(x.call), x.stamp)
	}
	x.call.Step = "usage"
	return x.account.tell(r.usage, x, p.models(x.account))
}

// owner finds whose call it is: the account that a segment of the path names, else the one that has the key, else the
// first that takes any key, else nobody.
func (p *Provider) owner(prefix, key string) *account {
	now := p.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	open := p.stray
	for _, a := range p.accounts {
		a.tokens.begin(a.Account, now)
	}
	for segment := range strings.SplitSeq(prefix, "/") {
		for _, a := range p.accounts {
			if a.Name == segment {
				return a
			}
		}
	}
	for _, a := range p.accounts {
		switch {
		case a.open() && open == p.stray:
			open = a
		case !a.open() && (a.knows(key) || a.tokens.issued(key)):
			return a
		}
	}
	return open
}

// refuse is why the call gets no answer from its account, nil when it may have one. What is wrong with its body is told
// only to those who have a key.
func (p *Provider) refuse(x *exchange, r route, key string, wrong *problem) *problem {
	d := r.dialect
	switch {
	case r.op == opUnknown || r.op.hasBody() && !x.account.speaks(d.protocol):
		return d.noPath(x.call.Method, x.path)
	case x.call.Method != r.method:
		return d.noMethod(x.call.Method, x.call.Path, r.method)
	case r.op == opToken:
		return nil // who asks has no token yet
	case x.account == p.stray || !x.account.knows(key):
		return d.badKey(key)
	case x.account.tokens.expired(key, x.stamp.created):
		return d.expired()
	case wrong != nil:
		return wrong
	case r.op == opModel && !x.account.serves(r.model):
		return d.noModel(r.model)
	case r.op.hasBody() && !x.account.serves(x.req.Model):
		return d.noModel(x.req.Model)
	}
	return nil
}

// begin puts the call in flight and takes the account's next step.
func (p *Provider) begin(x *exchange) play {
	a := x.account
	a.peak = max(a.peak, a.inFlight+1)
	if a.MaxConcurrent > 0 && a.inFlight >= a.MaxConcurrent {
		x.call.Step = "concurrency"
		p.misused("account %q has %d calls in flight and MaxConcurrent is %d: one more came", a.Name, a.inFlight, a.MaxConcurrent)
		return refusing(x.dialect.tooConcurrent(x.req.Model, a.MaxConcurrent))
	}
	a.inFlight++
	x.inFlight = true
	step := a.next()
	x.call.Step = step.String()
	if step != Normal {
		return step.play
	}
	w, ok := a.Quota.take(a.window, x.stamp.created)
	a.window = w
	if !ok {
		x.call.Step = "quota"
		return refusing(x.dialect.spent(a.Quota, w, told{model: x.req.Model, now: x.stamp.created}))
	}
	x.header = x.dialect.tells(a.Quota, w, x.stamp.created)
	return step.play
}

// models is what the account has: its own list, for an account that has whatever is asked for the lists of all others.
func (p *Provider) models(a *account) []string {
	if len(a.Models) > 0 {
		return a.Models
	}
	var all []string
	for _, b := range p.accounts {
		all = append(all, b.Models...)
	}
	return all
}

// misused reports to a strict test. The caller holds mu.
func (p *Provider) misused(format string, args ...any) {
	if p.strict != nil {
		p.strict.Helper()
		p.strict.Errorf("simulator: "+format, args...)
	}
}

// readable is what is wrong with a call before its body is read as its dialect's: it does not say that it is JSON.
func readable(contentType string) *problem {
	if media, _, err := mime.ParseMediaType(contentType); err == nil && media == "application/json" {
		return nil
	}
	return invalid("", "unsupported_content_type", fmt.Sprintf("Unsupported content type: '%s'. This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: %s'. Please try again with a supported content type.", contentType, contentType))
}
