package quota

// openAIRules are OpenAI's particulars (platform.openai.com/docs/guides/rate-limits and …/error-codes). Its rates are per
// model; money and credentials are the organisation's. x-ratelimit-reset-* is the time to a full refill, not the wait.
var openAIRules = rules{
	rateScope: ScopeModel,
	codes: map[string]codeMeaning{
		"tokens":   {RateLimited, leans}, // the type names the window; in 2023 it was all there was
		"requests": {RateLimited, leans},
	},
}

// readOpenAI reads the OpenAI API and those that copy its rate limits model by model.
func readOpenAI(a *answer) Reading { return a.read(openAIRules) }
