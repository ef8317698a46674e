package quota

import "strings"

// codeWeight is how far a machine code may be believed. Some say exactly what happened; others are what a gateway puts on
// everything of a kind, and the words beside them know better.
type codeWeight uint8

const (
	leans   codeWeight = iota // believed only where no phrase says more
	decides                   // believed before any phrase
)

// codeMeaning is what a machine code stands for.
type codeMeaning struct {
	class  Class
	scope  Scope // "" = that of the class
	weight codeWeight
}

// codeGroup is a meaning and the codes that have it, in snake case, apart by blanks.
type codeGroup struct {
	class  Class
	scope  Scope
	weight codeWeight
	codes  string
}

// codeTable indexes groups by code.
func codeTable(groups ...codeGroup) map[string]codeMeaning {
	table := make(map[string]codeMeaning)
	for _, g := range groups {
		for code := range strings.FieldsSeq(g.codes) {
			table[code] = codeMeaning{g.class, g.scope, g.weight}
		}
	}
	return table
}

// commonCodes are the codes that mean the same with every provider that sends them. Sources: the OpenAI error reference
// and its SDKs, Anthropic's errors page, google.rpc.Code, and the recorded cases of compatible providers.
var commonCodes = codeTable(
	codeGroup{class: Billing, weight: decides, codes: `insufficient_quota billing_hard_limit_reached billing_not_active
		credit_balance_exhausted organization_spend_limit_exceeded project_spend_limit_exceeded organization_usage_limit_exceeded
		insufficient_balance insufficient_credits insufficient_funds exceeded_current_quota_error budget_exceeded`},
	codeGroup{class: Billing, codes: `insufficient_user_quota payment_required payment_required_error billing_error`},
	codeGroup{class: QuotaExhausted, weight: decides, codes: `usage_limit_reached usage_limit_exceeded free_quota_exceeded`},
	codeGroup{class: QuotaExhausted, codes: `quota_exceeded quota_exhausted`},
	codeGroup{class: RateLimited, weight: decides, codes: `rate_limit_exceeded`},
	codeGroup{class: RateLimited, codes: `rate_limited rate_limit_error rate_limit_reached rate_limit too_many_requests resource_exhausted
		throttling throttling_error throttling_exception too_many_requests_exception requests_limit_exceeded`},
	codeGroup{class: Overloaded, weight: decides, codes: `server_is_overloaded slow_down overloaded overloaded_error engine_overloaded
		engine_overloaded_error model_overloaded capacity_exceeded queue_exceeded service_overloaded server_overloaded`},
	codeGroup{class: Overloaded, codes: `provider_unavailable service_unavailable service_unavailable_error unavailable unavailable_error
		service_unavailable_exception`},
	codeGroup{class: AuthInvalid, weight: decides, codes: `invalid_api_key invalid_authentication account_deactivated token_invalidated
		token_revoked refresh_token_reused refresh_token_invalidated unrecognized_client_exception invalid_client_token_id
		missing_authentication_token incorrect_api_key_error`},
	codeGroup{class: AuthInvalid, codes: `authentication_error unauthenticated unauthorized auth_error invalid_authentication_error
		unauthorized_exception`},
	codeGroup{class: AuthExpired, weight: decides, codes: `token_expired expired_token access_token_expired expired_token_exception
		api_key_expired expired_key`},
	codeGroup{class: Forbidden, scope: ScopeProvider, weight: decides, codes: `unsupported_country_region_territory`},
	codeGroup{class: Forbidden, weight: decides, codes: `usage_not_included`},
	codeGroup{class: Forbidden, codes: `permission_denied permission_error permission_denied_error forbidden access_denied access_denied_exception`},
	codeGroup{class: ModelNotFound, weight: decides, codes: `model_not_found model_not_available model_not_supported deployment_not_found
		unknown_model model_decommissioned model_not_exist`},
	codeGroup{class: ModelNotFound, codes: `invalid_model`},
	codeGroup{class: ContextTooLong, weight: decides, codes: `context_length_exceeded context_window_exceeded exceed_context_size_error
		content_length_exceeds_threshold prompt_too_long context_window_exceeded_error`},
	codeGroup{class: ContentPolicy, weight: decides, codes: `content_policy_violation content_filter responsible_aipolicy_violation
		moderation_blocked invalid_prompt cyber_policy bio_policy content_policy_violation_error data_inspection_failed`},
	codeGroup{class: RequestTooLarge, weight: decides, codes: `request_too_large payload_too_large request_entity_too_large`},
	codeGroup{class: InvalidRequest, weight: decides, codes: `unsupported_parameter unknown_parameter unsupported_value
		missing_required_parameter invalid_value invalid_type invalid_json string_above_max_length previous_response_not_found`},
	codeGroup{class: Timeout, codes: `request_timeout timeout_error timeout deadline_exceeded model_timeout_exception`},
	codeGroup{class: ServerError, codes: `server_error api_error internal internal_error internal_server_error internal_server_exception
		bad_gateway`},
)
