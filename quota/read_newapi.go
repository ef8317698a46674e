package quota

// newAPIRules are those of one-api and new-api (QuantumNous/new-api, songquanpeng/one-api). A "token" is a key of theirs;
// its quota is money, unless it is a subscription's.
var newAPIRules = rules{
	codes: codeTable(
		codeGroup{class: Billing, codes: "insufficient_user_quota"},
		codeGroup{class: Billing, weight: decides, codes: "pre_consume_token_quota_failed insufficient_quota_error"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "model_not_found get_channel_failed"},
		codeGroup{class: ContentPolicy, weight: decides, codes: "sensitive_words_detected prompt_blocked"},
		codeGroup{class: Forbidden, codes: "access_denied"},
		codeGroup{class: ServerError, codes: "do_request_failed bad_response_status_code read_response_body_failed bad_response_body empty_response"},
	),
	phrases: []phraseGroup{
		{class: QuotaExhausted, phrases: []string{"subscription quota insufficient", "订阅额度不足"}},
		{class: Billing, phrases: []string{"令牌额度已用尽", "额度不足", "额度已用尽", "token quota is not enough", "quota is not enough"}},
		{class: Forbidden, scope: ScopeModel, phrases: []string{"令牌无权访问模型", "无权使用模型", "无权访问模型"}},
		{class: AuthExpired, phrases: []string{"令牌已过期"}},
		{class: AuthInvalid, phrases: []string{"无效的令牌", "令牌状态不可用", "未提供令牌", "用户已被封禁"}},
		{class: RateLimited, phrases: []string{"达到请求数限制", "请求过于频繁"}},
	},
}
