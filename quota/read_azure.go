package quota

import "time"

// azureRules are Azure OpenAI's (learn.microsoft.com/azure/ai-services/openai/how-to/quota). A deployment has a rate and a
// capacity of its own, and is called by its name in the place of a model. -1 in its headers is unknown.
var azureRules = rules{
	scopes: map[Class]Scope{RateLimited: ScopeModel, QuotaExhausted: ScopeModel, Overloaded: ScopeModel},
	codes: codeTable(
		codeGroup{class: Overloaded, weight: decides, codes: "no_capacity engine_overloaded"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "401"},
	),
	phrases: []phraseGroup{
		{class: Overloaded, phrases: []string{"peak load", "high demand", "temporarily unable to process your request"}},
		{class: RateLimited, phrases: []string{"exceeded token rate limit", "exceeded call rate limit", "exceeded rate limit"}},
	},
	judge: judgeAzure,
}

// wholeRate is what Azure says where one request is above the whole rate of the deployment: exactly a day, which is no wait
// at all (climb#1, TinyLLM#17).
const wholeRate = 86400 * time.Second

// judgeAzure knows that wait. Another deployment may have the rate.
func judgeAzure(a *answer, v verdict) verdict {
	if v.class == RateLimited && a.wait(RateLimited, nil).after == wholeRate {
		v.class, v.scope, v.tokenRate, v.timeless = RequestTooLarge, ScopeModel, true, true
	}
	return v
}
