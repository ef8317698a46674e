package quota

// openAIRules are OpenAI's particulars (platform.openai.com/docs/guides/rate-limits and …/error-codes). Its rates are per
// model; money and credentials are the organisation's. x-ratelimit-reset-* is the time to a full refill, not the wait.
var openAIRules = rules{
	scopes: map[Class]Scope{RateLimited: ScopeModel},
	codes:  openAICodes,
}

var openAICodes = codeTable(
	// The type names the window; in 2023 it was all there was.
	codeGroup{class: RateLimited, codes: "tokens requests"},
	codeGroup{class: Forbidden, weight: decides, codes: "ip_not_authorized organization_restricted"},
)
