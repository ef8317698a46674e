package quota

// dashScopeRules are those of Alibaba's Model Studio (help.aliyun.com/zh/model-studio/error-code) and of Qwen's OAuth and
// coding plans (qwen-code#1742). It sends OpenAI's words for a bill where only tokens per minute are meant: the link to
// #token-limit tells. Throttling.AllocationQuota stands on rates and on free allowances that are used up.
var dashScopeRules = rules{
	codes:   dashScopeCodes,
	phrases: dashScopePhrases,
	scopes:  map[Class]Scope{RateLimited: ScopeModel},
	judge:   judgeDashScope,
}

var dashScopeCodes = codeTable(
	codeGroup{class: Billing, codes: "insufficient_quota"}, // only where the words say nothing else
	codeGroup{class: RateLimited, codes: "throttling throttling.allocation_quota"},
	codeGroup{class: RateLimited, weight: decides, codes: "throttling.rate_quota throttling.burst_rate limit_requests limit_burst_rate"},
	codeGroup{class: Overloaded, weight: decides, codes: "throttling.service_overloaded"},
	codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "model_unavailable model_serving_error"},
	codeGroup{class: Billing, weight: decides, codes: `arrearage prepaid_bill_overdue postpaid_bill_overdue commodity_not_purchased
		access_denied.unpurchased`},
	codeGroup{class: QuotaExhausted, scope: ScopeModel, weight: decides, codes: "allocation_quota.free_tier_only"},
	codeGroup{class: ContentPolicy, weight: decides, codes: "data_inspection_failed data_inspection"},
	codeGroup{class: AuthInvalid, codes: "invalid_api_key"}, // an OAuth token that ran out has it too
	codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "model.access_denied workspace.access_denied"},
	codeGroup{class: Timeout, weight: decides, codes: "request_time_out internal_error.timeout response_timeout"},
	codeGroup{class: ServerError, codes: "system_error internal_error"},
)

var dashScopePhrases = []phraseGroup{
	{class: QuotaExhausted, scope: ScopeAccount, phrases: []string{"hour allocated quota exceeded", "week allocated quota exceeded", "month allocated quota exceeded"}},
	{class: QuotaExhausted, phrases: []string{"free allocated quota exceeded", "free quota has been exhausted", "free tier of the model has been exhausted"}},
	{class: RateLimited, scope: ScopeAccount, phrases: []string{"concurrency allocated quota exceeded"}},
	{class: RateLimited, phrases: []string{"error code#token limit", "allocated quota exceeded", "tpm exhausted", "rpm exhausted", "requests rate limit exceeded", "rate quota"}},
	{class: AuthExpired, phrases: []string{"access token or token expired"}},
	{class: Billing, phrases: []string{"bill is overdue", "account is in good standing"}},
}

// judgeDashScope: the free allowance of the API is one of each model, that of Qwen's OAuth is the account's.
func judgeDashScope(a *answer, v verdict) verdict {
	if v.class == QuotaExhausted && v.scope == "" && a.hasCode("throttling.allocation_quota") {
		v.scope = ScopeModel
	}
	return v
}
