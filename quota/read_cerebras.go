package quota

// cerebrasRules are those of Cerebras (inference-docs.cerebras.ai/support/rate-limits). The error's members are at the top; the
// same code stands on a minute and on a day, and the headers x-ratelimit-…-{day,minute}, with resets in seconds, tell which
// is at 0.
var cerebrasRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, codes: "token_quota_exceeded request_quota_exceeded too_many_requests_error too_many_tokens_error"},
		codeGroup{class: Overloaded, weight: decides, codes: "queue_exceeded"},
	),
	phrases: []phraseGroup{
		{class: RateLimited, phrases: []string{"minute limit exceeded", "hour limit exceeded", "second limit exceeded"}},
		{class: QuotaExhausted, phrases: []string{"day limit exceeded"}},
	},
	scopes: map[Class]Scope{RateLimited: ScopeModel, QuotaExhausted: ScopeModel, Overloaded: ScopeModel},
}
