package quota

// groqRules are Groq's (console.groq.com/docs/errors, …/rate-limits and …/flex-processing): OpenAI's shapes and rates per
// model. Its headers of requests are those of a day and its headers of tokens those of a minute, so the exhausted window
// may have none. 498 is a flex tier without capacity.
var groqRules = rules{
	scopes:   map[Class]Scope{RateLimited: ScopeModel, QuotaExhausted: ScopeModel, Overloaded: ScopeModel},
	statuses: map[int]Class{498: Overloaded},
	codes: codeTable(
		codeGroup{class: RateLimited, codes: "tokens requests"},
		codeGroup{class: Forbidden, weight: decides, codes: "organization_restricted blocked_api_access"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "model_permission_blocked_org model_permission_blocked_project model_terms_required"},
		codeGroup{class: InvalidRequest, weight: decides, codes: "json_validate_failed tool_use_failed"},
	),
}
