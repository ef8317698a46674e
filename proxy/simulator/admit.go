package simulator

import (
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// play is how a call is answered. It returns errGone when the client went away first.
type play func(*exchange) error

// admit decides how the call is answered, and counts it. What is wrong with its body is already known.
func (p *Provider) admit(x *exchange, r route, wrong *problem) play {
	now := p.Now()
	key := r.dialect.key(x.call.Header)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.announce()
	p.serial++
	x.stamp = stamp{serial: p.serial, created: now}
	x.account = p.owner(r.prefix, key)
	x.call.Account, x.call.Start = x.account.Name, now
	p.record(x.account, x.call)
	if wrong == nil || x.account == p.stray {
		wrong = p.refuse(x, r, key)
	}
	switch {
	case wrong != nil:
		x.call.Step = "refused"
		p.misused(wrong.status != http.StatusUnauthorized && wrong.code != codeNoModel, "%s %s was refused: %s", x.call.Method, x.call.Path, wrong.message)
		return refusing(wrong)
	case r.op != opAnswer:
		x.call.Step = "models"
		return listing(r, p.models(x.account))
	}
	return p.begin(x)
}

// owner finds whose call it is: the account that a segment of the path names, else the one that has the key, else the
// first that takes any key, else nobody.
func (p *Provider) owner(prefix, key string) *account {
	open := p.stray
	for segment := range strings.SplitSeq(prefix, "/") {
		for _, a := range p.accounts {
			if a.Name == segment {
				return a
			}
		}
	}
	for _, a := range p.accounts {
		if a.Key == "" && open == p.stray {
			open = a
		}
		if a.Key != "" && a.Key == key {
			return a
		}
	}
	return open
}

// refuse is why the call gets no answer from its account, nil when it may have one.
func (p *Provider) refuse(x *exchange, r route, key string) *problem {
	switch {
	case r.op == opUnknown:
		return &problem{status: http.StatusNotFound, kind: "invalid_request_error", message: fmt.Sprintf("Invalid URL (%s %s)", x.call.Method, r.prefix)}
	case x.call.Method != r.op.method():
		return &problem{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", code: "method_not_supported", header: http.Header{"Allow": {r.op.method()}}, message: fmt.Sprintf("Not allowed to %s on %s. (HINT: Perhaps you meant to use a different HTTP method?)", x.call.Method, x.call.Path)}
	case x.account == p.stray && key == "" || x.account.Key != "" && key == "":
		return missingKey()
	case x.account == p.stray || x.account.Key != "" && key != x.account.Key:
		return wrongKey()
	case r.op == opModel && !x.account.serves(r.model):
		return noModel(r.model)
	case r.op == opAnswer && !x.account.serves(x.req.Model):
		return noModel(x.req.Model)
	}
	return nil
}

// begin puts the call in flight and takes the account's next step.
func (p *Provider) begin(x *exchange) play {
	a := x.account
	a.peak = max(a.peak, a.inFlight+1)
	if a.MaxConcurrent > 0 && a.inFlight >= a.MaxConcurrent {
		x.call.Step = "concurrency"
		p.misused(true, "account %q has %d calls in flight and MaxConcurrent is %d: one more came", a.Name, a.inFlight, a.MaxConcurrent)
		return refusing(tooConcurrent(x.req.Model, a.MaxConcurrent))
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
		return refusing(a.Quota.refusal(w, x.req.Model, x.stamp.created))
	}
	x.header = a.Quota.header(w, x.stamp.created)
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
func (p *Provider) misused(is bool, format string, args ...any) {
	if is && p.strict != nil {
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
