package quota

import "strings"

// anthropicRules are those of the Anthropic API (docs.claude.com/en/api/errors and …/rate-limits). Its rates are those of a
// group of models, its 400s hide bills, and Retry-After is the wait of exactly this request: the resets of the headers are
// those of full buckets.
var anthropicRules = rules{
	codes:   anthropicCodes,
	phrases: anthropicPhrases,
	scopes:  map[Class]Scope{RateLimited: ScopeFamily},
	header:  anthropicHeader,
	measure: measureAnthropic,
	judge:   judgeAnthropic,
}

var anthropicCodes = codeTable(codeGroup{class: ModelNotFound, codes: "not_found_error"})

var anthropicPhrases = []phraseGroup{
	{class: Billing, phrases: []string{"monthly spend limit", "credit balance is too low"}},
	{class: QuotaExhausted, scope: ScopeAccount, phrases: []string{"reached your specified api usage limits"}},
	{class: Forbidden, phrases: []string{"only authorized for use with claude code", "not have access to claude", "organization has been disabled"}},
	{class: ModelNotFound, phrases: []string{"model: claude"}},
	{class: AuthInvalid, phrases: []string{"oauth authentication is currently not supported"}},
}

// anthropicHeader reads anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}, where the
// reset is RFC 3339, and for subscriptions anthropic-ratelimit-unified-….
func anthropicHeader(key string) (string, windowField, bool) {
	rest, ok := strings.CutPrefix(key, "Anthropic-Ratelimit-")
	if !ok {
		return "", 0, false
	}
	if unified, ok := strings.CutPrefix(rest, "Unified-"); ok {
		return unifiedHeader(unified)
	}
	name, word, ok := cutLast(rest, "-")
	if !ok {
		return "", 0, false
	}
	field, ok := fieldNamed(word)
	return name, field, ok
}

// judgeAnthropic knows whose the rate is: of the models that share it, of which the call's model is one.
func judgeAnthropic(a *answer, v verdict) verdict {
	if v.class == RateLimited && v.scope == "" {
		v.scope, v.family = ScopeFamily, Variant
	}
	return v
}

// measureAnthropic reads "… rate limit of 40,000 input tokens per minute", with the organisation's name in between or not.
func measureAnthropic(a *answer) []Bucket {
	if !a.signs[signShort] {
		return nil
	}
	for rest := a.words; ; {
		c, ok := past(rest, "of")
		if !ok {
			return nil
		}
		rest = c.rest
		limit, ok := c.number()
		if !ok {
			continue
		}
		what, ok := c.anyWord("input tokens", "output tokens", "requests", "tokens")
		if ok && c.word("per minute") {
			return []Bucket{{ID: a.dialect.bucketPrefix() + "." + strings.ReplaceAll(what, " ", "_"), Limit: Known(limit)}}
		}
	}
}
