package quota

// workersAIRules are those of Cloudflare Workers AI (developers.cloudflare.com/workers-ai/platform/errors): errors[] with
// internal numbers. The free allowance of neurons is a day's.
var workersAIRules = rules{
	codes: codeTable(
		codeGroup{class: QuotaExhausted, weight: decides, codes: "4006 3036"},
		codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "3040"},
		codeGroup{class: Timeout, weight: decides, codes: "3007 3046"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "5007"},
		codeGroup{class: RequestTooLarge, weight: decides, codes: "3006"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "5016 5018 3041"},
		codeGroup{class: Forbidden, weight: decides, codes: "3023"},
		codeGroup{class: InvalidRequest, weight: decides, codes: "5004 3003"},
		codeGroup{class: AuthInvalid, codes: "10000 10001"},
	),
	measure: measureWorkersAI,
}

// measureWorkersAI reads "used up your daily free allocation of 10,000 neurons".
func measureWorkersAI(a *answer) []Bucket {
	c, ok := past(a.words, "daily free allocation of")
	if !ok {
		return nil
	}
	limit, ok := c.number()
	if !ok || !c.word("neurons") {
		return nil
	}
	return []Bucket{Bucket{ID: a.dialect.bucketPrefix() + ".neurons_per_day"}.withCount(limit, limit)}
}
