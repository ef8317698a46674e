package quota

// phraseGroup is what any of some phrases stands for.
type phraseGroup struct {
	class   Class
	scope   Scope // "" = that of the class
	phrases []string
}

// capacityPhrases tell that the provider is short of capacity, whatever code stands beside them: they come even under
// the codes of billing and rate limits.
var capacityPhrases = []string{
	"overloaded", "at capacity", "high traffic", "experiencing high demand", "currently experiencing high load",
	"no capacity available", "capacity exceeded", "out of capacity", "service is too busy", "server is busy", "servers are busy",
}

// commonPhrases is what providers say in words, in the order in which it is believed. All are in folded form (lower case,
// '-' and '_' as spaces), whole phrases on purpose: "rate", "token" or "quota" alone are in too many innocent messages.
// Their sources are the recorded cases and the error references of the providers.
var commonPhrases = []phraseGroup{
	{class: ContextTooLong, phrases: []string{
		"maximum context length", "context length exceeded", "exceeds the context window", "exceeds the context length",
		"context window exceeded", "exceed context limit", "exceeds context limit", "exceeds the model's context",
		"exceeds the available context size", "prompt is too long",
		"input token count * exceeds the maximum number of tokens", "longer than the model's context length",
		"maximum prompt length is", "exceeded model token limit", "prompt exceeds max length", "context size has been exceeded",
		"context length of only", "must be less than max seq len", "input is too long", "reduce the length of the messages", "exceeds the maximum context",
	}},
	{class: RequestTooLarge, phrases: []string{
		"request too large", "request entity too large", "request body too large", "payload too large", "content too large",
		"request exceeds the maximum size",
	}},
	{class: ContentPolicy, phrases: []string{
		"flagged by our safety system", "flagged by our content", "input was flagged", "violating our usage policy",
		"violates our usage policy", "violates our usage policies", "violates our content policy", "content management policy",
		"content policy violation", "blocked by content filter", "blocked by our content filter", "data inspection failed",
	}},
	{class: Billing, phrases: []string{
		"insufficient balance", "insufficient credit", "insufficient credits", "insufficient funds", "insufficient account funds",
		"insufficient account balance", "balance is insufficient", "overdue balance", "payment is past due",
		"credit balance is too low", "out of credits", "out of credit", "doesn't have any credits", "does not have any credits",
		"used all available credits", "add credits to continue", "purchase more credits", "requires more credits",
		"can only afford", "billing hard limit", "check your plan and billing details", "spending limit", "spend limit",
		"spend cap", "key limit exceeded", "balance exhausted", "payment required", "account is in arrears", "overdue payment",
		"active grok subscription", "余额不足", "账户已欠费",
	}},
	{class: AuthExpired, phrases: []string{
		"token has expired", "token expired", "token is expired", "expired token", "token was expired", "token * is expired", "key has expired",
		"api key expired", "session has expired", "session expired", "credentials have expired", "credential has expired",
		"access token could not be validated",
	}},
	{class: AuthInvalid, phrases: []string{
		"invalid api key", "incorrect api key", "api key not valid", "api key is invalid", "invalid x api key",
		"invalid authentication credentials", "invalid authentication", "authentication fails", "authentication failed",
		"no api key provided", "invalid bearer token", "invalid token", "token has been revoked", "key has been revoked",
	}},
	{class: Forbidden, scope: ScopeModel, phrases: []string{
		"not have access to the model", "not have access to this model", "not have access to model", "not allowed to use this model",
		"not allowed to use the model", "model is not available in your region", "model is not available in your country",
		"matching your guardrail restrictions", "matching your data policy",
	}},
	{class: Forbidden, phrases: []string{
		"not supported in your country", "country, region, or territory not supported", "location is not supported",
		"not available in your region", "not available in your country",
	}},
	{class: ModelNotFound, phrases: []string{
		"model not found", "model * not found", "model does not exist", "model * does not exist", "no such model", "unknown model",
		"is not a valid model", "invalid model name", "no endpoints found for", "model * is not supported", "model not supported",
		"is not found for api version", "does not serve model", "no available channel for model",
	}},
	{class: Overloaded, scope: ScopeModel, phrases: []string{
		"model is overloaded", "model is currently overloaded", "model is at capacity", "model is currently at capacity",
		"model is currently experiencing high demand", "model busy", "model is busy", "loading model", "model is loading",
	}},
	{class: Overloaded, phrases: capacityPhrases},
	{class: ServerError, phrases: []string{
		"upstream connect error", "no healthy upstream", "upstream request failed", "provider disconnected unexpectedly",
	}},
	{class: QuotaExhausted, phrases: []string{
		"usage limit reached", "usage limit exceeded", "usage limit has been reached", "hit your usage limit",
		"reached your usage limit", "reached your specified api usage limits", "exceeded your usage limit", "quota used up",
		"quota has been used up", "quota exhausted", "exhausted your quota", "exceeded your monthly", "out of quota",
		"used all the included free usage", "daily limit", "weekly limit", "monthly limit", "free models per day",
		"额度已用完", "额度已用尽",
	}},
	{class: RateLimited, phrases: []string{
		"rate limit", "rate limits", "rate limited", "ratelimit", "too many requests", "too many concurrent requests",
		"concurrency limit", "request was throttled", "requests per minute", "tokens per minute", "tokens per min", "requests per min",
		"请求过于频繁", "速率限制",
	}},
	{class: QuotaExhausted, phrases: []string{
		"quota exceeded", "exceeded your current quota", "exceeded your quota", "quota has been exceeded", "quota limit reached",
	}},
	{class: InvalidRequest, phrases: []string{
		"validation error for", "unsupported parameter", "unknown parameter", "unrecognized request argument", "field required",
		"missing required parameter", "invalid value for", "invalid type for",
	}},
}

// longWindows name a window of an hour or more; shortWindows one that a minute or so cures.
var (
	longWindows = []string{
		"per day", "per week", "per month", "daily", "weekly", "monthly", "5 hour", "five hour", "24 hour",
		"rpd", "tpd", "for today", "today's",
	}
	shortWindows = []string{
		"per second", "per minute", "per min", "rpm", "tpm", "rps", "concurrent", "concurrency",
	}
)

// modelPhrases tell that a limit is one model's own.
var modelPhrases = []string{
	"rate limit reached for * in organization", "for model", "and model", "for this model", "model is temporarily rate limited",
	"is temporarily rate limited upstream",
}

// edgePhrases tell that Cloudflare in front of the API refused the address, not the API the account. It sends them as
// plain text to clients that do not ask for HTML.
var edgePhrases = []string{"error code: 1015", "error code: 1020", "error 1015", "error 1020"}
