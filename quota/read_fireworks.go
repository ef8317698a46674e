package quota

// fireworksRules are those of Fireworks AI (docs.fireworks.ai/guides/quotas_usage/rate-limits): 412 is an account that is
// suspended for money, Retry-After may be a fraction of a second, fireworks-prompt-tokens is what the call used.
var fireworksRules = rules{
	statuses: map[int]Class{412: Billing},
	phrases: []phraseGroup{
		{class: Billing, phrases: []string{"account is suspended", "account has been suspended", "account * is suspended"}},
		{class: RateLimited, phrases: []string{"exceeded your usage limits"}},
	},
}
