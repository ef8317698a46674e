package quota

// kiroRules are those of Kiro, once CodeWhisperer: "reason" decides, and "__type" only repeats that something throttled. A
// bearer token that is "invalid" has run out.
var kiroRules = rules{
	codes: codeTable(
		codeGroup{class: QuotaExhausted, weight: decides, codes: "monthly_request_count overage_request_limit_exceeded daily_request_count"},
		codeGroup{class: RateLimited, weight: decides, codes: "user_request_rate_exceeded"},
		codeGroup{class: Overloaded, weight: decides, codes: "insufficient_model_capacity model_temporarily_unavailable"},
		codeGroup{class: Forbidden, weight: decides, codes: "temporarily_suspended feature_not_supported"},
		codeGroup{class: ContextTooLong, weight: decides, codes: "content_length_exceeds_threshold"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "invalid_model_id"},
		codeGroup{class: InvalidRequest, codes: "validation_exception"},
	),
	phrases: []phraseGroup{
		{class: AuthExpired, phrases: []string{"bearer token included in the request is invalid", "bearer token * is invalid"}},
		{class: ContextTooLong, phrases: []string{"input is too long"}},
	},
	scopes: map[Class]Scope{Overloaded: ScopeModel},
}
