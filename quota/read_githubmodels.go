package quota

import (
	"strings"
	"time"
)

// gitHubModelsRules are those of GitHub Models: "Rate limit of 8 per 86400s exceeded for UserByModelByDay. Please wait 83652
// seconds before retrying." The name of the window says whose it is: a model's, where it says so.
var gitHubModelsRules = rules{
	codes: codeTable(
		codeGroup{class: RequestTooLarge, codes: "tokens_limit_reached"},
	),
	measure: measureGitHubModels,
	judge:   judgeGitHubModels,
}

// gitHubRate reads that sentence.
func gitHubRate(words string) (name string, limit float64, window time.Duration, ok bool) {
	c, ok := past(words, "rate limit of")
	if !ok {
		return "", 0, 0, false
	}
	limit, counted := c.number()
	if !counted || !c.word("per") {
		return "", 0, 0, false
	}
	window, rest, timed := leadingDuration(c.rest)
	c.rest = rest
	if !timed || !c.word("exceeded for") {
		return "", 0, 0, false
	}
	name = c.name()
	return name, limit, window, name != ""
}

func measureGitHubModels(a *answer) []Bucket {
	name, limit, _, ok := gitHubRate(a.words)
	if !ok {
		return nil
	}
	b := Bucket{ID: a.dialect.bucketPrefix() + "." + codeName(name)}
	return []Bucket{b.withCount(limit, limit)}
}

// judgeGitHubModels: the size of a request is a limit of the free tier, which another account may not have.
func judgeGitHubModels(a *answer, v verdict) verdict {
	if v.class == RequestTooLarge && a.hasCode("tokens_limit_reached") {
		v.tokenRate = true
	}
	name, _, window, ok := gitHubRate(a.words)
	if !ok || v.class != RateLimited && v.class != QuotaExhausted {
		return v
	}
	v.class, v.scope = RateLimited, ""
	if window >= fixedWindow {
		v.class = QuotaExhausted
	}
	if strings.Contains(name, "ByModel") {
		v.scope = ScopeModel
	}
	return v
}
