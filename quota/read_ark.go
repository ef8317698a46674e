package quota

// arkRules are those of Volcengine Ark (volcengine.com/docs/82379/1299023). AccountQuotaExceeded is the plan's window, with
// its end as Go prints a time: "+0800 CST", of which the offset counts. Codes that begin with Model are a model's own;
// SetLimitExceeded is a cap that the user set.
var arkRules = rules{
	codes: codeTable(
		codeGroup{class: QuotaExhausted, weight: decides, codes: "account_quota_exceeded"},
		codeGroup{class: QuotaExhausted, scope: ScopeModel, weight: decides, codes: "quota_exceeded inference_quota_exceeded"},
		codeGroup{class: Billing, scope: ScopeModel, weight: decides, codes: "set_limit_exceeded"},
		codeGroup{class: Billing, weight: decides, codes: "account_overdue_error"},
		codeGroup{class: RateLimited, scope: ScopeModel, weight: decides, codes: `model_account_tpm_rate_limit_exceeded
			model_account_rpm_rate_limit_exceeded model_account_ipm_rate_limit_exceeded api_account_rpm_rate_limit_exceeded
			endpoint_tpm_rate_limit_exceeded endpoint_rpm_rate_limit_exceeded`},
		codeGroup{class: RateLimited, weight: decides, codes: "account_rate_limit_exceeded request_burst_too_fast"},
		codeGroup{class: Overloaded, scope: ScopeModel, weight: decides, codes: "server_overloaded model_loading_error"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "model_not_open invalid_endpoint_or_model.model_idaccess_disabled"},
		codeGroup{class: Forbidden, weight: decides, codes: "invalid_account_status operation_denied.service_not_open"},
		codeGroup{class: ModelNotFound, weight: decides, codes: "invalid_endpoint_or_model.not_found invalid_endpoint.not_found"},
		codeGroup{class: ContentPolicy, weight: decides, codes: `sensitive_content_detected input_text_sensitive_content_detected
			output_text_sensitive_content_detected input_image_sensitive_content_detected sensitive_content_detected.severe_violation
			sensitive_content_detected.violence`},
		codeGroup{class: RateLimited, codes: "too_many_requests"},
	),
}
