package quota

import (
	"strings"

	"github.com/tidwall/gjson"
)

// xaiRules are those of xAI's API and of Grok subscriptions: {"code": …, "error": "words"}, where the code is a sentence, a
// number or sits in a "[WKE=…]" at the end of the words (hermes-agent#26847, sub2api#4069, continue#10373). Money is missing
// under 402, 403 and 429; "resource-exhausted" is a short window; an expired OAuth token comes as 403.
var xaiRules = rules{
	codes: codeTable(
		codeGroup{class: Billing, weight: decides, codes: `personal_team_blocked:spending_limit personal_team_blocked:no_credits team_blocked:spending_limit`},
		codeGroup{class: QuotaExhausted, weight: decides, codes: "subscription:free_usage_exhausted subscription:usage_exhausted"},
		codeGroup{class: AuthExpired, weight: decides, codes: "unauthenticated:bad_credentials"},
		codeGroup{class: ModelNotFound, codes: "some_requested_entity_was_not_found"},
		codeGroup{class: AuthInvalid, codes: "unauthenticated:no_credentials unauthenticated:invalid_api_key"},
	),
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{
			"ran out of credits", "run out of credits", "any credits or licenses", "usage balance exhausted", "run out of available resources",
		}},
	},
	wordCode: wkeCode,
	measure:  measureXAI,
	usage:    grokUsage,
}

// wkeCode is the machine code in "[WKE=unauthenticated:bad-credentials]".
func wkeCode(message string) string {
	_, rest, ok := strings.Cut(message, "[WKE=")
	code, _, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return ""
	}
	return codeName(code)
}

// measureXAI reads "Requests per Minute (actual/limit): 73/60" and "tokens (actual/limit): 1065387/1000000", the latter of a
// rolling window of 24 hours, which never resets as a whole.
func measureXAI(a *answer) []Bucket {
	const mark = "(actual/limit):"
	var buckets []Bucket
	for rest := a.words; len(buckets) < bucketLimit; {
		before, after, ok := strings.Cut(rest, mark)
		if !ok {
			break
		}
		rest = after
		c := cursor{after}
		used, counted := c.number()
		if !counted || !c.mark("/") {
			continue
		}
		limit, counted := c.number()
		if !counted {
			continue
		}
		name := lastWords(before)
		if name == "tokens" && contains(a.words, "rolling 24 hour window") {
			name = "tokens_24h"
		}
		buckets = append(buckets, Bucket{ID: a.dialect.bucketPrefix() + "." + name}.withCount(used, limit))
	}
	return buckets
}

// lastWords is the name of a rate at the end of a text: "… Requests per Minute " is "requests_per_minute".
func lastWords(s string) string {
	words := strings.Fields(strings.ToLower(s))
	n := len(words)
	switch {
	case n >= 3 && words[n-2] == "per":
		return strings.Join(words[n-3:], "_")
	case n >= 1:
		return words[n-1]
	}
	return "usage"
}

// grokUsage reads GET /v1/billing?format=credits of Grok's command line proxy: percentages of the plan's credits and of its
// products, until the period ends.
func grokUsage(a *answer, v gjson.Result) []Bucket {
	if config := v.Get("config"); config.IsObject() {
		v = config
	}
	used := numberOf(v.Get("creditUsagePercent"))
	products := v.Get("productUsage").Array()
	if !used.Known && len(products) == 0 {
		return nil
	}
	prefix, end := a.dialect.bucketPrefix()+".", v.Get("currentPeriod.end")
	var buckets []Bucket
	if used.Known {
		buckets = append(buckets, resetBucket(prefix+"weekly", used.Value, end))
	}
	for _, p := range products {
		if n := numberOf(p.Get("usagePercent")); n.Known && p.Get("product").Str != "" {
			buckets = append(buckets, resetBucket(prefix+codeName(p.Get("product").Str), n.Value, end))
		}
	}
	return buckets
}
