package quota

import (
	"strings"

	"github.com/tidwall/gjson"
)

// moonshotRules are those of Moonshot's API (platform.moonshot.ai/docs, "Error explanation"; agents-exe#336,
// free-claude-code#1223). 429 is a rate, an overload and a bill; only the type tells.
var moonshotRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, codes: "rate_limit_reached_error"},
		codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "engine_overloaded_error"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "invalid_authentication_error incorrect_api_key_error"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "resource_not_found_error"},
	),
	scopes:  map[Class]Scope{Overloaded: ScopeModel},
	measure: measureMoonshot,
	usage:   moonshotUsage,
}

// measureMoonshot reads "request reached project TPM rate limit, current: 1410, limit: 100" and "request reached
// organization max RPM: 3".
func measureMoonshot(a *answer) []Bucket {
	c, ok := past(a.words, "request reached")
	if !ok {
		return nil
	}
	whose, ok := c.anyWord("project", "organization", "user")
	if !ok {
		return nil
	}
	c.word("max")
	what, ok := c.anyWord("tpm", "rpm", "tpd", "rpd", "concurrency")
	if !ok {
		return nil
	}
	b := Bucket{ID: a.dialect.bucketPrefix() + "." + whose + "_" + strings.ToLower(what)}
	if c.mark(":") {
		if limit, ok := c.number(); ok {
			b.Limit = Known(limit)
			return []Bucket{b.spent()}
		}
		return nil
	}
	current, limit := afterLabel(c.rest, "current"), afterLabel(c.rest, "limit:")
	if !current.Known || !limit.Known {
		return nil
	}
	return []Bucket{b.withCount(current.Value, limit.Value)}
}

// afterLabel is the number behind a label.
func afterLabel(text, label string) Number {
	c, ok := past(text, label)
	if !ok {
		return Number{}
	}
	c.mark(":")
	if v, ok := c.number(); ok {
		return Known(v)
	}
	return Number{}
}

// moonshotUsage reads GET /v1/users/me/balance.
func moonshotUsage(a *answer, v gjson.Result) []Bucket {
	left := numberOf(v.Get("data.available_balance"))
	if !left.Known {
		return nil
	}
	return []Bucket{balanceBucket(a.dialect.bucketPrefix()+".balance", left.Value)}
}

// balanceBucket is money: nothing says of how much, but none is none.
func balanceBucket(id string, left float64) Bucket {
	b := Bucket{ID: id, Remaining: Known(max(left, 0))}
	if left <= 0 {
		b = b.spent()
	}
	return b
}
