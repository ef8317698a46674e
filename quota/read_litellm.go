package quota

import "strings"

// liteLLMRules are those of LiteLLM's proxy (BerriAI/litellm): it maps statuses anew (402 to 400, 529 to 500), and writes the
// class of the exception into the words, "litellm.RateLimitError: AzureException RateLimitError - …", the upstream's last.
var liteLLMRules = rules{
	codes: codeTable(
		codeGroup{class: Billing, weight: decides, codes: "budget_exceeded"},
		codeGroup{class: Forbidden, scope: ScopeModel, weight: decides, codes: "key_model_access_denied team_model_access_denied user_model_access_denied org_model_access_denied"},
		codeGroup{class: AuthInvalid, weight: decides, codes: "token_not_found_in_db no_db_connection"},
		codeGroup{class: RateLimited, codes: "throttling_error"},
		codeGroup{class: ModelNotFound, codes: "not_found_error"},
		codeGroup{class: InvalidRequest, codes: "bad_request_error unsupported_params_error unprocessable_entity_error"},
		codeGroup{class: ServerError, codes: "apiconnection_error apierror"},
	),
	phrases: []phraseGroup{
		// Its own deployments of a model are cooling down; it says for how long.
		{class: RateLimited, scope: ScopeModel, phrases: []string{"no deployments available"}},
		{class: RateLimited, phrases: []string{"max parallel request limit reached", "crossed tpm / rpm", "user defined ratelimit", "exceeded token rate limit"}},
		{class: Billing, phrases: []string{"budget has been exceeded", "exceededbudget", "over budget"}},
	},
	wordCode: exceptionCode,
	judge:    judgeLiteLLM,
}

// exceptionCode is the last exception that "litellm.XError" names.
func exceptionCode(message string) string {
	_, rest, ok := cutLast(message, "litellm.")
	if before, _, more := strings.Cut(message, "litellm."); !ok || more && before == message {
		return ""
	}
	// "Handle with `litellm.InternalServerError`." at the end only repeats the first.
	c := cursor{rest}
	return codeName(strings.ReplaceAll(c.name(), ".", ""))
}

// judgeLiteLLM: Azure's rates are those of a deployment, behind the gateway too.
func judgeLiteLLM(a *answer, v verdict) verdict {
	if v.class == RateLimited && a.fromAzure() {
		v.scope = ScopeModel
		return judgeAzure(a, v)
	}
	return v
}

// fromAzure reports whether a gateway's words are Azure's.
func (a *answer) fromAzure() bool {
	return strings.Contains(a.words, "Azure OpenAI API version") || strings.Contains(a.words, "AzureException")
}
