package quota

// cursorRules are Cursor's (cursor/cursor#3703): Connect's envelope, with the words in details[].debug.details. Its end of a
// cycle is a date without a zone.
var cursorRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, codes: "error_rate_limited error_rate_limited_changeable error_slow_pool resource_exhausted"},
		codeGroup{class: QuotaExhausted, weight: decides, codes: "error_user_usage_limit error_free_user_usage_limit error_pro_user_usage_limit error_free_user_rate_limit_exceeded"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "error_not_logged_in error_bad_api_key error_unauthorized"},
		codeGroup{class: Overloaded, weight: decides, codes: "error_openai_overloaded error_resource_exhausted_model"},
	),
}
