package probe

import (
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/quota"
)

// judge says what an answer comes to, before anybody has looked at what it measures: Measured is an answer to read. plans
// as in row. wait is how long the provider asks to be left alone: 1 ns at least where it asks without saying how long.
func judge(r reply, plans bool) (o Outcome, reason string, wait time.Duration) {
	switch r.status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
		return NotExposed, "", 0
	}
	if r.status >= 300 && r.status < 400 {
		return Failed, "redirect", 0
	}
	reading := r.reading()
	switch {
	case r.status == http.StatusTooManyRequests, reading.Class == quota.RateLimited:
		return Failed, "throttled", max(reading.RetryAfter, 1)
	case reading.Class == quota.OK && !gjson.ValidBytes(r.body):
		return Failed, "broken_json", 0
	case reading.Class == quota.OK:
		return Measured, "", 0
	}
	return judgeRefusal(r.status, reading, plans), reading.Reason, reading.RetryAfter
}

// judgeRefusal says what a failure comes to. Of the 403s only one about a token that ran out is about the credential:
// Anthropic's is about what the token may ask, and the account serves calls all the same.
func judgeRefusal(status int, reading quota.Reading, plans bool) Outcome {
	refused := status == http.StatusForbidden || reading.Class == quota.Forbidden
	switch {
	case reading.Class == quota.AuthExpired, reading.Class == quota.AuthInvalid && status != http.StatusForbidden:
		return Auth
	case reading.Class == quota.Billing:
		return Entitlement
	case refused && plans && reading.Scope != quota.ScopeProvider:
		return Entitlement
	case refused:
		return Forbidden
	case status == http.StatusUnauthorized:
		return Auth
	}
	return Failed
}
