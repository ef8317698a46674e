package quota

import "strings"

// mistralRules are Mistral's (docs.mistral.ai, "Rate limits"; continue#6185, litellm#25078). 3505 and "Service tier capacity
// exceeded" are a lack of capacity, also where the type says that the request is invalid. The window stands in the names of
// its headers: x-ratelimit-…-{req,tokens}-minute and ratelimitbysize-….
var mistralRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, weight: decides, codes: "1300"},
		codeGroup{class: Overloaded, weight: decides, codes: "3505 service_tier_capacity_exceeded"},
		codeGroup{class: InvalidRequest, codes: "invalid_request_error"},
	),
	phrases: []phraseGroup{
		{class: Overloaded, phrases: []string{"service tier capacity exceeded", "capacity exceeded"}},
		{class: QuotaExhausted, phrases: []string{"monthly limit", "monthly quota"}},
	},
	scopes: map[Class]Scope{Overloaded: ScopeModel},
	header: mistralHeader,
}

// mistralHeader reads ratelimitbysize-{limit,remaining,reset} and x-ratelimitbysize-{limit,remaining}-{minute,month}.
func mistralHeader(key string) (string, windowField, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(key, "X-"), "Ratelimitbysize-")
	if !ok {
		return "", 0, false
	}
	word, window, named := strings.Cut(rest, "-")
	name := "Tokens"
	if named {
		name += "-" + window
	}
	field, ok := fieldNamed(word)
	return name, field, ok
}
