package quota

import (
	"net/http"
	"time"
)

// fixedWindow is where a wait stops being a rate: a stated one of this length or more is a window that was used up.
const fixedWindow = time.Hour

// Read says what a response means. It never fails: what it cannot tell from the body it takes from the status, and what
// nobody says stays unknown. A body of a stream may be its beginning, up to the first meaningful event; a status of
// success whose body says nothing at all is a ServerError.
func Read(r Response) Reading {
	d := dialectOf(r.Provider)
	return d.read(take(r, d.bucketPrefix()))
}

// ReadHeaders says what the headers of a call that worked measure, without its body. provider is as in Response, at is
// when the headers came. The Class is always OK.
func ReadHeaders(provider string, h http.Header, at time.Time) Reading {
	d := dialectOf(provider)
	a := &answer{Response: Response{Provider: provider, Status: http.StatusOK, Header: h, At: at}, kind: bodyUnread}
	a.prefix = d.bucketPrefix()
	a.buckets = a.readBuckets()
	return d.read(a)
}

// read is the common reading of an answer under the rules of a dialect.
func (a *answer) read(r rules) Reading {
	v := a.classify(r)
	if v.class == Billing && v.phrased {
		v = a.healsByItself(r, v)
	}
	w := a.waitFor(v.class, r)
	v = a.weighWait(v, w)
	rd := Reading{
		Class:      v.class,
		Scope:      v.scope,
		Failover:   failover(v),
		RetryAfter: w.after,
		ResetAt:    w.until,
		Buckets:    a.buckets,
		Reason:     v.reason,
	}
	if rd.Scope == "" {
		rd.Scope = scopes[v.class]
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

// waitFor is the stated wait as far as the class can have one. A bucket's reset or a phrase cures only limits and
// transient trouble; of the rest only a header for exactly this purpose is believed; a request is never cured by waiting.
func (a *answer) waitFor(c Class, r rules) statedWait {
	switch c {
	case RateLimited, QuotaExhausted, Overloaded, ServerError, Timeout:
		return a.wait(c, r.zone)
	case Billing, AuthExpired, AuthInvalid, Forbidden, ModelNotFound:
		w, _ := a.headerWait(r.zone)
		return w
	}
	return statedWait{}
}

// healsByItself takes the words of a bill for those of a window where they say when to come back: no bill does.
func (a *answer) healsByItself(r rules, v verdict) verdict {
	if w, ok := a.wordsWait(r.zone); ok {
		v.class = RateLimited
		v.scope = a.limitScope(r, v.class)
		if w.after >= fixedWindow {
			v.class = QuotaExhausted
		}
	}
	return v
}

// weighWait lets the length of the wait decide between a rate and a spent window, and between a window and a bill.
func (a *answer) weighWait(v verdict, w statedWait) verdict {
	switch {
	case a.Status == http.StatusPaymentRequired:
		return a.weighPayment(v, w)
	case v.class == RateLimited && (w.after >= fixedWindow || w.after == 0 && a.namesLongWindow()):
		// A daily window that refills all the time, as OpenAI's and Groq's, states its short wait and stays a rate.
		v.class = QuotaExhausted
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

// namesLongWindow reports whether the words name a window of an hour or more.
func (a *answer) namesLongWindow() bool {
	_, ok := a.prose.hasAny(longWindows)
	return ok
}

// namesShortWindow reports whether the words name windows that a minute or so cures, and no longer one.
func (a *answer) namesShortWindow() bool {
	_, ok := a.prose.hasAny(shortWindows)
	return ok && !a.namesLongWindow()
}

// failover reports whether another account could cure it.
func failover(v verdict) bool {
	switch v.class {
	case OK, InvalidRequest, ContentPolicy:
		return false
	case RequestTooLarge:
		return v.tokenRate
	}
	return true
}
