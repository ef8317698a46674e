package quota

import (
	"cmp"
	"net/http"
	"time"
)

// fixedWindow is where a wait stops being a rate: a stated one of this length or more is a window that was used up.
const fixedWindow = time.Hour

// Read says what a response means. It never fails: what it cannot tell from the body it takes from the status, and what
// nobody says stays unknown. A body of a stream may be its beginning, up to the first meaningful event; a status of
// success whose body says nothing at all is a ServerError. The answer of a provider's usage endpoint is read too: its
// Scope is the account.
func Read(r Response) Reading {
	a := take(r, dialectOf(r.Provider))
	if rd, ok := a.readVariants(); ok {
		return rd
	}
	return a.read()
}

// ReadHeaders says what the headers of a call that worked measure, without its body. provider is as in Response, at is
// when the headers came. The Class is always OK.
func ReadHeaders(provider string, h http.Header, at time.Time) Reading {
	rd := Reading{Class: OK, Scope: ScopeRequest, Buckets: within(headerBuckets(dialectOf(provider), h, at))}
	if len(rd.Buckets) > 0 {
		rd.Source = SourceProviderAPI
	}
	return rd
}

// read is the reading of an answer under the rules of its dialect.
func (a *answer) read() Reading {
	r := a.dialect.rules
	if rd, ok := a.readUsage(); ok {
		return rd
	}
	v := a.classify()
	if v.class == Billing && v.phrased {
		v = a.healsByItself(v)
	}
	if v.class != OK && r.judge != nil && a.kind != bodyHTML {
		v = r.judge(a, v)
	}
	w := a.waitFor(v)
	v = a.weighWait(v, w)
	rd := Reading{
		Class:      v.class,
		Scope:      v.scope,
		Failover:   failover(v),
		RetryAfter: w.after,
		RetryNow:   v.again,
		ResetAt:    w.until,
		Buckets:    within(a.named(v, w)),
		Reason:     v.reason,
		Family:     v.family[:min(len(v.family), idLimit)],
	}
	if rd.Scope == "" {
		rd.Scope = a.scopeOf(v.class)
	}
	switch {
	case v.class != OK:
		rd.Source = SourceRuntimeEvent
	case len(a.buckets) > 0:
		rd.Source = SourceProviderAPI
	}
	if a.Header.Get("X-Should-Retry") == "false" {
		rd.RetryAfter = 0 // the server withdraws the invitation; when the window resets stays true
	}
	return rd
}

// readUsage reads the answer of the provider's usage endpoint.
func (a *answer) readUsage() (Reading, bool) {
	if a.dialect.rules.usage == nil || !a.delivered() || len(a.faults) > 0 || a.kind != bodyJSON {
		return Reading{}, false
	}
	buckets := a.dialect.rules.usage(a, a.root)
	if buckets == nil {
		return Reading{}, false
	}
	return Reading{Class: OK, Scope: ScopeAccount, Buckets: within(buckets), Source: SourceProviderAPI}, true
}

// waitFor is the stated wait as far as the class can have one. A bucket's reset or a phrase cures only limits and
// transient trouble; of the rest only a header for exactly this purpose is believed; a request is never cured by waiting.
func (a *answer) waitFor(v verdict) statedWait {
	r := a.dialect.rules
	if v.timeless {
		return statedWait{}
	}
	if r.wait != nil {
		if w, ok := r.wait(a, v); ok {
			return w
		}
	}
	switch v.class {
	case RateLimited, QuotaExhausted, Overloaded, ServerError, Timeout:
		return a.wait(v.class, r.zone)
	case Billing, AuthExpired, AuthInvalid, Forbidden, ModelNotFound:
		w, _ := a.headerWait(r.zone)
		return w
	}
	return statedWait{}
}

// healsByItself takes the words of a bill for those of a window where they say when to come back: no bill does.
func (a *answer) healsByItself(v verdict) verdict {
	w, ok := a.wordsWait(a.dialect.rules.zone)
	if !ok {
		return v
	}
	v.class, v.scope = RateLimited, ""
	if w.after >= fixedWindow {
		v.class = QuotaExhausted
	}
	return a.refine(v)
}

// weighWait lets the length of the wait decide between a rate and a spent window, and between a window and a bill.
func (a *answer) weighWait(v verdict, w statedWait) verdict {
	switch {
	case v.scope == ScopeRequest:
		return v // it is about this request, however long it says
	case a.Status == http.StatusPaymentRequired:
		return a.weighPayment(v, w)
	case v.class == RateLimited && (w.after >= fixedWindow || w.after == 0 && a.namesLongWindow()):
		// A daily window that refills all the time, as OpenAI's and Groq's, states its short wait and stays a rate. Whose
		// limit it is does not change with its length.
		v.class, v.scope = QuotaExhausted, cmp.Or(v.scope, a.scopeOf(RateLimited))
	case v.class == QuotaExhausted && v.phrased && w.after < fixedWindow && a.namesShortWindow():
		v.class = RateLimited // "Quota exceeded for requests per minute"
	}
	return v
}

// weighPayment tells the windows among the 402s from the bills: only a window states when it is over, or is called by
// its length.
func (a *answer) weighPayment(v verdict, w statedWait) verdict {
	window := (v.class == QuotaExhausted || v.class == RateLimited) && v.phrased
	bill := v.class == Billing && !v.phrased
	switch {
	case (window || bill) && w.after >= fixedWindow:
		v.class = QuotaExhausted
	case (window || bill) && w.after > 0:
		v.class = RateLimited
	case window && a.namesLongWindow():
		v.class = QuotaExhausted
	case window:
		v.class, v.scope = Billing, ""
	}
	return v
}

// failover reports whether another account could cure it.
func failover(v verdict) bool {
	switch v.class {
	case OK, InvalidRequest, ContentPolicy:
		return false
	case RequestTooLarge:
		return v.tokenRate
	}
	return !v.ownFault
}
