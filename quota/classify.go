package quota

import "time"

// rules are what a dialect adds to the common tables. The zero value adds nothing.
type rules struct {
	codes     map[string]codeMeaning // looked up before commonCodes
	phrases   []phraseGroup          // searched before commonPhrases
	rateScope Scope                  // of rate limits whose words name no model; "" = account
	zone      *time.Location         // of times that the provider writes without one; nil = unknown
}

// verdict is what happened and to whom.
type verdict struct {
	class     Class
	scope     Scope // "" = scopes[class]
	tokenRate bool  // request_too_large because of a token rate, which another account may not have
	phrased   bool  // it rests on words
	reason    string
}

// scopes are the usual scope of each class.
var scopes = map[Class]Scope{
	OK: ScopeRequest, RateLimited: ScopeAccount, QuotaExhausted: ScopeAccount, Billing: ScopeAccount, AuthExpired: ScopeAccount,
	AuthInvalid: ScopeAccount, Forbidden: ScopeAccount, ModelNotFound: ScopeModel, ContextTooLong: ScopeRequest,
	RequestTooLarge: ScopeRequest, InvalidRequest: ScopeRequest, ContentPolicy: ScopeRequest, Overloaded: ScopeProvider,
	ServerError: ScopeProvider, Timeout: ScopeProvider,
}

// classify weighs the evidence in the order in which it can be trusted: a code that says exactly what happened, then
// words, then a code that only names the kind of error, then the HTTP status.
func (a *answer) classify(r rules) verdict {
	if v, ok := a.success(); ok {
		return v
	}
	if a.fromEdge() {
		return a.statusVerdict()
	}
	v, ok := a.codeVerdict(r, decides)
	if ok && limitClass(v.class) {
		if phrase, full := a.prose.hasAny(capacityPhrases); full {
			v = verdict{class: Overloaded, phrased: true, reason: "phrase:" + phrase}
		}
	}
	if !ok {
		v, ok = a.phraseVerdict(r)
	}
	if !ok {
		v, ok = a.codeVerdict(r, leans)
	}
	if !ok {
		v = a.statusVerdict()
	}
	return a.refine(r, v)
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
func (a *answer) codeVerdict(r rules, weight codeWeight) (verdict, bool) {
	for _, f := range a.faults {
		for _, code := range f.codes {
			meaning, ok := r.codes[code]
			if !ok {
				meaning, ok = commonCodes[code]
			}
			if ok && meaning.weight == weight && (weight == decides || a.mayLean(meaning.class)) {
				return verdict{class: meaning.class, reason: "code:" + code}, true
			}
		}
	}
	return verdict{}, false
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

// phraseVerdict searches the words.
func (a *answer) phraseVerdict(r rules) (verdict, bool) {
	for _, groups := range [][]phraseGroup{r.phrases, commonPhrases} {
		for _, g := range groups {
			if phrase, ok := a.prose.hasAny(g.phrases); ok {
				return verdict{class: g.class, scope: g.scope, phrased: true, reason: "phrase:" + phrase}, true
			}
		}
	}
	return verdict{}, false
}

// refine settles what takes more than one piece of evidence: a rate limit that is one request above the rate, and whose
// limit it is.
func (a *answer) refine(r rules, v verdict) verdict {
	switch {
	case v.class == RateLimited && (a.Status == 413 || a.prose.has("request too large") || a.usage.tooLarge()):
		v.class, v.scope, v.tokenRate = RequestTooLarge, ScopeRequest, true
	case v.class == RequestTooLarge && a.usage.limit.Known:
		v.tokenRate = true
	}
	if v.scope == "" && (v.class == RateLimited || v.class == QuotaExhausted) {
		v.scope = a.limitScope(r, v.class)
	}
	return v
}

// limitScope says whose a limit is: a model's where the words say so, else as the dialect's rates are.
func (a *answer) limitScope(r rules, c Class) Scope {
	if _, model := a.prose.hasAny(modelPhrases); model {
		return ScopeModel
	}
	if c == RateLimited {
		return r.rateScope
	}
	return ""
}

// fromEdge reports whether something in front of the API answered in its place: it judges the address, not the account.
func (a *answer) fromEdge() bool {
	if a.kind == bodyText {
		_, edge := a.prose.hasAny(edgePhrases)
		return edge
	}
	return a.kind == bodyHTML
}
