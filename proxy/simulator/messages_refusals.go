package simulator

import (
	"fmt"
	"net/http"
)

// messagesWording is how Anthropic refuses.
var messagesWording = wording{
	badKey: func(key string) *problem {
		p := &problem{excused: true, status: http.StatusUnauthorized, kind: "authentication_error", message: "invalid x-api-key"}
		if key == "" {
			p.message = "x-api-key header is required"
		}
		return p
	},
	expired: func() *problem {
		return &problem{excused: true, status: http.StatusUnauthorized, kind: "authentication_error", message: "OAuth token has expired. Please obtain a new token or refresh your existing token."}
	},
	noPath: func(string, string) *problem {
		return &problem{status: http.StatusNotFound, kind: "not_found_error", message: "Not Found"}
	},
	noMethod: func(_, _, allowed string) *problem {
		return &problem{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", message: "Method Not Allowed", header: http.Header{"Allow": {allowed}}}
	},
	noModel: func(model string) *problem {
		return &problem{excused: true, status: http.StatusNotFound, kind: "not_found_error", message: "model: " + model}
	},
	tooConcurrent: func(_ string, limit int) *problem {
		return messagesLimited(fmt.Sprintf("Number of concurrent connections has exceeded your rate limit (%d). Please try again later or contact sales at https://claude.com/contact-sales to discuss your options for a rate limit increase.", limit))
	},
	rateLimited: messagesLimited,
}

func messagesLimited(message string) *problem {
	return &problem{status: http.StatusTooManyRequests, kind: "rate_limit_error", message: message}
}

const exceedsAccount = "This request would exceed your account's rate limit. Please try again later."

// messagesRecorded are refusals as Anthropic was recorded to send them (anthropics/claude-code 66314, 46829, 31668;
// anthropics/anthropic-sdk-typescript 346, 616; Anthropic's page of errors).
var messagesRecorded = map[StepName]problem{
	BadRequest:            {status: 400, kind: "invalid_request_error", message: "foo: Extra inputs are not permitted"},
	ContextTooLong:        {status: 400, kind: "invalid_request_error", message: "prompt is too long: 208423 tokens > 200000 maximum"},
	ContentPolicy:         {status: 400, kind: "invalid_request_error", message: "Output blocked by content filtering policy"},
	Unauthorized:          {status: 401, kind: "authentication_error", message: "invalid x-api-key"},
	PaymentRequired:       {status: 402, kind: "billing_error", message: "There is an issue with your billing or payment information. Please check your payment details."},
	Forbidden:             {status: 403, kind: "permission_error", message: "Your API key does not have permission to use the specified resource"},
	NotFound:              {status: 404, kind: "not_found_error", message: "model: {model}"},
	Conflict:              {status: 409, kind: "invalid_request_error", message: "The resource is being modified by another request. Please try again."},
	TooLarge:              {status: 413, kind: "request_too_large", message: "Request exceeds the maximum size"},
	RequestOverTokenLimit: {status: 429, kind: "rate_limit_error", message: "Extra usage is required for long context requests."},
	InsufficientQuota:     {status: 400, kind: "invalid_request_error", message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
	ServerErrorAs429:      {status: 429, kind: "api_error", message: "Internal server error"},
	ServerError:           {status: 500, kind: "api_error", message: "Internal server error"},
	Overloaded:            {status: 529, kind: "overloaded_error", message: "Overloaded", header: http.Header{"X-Should-Retry": {"true"}}},
	SlowDown:              {status: 503, kind: "api_error", message: "Service unavailable. Please slow down."},
	Overloaded529:         {status: 529, kind: "overloaded_error", message: "Overloaded", header: http.Header{"X-Should-Retry": {"true"}}},
}
