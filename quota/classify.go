package quota

import "slices"

// classify weighs the evidence in the order in which it can be trusted: a code that says exactly what happened, then
// words, then a code that only names the kind of error, then the HTTP status.
func (a *answer) classify() verdict {
	if v, ok := a.success(); ok {
		return v
	}
	if a.fromEdge() {
		return a.statusVerdict()
	}
	v, ok := a.codeVerdict(decides)
	if ok && limitClass(v.class) && a.signs[signCapacity] {
		g, phrase := commonBook.best(a.common, func(g *phraseGroup) bool { return g.sign == signCapacity })
		v = verdict{class: g.class, phrased: true, reason: "phrase:" + phrase}
	}
	if !ok {
		v, ok = a.phraseVerdict()
	}
	if !ok {
		v, ok = a.codeVerdict(leans)
	}
	if !ok {
		v = a.statusVerdict()
	}
	return a.refine(v)
}

// success judges a successful status: whether it delivered anything.
func (a *answer) success() (verdict, bool) {
	switch {
	case !a.delivered() || len(a.faults) > 0:
		return verdict{}, false
	case a.Status == 101 || a.Status == 204 || a.Status == 205:
		return verdict{class: OK}, true
	case a.kind == bodyEmpty:
		return verdict{class: ServerError, reason: "body:empty"}, true
	case a.kind == bodyHTML:
		return verdict{class: ServerError, reason: "body:html"}, true
	case a.kind == bodyStream && a.silent:
		return verdict{class: ServerError, reason: "body:no_events"}, true
	}
	return verdict{class: OK}, true
}

// codeVerdict looks the machine codes up, innermost fault first.
func (a *answer) codeVerdict(weight codeWeight) (verdict, bool) {
	for _, f := range a.faults {
		for _, code := range f.codes {
			meaning, ok := a.dialect.rules.codes[code]
			if !ok {
				meaning, ok = commonCodes[code]
			}
			if ok && meaning.weight == weight && (weight == decides || a.mayLean(meaning.class)) {
				return verdict{class: meaning.class, scope: meaning.scope, reason: "code:" + code}, true
			}
		}
	}
	return verdict{}, false
}

// hasCode reports whether one of the faults carries a machine code.
func (a *answer) hasCode(code string) bool {
	for _, f := range a.faults {
		if slices.Contains(f.codes, code) {
			return true
		}
	}
	return false
}

// mayLean reports whether a vague code is to be believed beside this status. A status that names the trouble itself
// yields only to a code of a limit, and a 5xx is not made vaguer than it is.
func (a *answer) mayLean(c Class) bool {
	switch a.Status {
	case 401, 402, 403, 408, 413:
		return limitClass(c) || c == Overloaded
	}
	return a.Status < 500 || c != ServerError
}

// limitClass reports whether a class is a limit of the account.
func limitClass(c Class) bool { return c == RateLimited || c == QuotaExhausted || c == Billing }

// phraseVerdict judges by the words, the dialect's own first.
func (a *answer) phraseVerdict() (verdict, bool) {
	speaks := func(g *phraseGroup) bool { return g.class != "" }
	g, phrase := a.dialect.book.best(a.own, speaks)
	if g == nil {
		g, phrase = commonBook.best(a.common, speaks)
	}
	if g == nil {
		return verdict{}, false
	}
	return verdict{class: g.class, scope: g.scope, phrased: true, reason: "phrase:" + phrase}, true
}

// says reports whether the words hold a phrase of the dialect's book.
func (a *answer) says(phrase string) bool {
	for _, h := range a.own {
		if h.phrase == phrase {
			return true
		}
	}
	return false
}

// refine settles what takes more than one piece of evidence: a rate limit that is one request above the rate, and whose
// limit it is.
func (a *answer) refine(v verdict) verdict {
	switch {
	case v.class == RateLimited && (a.Status == 413 || a.signs[signOversize] || a.usage.tooLarge()):
		v.class, v.scope, v.tokenRate = RequestTooLarge, ScopeRequest, true
	case v.class == RequestTooLarge && a.usage.limit.Known:
		v.tokenRate = true
	}
	if v.scope == "" && (v.class == RateLimited || v.class == QuotaExhausted) && a.signs[signModel] {
		v.scope = ScopeModel
	}
	return v
}

// fromEdge reports whether something in front of the API answered in its place: it judges the address, not the account.
func (a *answer) fromEdge() bool {
	return a.kind == bodyHTML || a.kind == bodyText && a.signs[signEdge]
}

// namesLongWindow reports whether the words name a window of an hour or more.
func (a *answer) namesLongWindow() bool { return a.signs[signLong] }

// namesShortWindow reports whether the words name windows that a minute or so cures, and no longer one.
func (a *answer) namesShortWindow() bool { return a.signs[signShort] && !a.signs[signLong] }

// scopeOf is whose trouble a class is in this dialect.
func (a *answer) scopeOf(c Class) Scope {
	if s, ok := a.dialect.rules.scopes[c]; ok {
		return s
	}
	return usualScopes[c]
}
