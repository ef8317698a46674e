package quota

// bedrockRules are those of Amazon Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference, "Common errors"). The exception is
// in x-amzn-errortype, or an event of the stream after 200. There is no Retry-After, ever; quotas are per model and region.
// "Too many tokens" is a rate, "too many tokens per day" a day's quota, and neither is a context.
var bedrockRules = rules{
	codes: codeTable(
		codeGroup{class: RateLimited, codes: "throttling_exception too_many_requests_exception"},
		codeGroup{class: QuotaExhausted, weight: decides, codes: "service_quota_exceeded_exception"},
		codeGroup{class: Overloaded, weight: decides, codes: "service_unavailable_exception model_not_ready_exception"},
		codeGroup{class: ServerError, weight: decides, codes: "model_error_exception model_stream_error_exception internal_server_exception"},
		codeGroup{class: Timeout, weight: decides, codes: "model_timeout_exception"},
		codeGroup{class: AuthExpired, weight: decides, codes: "expired_token_exception expired_token request_expired"},
		codeGroup{class: AuthInvalid, weight: decides, codes: `unrecognized_client_exception invalid_signature_exception
			incomplete_signature_exception missing_authentication_token_exception invalid_client_token_id`},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "access_denied_exception"},
		codeGroup{class: ModelNotFound, codes: "resource_not_found_exception"},
		codeGroup{class: InvalidRequest, codes: "validation_exception"},
	),
	phrases: []phraseGroup{
		{class: QuotaExhausted, phrases: []string{"too many tokens per day", "too many requests per day"}},
		{class: RateLimited, phrases: []string{"too many tokens", "too many requests", "too many connections"}},
		{class: ModelNotFound, phrases: []string{"model identifier is invalid", "end of its life"}},
		{class: AuthExpired, phrases: []string{"security token included in the request is expired", "signature expired"}},
	},
	scopes: map[Class]Scope{
		RateLimited: ScopeModel, QuotaExhausted: ScopeModel, Overloaded: ScopeModel, ServerError: ScopeModel, Timeout: ScopeModel,
	},
}
