package quota

// sign is what a phrase is evidence of besides, or instead of, a class.
type sign uint8

const (
	signClass    sign = iota // only the class
	signCapacity             // the provider is short of capacity, whatever code stands beside it
	signLong                 // a window of an hour or more
	signShort                // a window that a minute or so cures
	signModel                // the limit is one model's own
	signOversize             // the one request is above the rate
	signEdge                 // something in front of the API answered in its place
	signLead                 // a time may follow
	signs                    // how many there are
)

// phraseGroup is what any of some phrases stands for. Phrases are in folded form: lower case, '-' and '_' as spaces.
type phraseGroup struct {
	class   Class // "" = the group is only a sign
	scope   Scope // "" = that of the class
	sign    sign
	window  string // of signLong: which one
	phrases []string
}

// commonBook holds commonPhrases and signPhrases.
var commonBook = newBook(append(append([]phraseGroup{}, commonPhrases...), signPhrases...))

// commonPhrases is what providers say in words, in the order in which it is believed: whole phrases on purpose, for "rate",
// "token" or "quota" alone are in too many innocent messages. Their sources are the recorded cases and the error references
// of the providers.
var commonPhrases = []phraseGroup{
	{class: ContextTooLong, phrases: []string{
		"maximum context length", "context length exceeded", "exceeds the context window", "exceeds the context length",
		"context window exceeded", "context window exceeds limit", "exceed context limit", "exceeds context limit", "exceeds the model's context",
		"exceeds the available context size", "prompt is too long", "exceed the context window", "exceeded the context window",
		"input token count * exceeds the maximum number of tokens", "longer than the model's context length",
		"maximum prompt length is", "exceeded model token limit", "prompt exceeds max length", "context size has been exceeded",
		"context length of only", "must be less than max seq len", "input is too long", "reduce the length of the messages",
		"exceeds the maximum context", "range of input length should be", "exceeds the model's maximum context",
		"input length * exceeds the maximum", "context window limit", "too large for model with * maximum context length",
		"reduce the length of the input", "longer than the maximum model length", "exceeds the maximum number of input tokens",
	}},
	{class: RequestTooLarge, phrases: []string{
		"request too large", "request entity too large", "request body too large", "payload too large", "content too large",
		"request exceeds the maximum size", "request payload size exceeds the limit",
	}},
	{class: ContentPolicy, phrases: []string{
		"flagged by our safety system", "flagged by our content", "input was flagged", "violating our usage policy",
		"violates our usage policy", "violates our usage policies", "violates our content policy", "content management policy",
		"content policy violation", "blocked by content filter", "blocked by content filtering policy", "blocked by our content filter", "data inspection failed",
		"considered high risk", "contains sensitive content", "may contain inappropriate content", "flagged as potentially",
		"不安全或敏感内容",
	}},
	{class: Billing, phrases: []string{
		"insufficient balance", "insufficient credit", "insufficient credits", "insufficient funds", "insufficient account funds",
		"insufficient account balance", "balance is insufficient", "overdue balance", "payment is past due",
		"credit balance is too low", "out of credits", "out of credit", "doesn't have any credits", "does not have any credits",
		"used all available credits", "add credits to continue", "purchase more credits", "requires more credits",
		"can only afford", "billing hard limit", "check your plan and billing details", "spending limit", "spend limit",
		"spend cap", "key limit exceeded", "balance exhausted", "payment required", "account is in arrears", "overdue payment",
		"active grok subscription", "not enough credits", "no credits remaining", "credits exhausted", "credit limit exceeded",
		"billing not active", "billing is not enabled", "requires billing to be enabled", "budget has been exceeded",
		"exceeded budget", "prompt tokens limit exceeded", "monthly included credits", "balance is not enough", "balance not enough",
		"unpaid invoice", "outstanding balance", "account has been suspended due to * balance", "recharge your account",
		"余额不足", "欠费", "请充值",
	}},
	{class: AuthExpired, phrases: []string{
		"token has expired", "token expired", "token is expired", "expired token", "token was expired", "token * is expired", "key has expired",
		"api key expired", "session has expired", "session expired", "credentials have expired", "credential has expired",
		"access token could not be validated", "令牌已过期",
	}},
	{class: AuthInvalid, phrases: []string{
		"invalid api key", "incorrect api key", "api key not valid", "api key is invalid", "invalid x api key", "api key not found",
		"invalid authentication credentials", "invalid authentication", "authentication fails", "authentication failed",
		"no api key provided", "invalid bearer token", "invalid token", "token has been revoked", "key has been revoked",
		"invalid api token", "no auth credentials found", "reported as leaked", "key is disabled", "无效的令牌", "令牌无效",
	}},
	{class: Forbidden, scope: ScopeModel, phrases: []string{
		"not have access to the model", "not have access to this model", "not have access to model", "not allowed to use this model",
		"not allowed to use the model", "model is not available in your region", "model is not available in your country",
		"matching your guardrail restrictions", "matching your data policy", "not allowed to access model", "access to model denied",
		"no permission to access model", "not include access to this model", "not allowed to use publisher model", "无权访问模型",
	}},
	{class: Forbidden, scope: ScopeProvider, phrases: []string{
		"not supported in your country", "country, region, or territory not supported", "location is not supported",
		"not available in your region", "not available in your country", "unsupported country",
	}},
	{class: ModelNotFound, phrases: []string{
		"model not found", "model * not found", "model does not exist", "model * does not exist", "no such model", "unknown model",
		"is not a valid model", "invalid model name", "no endpoints found", "model * is not supported", "model not supported",
		"is not found for api version", "does not serve model", "no available channel for model", "model not exist", "models not found",
		"model has been decommissioned", "model * has been decommissioned", "model * is deprecated", "not found the model", "无可用渠道", "模型不存在",
	}},
	{class: Overloaded, scope: ScopeModel, phrases: []string{
		"model is overloaded", "model is currently overloaded", "model is at capacity", "model is currently at capacity",
		"model is currently experiencing high demand", "model busy", "model is busy", "loading model", "model is loading",
		"model * is currently loading", "model too busy", "model service overloaded", "worker local total request limit reached",
	}},
	{class: Overloaded, sign: signCapacity, phrases: []string{
		"overloaded", "at capacity", "high traffic", "experiencing high demand", "currently experiencing high load", "peak load",
		"no capacity available", "capacity exceeded", "out of capacity", "service is too busy", "server is busy", "servers are busy",
		"server busy", "system is too busy", "maximum pending requests exceeded", "high demand", "heavy load", "at full capacity",
		"currently overloaded", "insufficient capacity", "not enough capacity", "访问量过大", "负载已饱和", "负载过高", "系统繁忙",
	}},
	{class: ServerError, phrases: []string{
		"upstream connect error", "no healthy upstream", "upstream request failed", "provider disconnected unexpectedly",
	}},
	{class: QuotaExhausted, phrases: []string{
		"usage limit reached", "usage limit exceeded", "usage limit has been reached", "hit your usage limit",
		"reached your usage limit", "reached your specified api usage limits", "exceeded your usage limit", "quota used up",
		"quota has been used up", "quota exhausted", "exhausted your quota", "exceeded your monthly", "out of quota",
		"used all the included free usage", "daily limit", "weekly limit", "monthly limit", "free models per day", "hit your limit",
		"weekly usage limit", "monthly usage limit", "daily usage limit", "hourly usage limit", "session usage limit", "5 hour limit",
		"exhausted your capacity", "free quota has been exhausted", "individual quota reached", "usage quota", "free allocation",
		"free quota used", "session limit reached", "limit exhausted",
		"额度已用完", "额度已用尽", "使用上限", "限额",
	}},
	{class: RateLimited, phrases: []string{
		"rate limit", "rate limits", "rate limited", "rate limiting", "ratelimit", "too many requests", "too many concurrent requests",
		"concurrency limit", "request was throttled", "requests per minute", "tokens per minute", "tokens per min", "requests per min",
		"request limit reached", "slow down", "tpm limit", "rpm limit", "concurrent requests", "being throttled",
		"请求过于频繁", "速率限制", "过于频繁", "频率限制", "并发",
	}},
	{class: QuotaExhausted, phrases: []string{
		"quota exceeded", "exceeded your current quota", "exceeded your quota", "quota has been exceeded", "quota limit reached",
		"exceeded your usage limits", "limit exceeded for today",
	}},
	{class: InvalidRequest, phrases: []string{
		"validation error for", "unsupported parameter", "unknown parameter", "unrecognized request argument", "field required",
		"missing required parameter", "invalid value for", "invalid type for",
	}},
}

// signPhrases say nothing of the class.
var signPhrases = []phraseGroup{
	{sign: signLong, window: "hourly", phrases: []string{"per hour", "hourly"}},
	{sign: signLong, window: "5h", phrases: []string{"5 hour", "5h", "five hour", "5 小时"}},
	{sign: signLong, window: "daily", phrases: []string{"per day", "daily", "rpd", "tpd", "for today", "today's", "today", "24 hour", "每日", "今日"}},
	{sign: signLong, window: "weekly", phrases: []string{"per week", "weekly", "week allocated", "每周"}},
	{sign: signLong, window: "monthly", phrases: []string{"per month", "monthly", "month allocated", "每月"}},
	{sign: signShort, phrases: []string{
		"per second", "per minute", "per min", "rpm", "tpm", "rps", "concurrent", "concurrency",
	}},
	{sign: signModel, phrases: []string{
		"rate limit reached for * in organization", "for model", "and model", "for this model", "model is temporarily rate limited",
		"is temporarily rate limited upstream", "specific to this model", "on model",
	}},
	{sign: signLead, phrases: durationLeads},
	{sign: signLead, phrases: instantLeads},
	{sign: signOversize, phrases: []string{"request too large"}},
	// Cloudflare refuses an address in plain text where the client does not ask for HTML.
	{sign: signEdge, phrases: []string{"error code: 1015", "error code: 1020", "error 1015", "error 1020"}},
}
