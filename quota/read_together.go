package quota

import "strings"

// togetherRules are those of Together AI (docs.together.ai/docs/error-codes and …/rate-limits). credit_limit stands on a
// rate per minute too: only 402 is a bill. Its rates are those of a model where it says so; x-ratelimit-reset counts seconds,
// x-tokenlimit-… are tokens.
var togetherRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, scope: ScopeModel, weight: decides, codes: "model_rate_limit dynamic_request_limited dynamic_token_limited"},
		codeGroup{class: RateLimited, codes: "request_limited token_limited"},
	),
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{"spending limit", "credit balance"}},
		{class: Overloaded, phrases: []string{"engine is overloaded", "engine overloaded"}},
	},
	scopes:  map[Class]Scope{Overloaded: ScopeModel},
	header:  togetherHeader,
	measure: measureTogether,
}

// togetherHeader reads x-tokenlimit-{limit,remaining,reset}.
func togetherHeader(key string) (string, windowField, bool) {
	word, ok := strings.CutPrefix(key, "X-Tokenlimit-")
	if !ok {
		return "", 0, false
	}
	field, ok := fieldNamed(word)
	return "tokens", field, ok
}

// measureTogether reads "The maximum rate limit for this model is 9.0 queries per minute".
func measureTogether(a *answer) []Bucket {
	for _, lead := range []string{"rate limit for this model is", "rate limit is", "rate limit of"} {
		c, ok := past(a.words, lead)
		if !ok {
			continue
		}
		limit, ok := c.number()
		if !ok {
			continue
		}
		what, ok := c.anyWord("queries", "requests", "tokens")
		if !ok || !c.word("per") {
			continue
		}
		if unit, ok := timeUnits[c.name()]; ok {
			return []Bucket{{ID: a.dialect.bucketPrefix() + "." + what + "_per_" + unit, Limit: Known(limit)}}
		}
	}
	return nil
}
