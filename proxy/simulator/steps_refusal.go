package simulator

import (
	"net/http"
	"strconv"
	"time"
)

// recorded are refusals as OpenAI and those who speak its protocol were recorded to send them; {model} stands for the model
// that was asked for. What comes from in front of a provider, the other dialects have from here.
var recorded = map[StepName]problem{
	BadRequest:            {status: 400, kind: "invalid_request_error", param: "max_tokens", code: "unsupported_parameter", message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
	ContextTooLong:        {status: 400, kind: "invalid_request_error", param: "messages", code: "context_length_exceeded", message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages."},
	ContentPolicy:         {status: 400, kind: "invalid_request_error", code: "content_policy_violation", message: "Your request was flagged by our safety system as potentially violating our usage policy."},
	Unauthorized:          *badKey("any"),
	PaymentRequired:       {status: 402, kind: "unknown_error", code: "invalid_request_error", message: "Insufficient Balance"},
	Forbidden:             {status: 403, kind: "request_forbidden", code: "unsupported_country_region_territory", message: "Country, region, or territory not supported"},
	ForbiddenPage:         {status: 403, body: []byte(`<html><head><title>Just a moment...</title></head><body><noscript><span id="challenge-error-text">Enable JavaScript and cookies to continue</span></noscript></body></html>`), header: http.Header{"Server": {"cloudflare"}, "Cf-Mitigated": {"challenge"}}},
	NotFound:              {status: 404, kind: "invalid_request_error", code: codeNoModel, message: "The model `{model}` does not exist or you do not have access to it."},
	RequestTimeout:        {status: 408, body: []byte{}},
	Conflict:              {status: 409, kind: "invalid_request_error", message: "The resource is being modified by another request. Please try again."},
	TooLarge:              {status: 413, kind: "invalid_request_error", code: "request_too_large", message: "Request exceeds the maximum size"},
	RequestOverTokenLimit: {status: 429, kind: "tokens", code: "rate_limit_exceeded", message: "Request too large for {model} in organization org-simulated on tokens per min (TPM): Limit 30000, Requested 36278. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more."},
	InsufficientQuota:     *insufficientQuota(),
	ServerErrorAs429:      {status: 429, kind: "server_error", message: "The server had an error while processing your request. Sorry about that!"},
	TooManyPage:           {status: 429, body: []byte(`<!DOCTYPE html><html><head><title>Access denied | api.example.com used Cloudflare to restrict access</title></head><body><h1>Error 1015</h1><h2>You are being rate limited</h2></body></html>`), header: http.Header{"Server": {"cloudflare"}, "Retry-After": {"30"}}},
	ServerError:           {status: 500, kind: "server_error", message: "The server had an error while processing your request. Sorry about that!"},
	BadGatewayPage:        {status: 502, body: []byte("<html>\n<head><title>502 Bad Gateway</title></head>\n<body>\n<center><h1>502 Bad Gateway</h1></center>\n<hr><center>cloudflare</center>\n</body>\n</html>\n"), header: http.Header{"Server": {"cloudflare"}}},
	Overloaded:            {status: 503, kind: "server_error", code: "server_is_overloaded", message: "Our servers are currently overloaded. Please try again later."},
	SlowDown:              {status: 503, kind: "service_unavailable_error", code: "slow_down", message: "Slow down"},
	GatewayTimeout:        {status: 504, body: []byte("<html>\n<head><title>504 Gateway Time-out</title></head>\n<body>\n<center><h1>504 Gateway Time-out</h1></center>\n<hr><center>nginx</center>\n</body>\n</html>\n")},
	Overloaded529:         {status: 529, kind: "overloaded_error", message: "Overloaded", header: http.Header{"X-Should-Retry": {"true"}}},
}

// refuse plays the recorded refusal.
func refuse(name StepName) func(*exchange, argument) error {
	return plain(func(x *exchange) error { return refusing(x.recorded(name))(x) })
}

// recorded is the refusal as the dialect's provider was recorded to send it.
func (x *exchange) recorded(name StepName) *problem {
	p, ok := x.dialect.recorded[name]
	if !ok {
		p = recorded[name]
	}
	p = p.forModel(x.req.Model)
	return &p
}

// refuseFor refuses with a wait, told in the style: the argument, or what providers were seen to say.
func refuseFor(style QuotaStyle, usual time.Duration) func(*exchange, argument) error {
	return func(x *exchange, a argument) error {
		return refusing(spentFor(x, style, wait(a, usual)))(x)
	}
}

// refuseUntil refuses with the wait as a date in Retry-After.
func refuseUntil(usual time.Duration) func(*exchange, argument) error {
	return func(x *exchange, a argument) error {
		p := x.dialect.rateLimited("Rate limit exceeded")
		p.header = http.Header{"Retry-After": {x.stamp.created.Add(wait(a, usual)).UTC().Format(http.TimeFormat)}}
		return refusing(p)(x)
	}
}

// spentFor is the refusal of a quota that is full again after the wait.
func spentFor(x *exchange, style QuotaStyle, wait time.Duration) *problem {
	now := x.stamp.created
	q := Quota{Calls: 3, Window: wait, Style: style}
	return x.dialect.spent(q, window{used: 3, begun: true, end: now.Add(wait)}, told{model: x.req.Model, now: now})
}

func wait(a argument, usual time.Duration) time.Duration {
	if a.given {
		return a.duration
	}
	return usual
}

// playStatus refuses with the status of the argument, 500 without.
func playStatus(x *exchange, a argument) error {
	status := http.StatusInternalServerError
	if a.given {
		status = a.number
	}
	return refusing(&problem{status: status, kind: "simulated_error", message: "Simulated status " + strconv.Itoa(status)})(x)
}
