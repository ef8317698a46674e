package oracle

import (
	"regexp"
	"slices"
	"strings"
)

// byStatus judges an answer by its status, and by its words where the status leaves it open. It always decides.
func (f *fault) byStatus() Verdict {
	newest := f.session.Build == Newest
	switch f.status {
	case 400:
		return f.badRequest()
	case 401:
		return Verdict{Reason: Auth}
	case 402:
		return f.paymentRequired()
	case 403:
		return f.forbidden()
	case 404:
		return f.notFound()
	case 408:
		return Verdict{Reason: Timeout, Retryable: true}
	case 413:
		return Verdict{Reason: PayloadTooLarge, Retryable: true, Compress: true}
	case 422:
		if newest && f.has(toolContentWords) {
			return Verdict{Reason: ToolContent, Retryable: true}
		}
		return Verdict{Reason: FormatError}
	case 429:
		return f.tooMany()
	case 500, 502:
		if f.has(validationWords) || strings.Contains(f.text, "invalid_request_error") {
			return Verdict{Reason: FormatError}
		}
		return f.serverFault(ServerFault)
	case 503, 529:
		return f.serverFault(Overloaded)
	}
	if f.status < 500 {
		return Verdict{Reason: FormatError}
	}
	return Verdict{Reason: ServerFault, Retryable: true}
}

// serverFault is a 5xx, unless its words speak of something else.
func (f *fault) serverFault(usual Reason) Verdict {
	switch {
	case f.has(emptyAnswerWords):
		return Verdict{Reason: ServerFault, Retryable: true}
	case f.has(memoryWords) && f.session.Build == Newest:
		return Verdict{Reason: Overloaded, Retryable: true}
	case f.has(overflowWords):
		return overflow()
	}
	return Verdict{Reason: usual, Retryable: true}
}

func overflow() Verdict { return Verdict{Reason: ContextOverflow, Retryable: true, Compress: true} }

// tooMany tells a wall (no money, a quota without an end) from a limit that passes, and both from a busy server. The
// released build takes every 429 that does not say "overloaded" for a limit that passes.
func (f *fault) tooMany() Verdict {
	newest := f.session.Build == Newest
	if newest && slices.Contains(billingCodes, f.code) {
		return Verdict{Reason: Billing}
	}
	if f.has(overloadedWords) {
		return Verdict{Reason: Overloaded, Retryable: true}
	}
	wall := strings.Contains(f.text, "usage_limit_reached") || f.has(usageLimitWords) || f.has(billingWords)
	if newest && wall && !f.has(rateLimitWords) && !f.saysWhen() {
		return Verdict{Reason: Billing}
	}
	return Verdict{Reason: RateLimit, Retryable: true}
}

func (f *fault) paymentRequired() Verdict {
	if f.has(usageLimitWords) && f.has(usageTransientWords) {
		return Verdict{Reason: RateLimit, Retryable: true}
	}
	return Verdict{Reason: Billing}
}

func (f *fault) forbidden() Verdict {
	newest := f.session.Build == Newest
	switch {
	case newest && f.code == "upstream_unavailable":
		return Verdict{Reason: Overloaded, Retryable: true}
	case f.has([]string{"key limit exceeded", "spending limit"}), f.has(billingWords):
		return Verdict{Reason: Billing}
	case newest && f.has(blockedPageWords):
		return Verdict{Reason: UpstreamBlocked}
	}
	return Verdict{Reason: Auth}
}

func (f *fault) notFound() Verdict {
	switch {
	case f.session.Build == Newest && slices.Contains(billingCodes, f.code), f.has(billingWords):
		return Verdict{Reason: Billing}
	case f.has(policyBlockedWords):
		return Verdict{Reason: PolicyBlocked}
	case f.has(modelNotFoundWords):
		return Verdict{Reason: ModelNotFound}
	}
	return Verdict{Reason: Unknown, Retryable: true}
}

// reasoningRefused matches a refusal of a reasoning member of the request: by name beside a word of refusal, or by param.
var reasoningRefused = regexp.MustCompile(`"param"\s*:\s*"(reasoning([._]effort)?|thinking(_config|_budget)?|enable_thinking)"|invalid_reasoning_effort|reasoning is mandatory|` +
	`(unsupported|not supported|does not support|unknown parameter|unrecognized)[^{}]{0,40}\b(reasoning_effort|enable_thinking|thinking_budget)\b|` +
	`\b(reasoning_effort|enable_thinking|thinking_budget)\b[^{}]{0,40}(unsupported|not supported)`)

// badRequest judges a 400, which is judged by its words alone. A few words on a long conversation are taken for an
// overflow: a provider was seen to answer one with a bare "Error".
func (f *fault) badRequest() Verdict {
	newest := f.session.Build == Newest
	switch {
	case f.has(toolContentWords):
		return Verdict{Reason: ToolContent, Retryable: true}
	case f.has(imageTooLargeWords):
		return Verdict{Reason: ImageTooLarge, Retryable: true}
	case strings.Contains(f.text, "invalid_encrypted_content"), strings.Contains(f.text, "encrypted content for item") && strings.Contains(f.text, "could not be verified"):
		return Verdict{Reason: InvalidEncrypted, Retryable: true}
	case newest && reasoningRefused.MatchString(f.text):
		return Verdict{Reason: ReasoningMandatory, Retryable: true}
	case f.has(validationWords), newest && f.has(invalidBodyWords):
		return Verdict{Reason: FormatError}
	case f.has(emptyAnswerWords):
		return Verdict{Reason: ServerFault, Retryable: true}
	case newest && f.has(memoryWords):
		return Verdict{Reason: Overloaded, Retryable: true}
	case f.has(overflowWords):
		return overflow()
	case f.has(policyBlockedWords):
		return Verdict{Reason: PolicyBlocked}
	case f.has(modelNotFoundWords):
		return Verdict{Reason: ModelNotFound}
	case f.has(rateLimitWords):
		return Verdict{Reason: RateLimit, Retryable: true}
	case f.has(billingWords):
		return Verdict{Reason: Billing}
	case len([]rune(strings.TrimSpace(f.message))) < 30 && f.session.large(0.4, 80_000, 80):
		return overflow()
	}
	return Verdict{Reason: FormatError}
}

// byCode judges an error without a status by its code.
func (f *fault) byCode() (Verdict, bool) {
	switch {
	case slices.Contains([]string{"resource_exhausted", "throttled", "rate_limit_exceeded"}, f.code):
		return Verdict{Reason: RateLimit, Retryable: true}, true
	case slices.Contains(billingCodes, f.code):
		return Verdict{Reason: Billing}, true
	case slices.Contains([]string{"model_not_found", "model_not_available", "invalid_model"}, f.code):
		return Verdict{Reason: ModelNotFound}, true
	case slices.Contains([]string{"context_length_exceeded", "max_tokens_exceeded"}, f.code):
		return overflow(), true
	case f.code == "invalid_encrypted_content":
		return Verdict{Reason: InvalidEncrypted, Retryable: true}, true
	}
	return Verdict{}, false
}

// byWords judges an error that has neither a status nor a code that says anything.
func (f *fault) byWords() Verdict {
	for _, rule := range []struct {
		words []string
		v     Verdict
	}{
		{payloadWords, Verdict{Reason: PayloadTooLarge, Retryable: true, Compress: true}},
		{toolContentWords, Verdict{Reason: ToolContent, Retryable: true}},
		{imageTooLargeWords, Verdict{Reason: ImageTooLarge, Retryable: true}},
		{usageLimitWords, f.paymentRequired()},
		{overloadedWords, Verdict{Reason: Overloaded, Retryable: true}},
		{billingWords, Verdict{Reason: Billing}},
		{rateLimitWords, Verdict{Reason: RateLimit, Retryable: true}},
		{emptyAnswerWords, Verdict{Reason: ServerFault, Retryable: true}},
		{overflowWords, overflow()},
		{authWords, Verdict{Reason: Auth}},
		{policyBlockedWords, Verdict{Reason: PolicyBlocked}},
		{modelNotFoundWords, Verdict{Reason: ModelNotFound}},
		{timeoutWords, Verdict{Reason: Timeout, Retryable: true}},
		{disconnectWords, ClassifyHermesCut(f.session)},
	} {
		if f.has(rule.words) {
			return rule.v
		}
	}
	return Verdict{Reason: Unknown, Retryable: true}
}
