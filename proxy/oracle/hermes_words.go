package oracle

// The words that Hermes looks for, lower case, anywhere in the text of an error: the message, the code, the type, the names
// of the members. agent/error_classifier.py of both builds; what only the newer one knows is marked by the handlers.
var (
	contentBlockedWords = []string{
		"flagged for possible cybersecurity risk", "trusted access for cyber", "violates our usage policies",
		"violates openai's usage policies", "your request was flagged by", "prompt was flagged by our safety",
		"responses cannot be generated due to safety", "content_filter", "responsibleaipolicyviolation", "new_sensitive",
		"content exists risk",
	}
	accountBlockedWords = []string{"blocked for a previous policy violation"}
	thinkingWords       = []string{"signature", "cannot be modified", "must remain as they were"}

	billingWords = []string{
		"insufficient credits", "insufficient_quota", "insufficient balance", "credit balance", "credits exhausted",
		"credits have been exhausted", "requires available credits", "account balance is too low", "no usable credits",
		"top up your credits", "payment required", "billing hard limit", "hard billing limit", "exceeded your current quota",
		"account is deactivated", "plan does not include", "out of extra usage", "out of funds", "balance_depleted",
		"budget limit exceeded", "model_not_supported_on_free_tier", "not available on the free tier",
	}
	billingCodes = []string{
		"insufficient_quota", "billing_not_active", "payment_required", "insufficient_credits", "no_usable_credits",
		"balance_depleted", "model_not_supported_on_free_tier", "member_spend_cap_exceeded", "terminal_quota_exhausted",
		"credit_balance_exhausted", "organization_spend_limit_exceeded", "organization_usage_limit_exceeded",
		"project_spend_limit_exceeded", "insufficient_credits_for_paid_model",
	}
	rateLimitWords = []string{
		"rate limit", "rate_limit", "too many requests", "throttled", "throttling", "requests per minute", "tokens per minute",
		"requests per day", "try again in", "please retry after", "resource exhausted", "resource_exhausted",
		"resource-exhausted", "resourceexhausted", "rate increased too quickly", "too many concurrent requests",
		"servicequotaexceededexception",
	}
	overloadedWords = []string{
		"overloaded", "server overload", "server_overload", "at capacity", "over capacity",
		"upstream model provider is temporarily unavailable. please try again in a moment.",
	}
	usageLimitWords     = []string{"usage limit", "quota", "limit exceeded"}
	usageTransientWords = []string{
		"try again", "retry", "resets at", "reset in", "resets in", "reset after", "available in", "wait", "requests remaining",
		"periodic", "window", "per minute", "per second",
	}
	memoryWords = []string{
		"memory guard", "memory limit exceeded", "memory_guard_tier", "dynamic ceiling", "memory ceiling", "available memory",
		"out of memory", "insufficient memory", "prefill would require", "predicted peak would", "prefill safety cap", "metal_cap",
	}
	emptyAnswerWords = []string{
		"returned an empty response", "empty response despite retries", "model returning empty responses", "empty response stream",
	}
	overflowWords = []string{
		"context length", "context size", "maximum context", "token limit", "too many tokens", "reduce the length",
		"exceeds the limit", "context window", "prompt is too long", "prompt exceeds max length", "max_tokens",
		"maximum number of tokens", "max_model_len", "prompt length", "input is too long", "maximum model length",
		"truncating input", "slot context", "n_ctx_slot", "超过最大长度", "上下文长度",
		"tokens in request more than max tokens allowed", "max input token", "input token", "maximum allowed input length",
	}
	modelNotFoundWords = []string{
		"is not a valid model", "invalid model", "model not found", "model_not_found", "does not exist", "no such model",
		"unknown model", "unsupported model", "no endpoints found that support tool use",
	}
	policyBlockedWords = []string{
		"no endpoints available matching your guardrail", "no endpoints available matching your data policy",
		"no endpoints found matching your data policy",
	}
	toolContentWords = []string{
		"text is not set", "tool message content must be a string", "tool content must be a string",
		"tool message must be a string", "expected string, got list", "expected string, got array",
		"tool_call.content must be string", "tool.content.str", "input should be a valid string",
		"chatcompletionrequesttoolmessagecontent",
	}
	imageTooLargeWords = []string{
		"image exceeds", "image too large", "image_too_large", "image size exceeds", "image dimensions exceed",
		"dimensions exceed max allowed size", "max allowed size: 8000", "media exceeds", "media too large",
		"patches after processing", "make sure your payload is below", "streamreadconstraints.getmaxstringlength",
	}
	validationWords = []string{
		"unknown parameter", "unsupported parameter", "unrecognized request argument", "unknown_parameter", "unsupported_parameter",
	}
	invalidBodyWords = []string{
		"must have non-empty content", "messages must have non-empty", "invalid_request_body",
		"text content blocks must be non-empty", "content field is required", "messages: at least one message is required",
		"no user query found", "roles must alternate", "role must alternate", "must alternate between",
		"consecutive user messages", "invalid tool call arguments", "tool call arguments are invalid",
	}
	authWords = []string{
		"invalid api key", "invalid_api_key", "gateway_auth_failed", "authentication", "unauthorized", "forbidden",
		"invalid token", "token expired", "token revoked", "access denied", "failed to extract accountid from token",
	}
	timeoutWords = []string{
		"timed out", "deadline exceeded", "connection refused", "econnrefused", "no route to host", "network is unreachable",
		"name or service not known", "temporary failure in name resolution", "getaddrinfo failed", "fetch failed",
		"upstream connect error",
	}
	payloadWords    = []string{"request entity too large", "payload too large", "error code: 413", "request_too_large", "request exceeds the maximum size"}
	disconnectWords = []string{
		"server disconnected", "peer closed connection", "connection reset by peer", "connection was closed",
		"network connection lost", "unexpected eof", "incomplete chunked read",
	}
	blockedPageWords = []string{
		"your request was blocked", "request blocked", "sorry, you have been blocked", "enable javascript and cookies to continue",
		"cdn-cgi/challenge-platform", "cf-browser-verification", "challenge-error-text", "__cf_chl", "cf-error-details",
		"attention required! | cloudflare",
	}
	// connectionWords make an error event of a stream a lost connection, after which the stream is asked for again
	// (agent/chat_completion_helpers.py).
	connectionWords = []string{
		"connection lost", "connection reset", "connection closed", "connection terminated", "network error",
		"network connection", "terminated", "peer closed", "broken pipe", "upstream connect error",
	}
)
