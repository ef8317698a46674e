package runtime

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// hermesUnreachable is a call that got no answer. Why it got none may name hosts, and is for the log alone.
func hermesUnreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	message := "The runtime cannot be reached."
	if errors.Is(err, context.DeadlineExceeded) {
		message = "The runtime did not answer in time."
	}
	return errors.Join(&Refused{Status: http.StatusServiceUnavailable, Code: "runtime_unavailable", Message: message, RetryAfter: time.Second}, err)
}

// hermesRefusal is an answer that is none, as a client is told it. What the server says of the request is passed on; what
// it says of itself is not, and that it refuses the hub's key is the hub's fault and no client's.
func hermesRefusal(a hermesAnswer, now time.Time) *Refused {
	code, said := errorSaid(a.body)
	r := &Refused{Code: code, Message: said, RetryAfter: hermesRetryAfter(a.header.Get("Retry-After"), now)}
	own := func(status int, code, message string) { r.Status, r.Code, r.Message = status, code, message }
	switch s := a.status; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		own(http.StatusBadGateway, "runtime_auth_failed", "The runtime did not accept the hub's key.")
	case s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusNotImplemented:
		own(http.StatusBadGateway, "runtime_unsupported", "The runtime has no such call.")
	case s == http.StatusConflict:
		r.Status, r.Code, r.Message = s, cmp.Or(code, "runtime_conflict"), cmp.Or(said, "The runtime refused: it is not the time for that.")
	case s == http.StatusTooManyRequests:
		r.Status, r.Code, r.Message = s, cmp.Or(code, "runtime_busy"), cmp.Or(said, "The runtime executes as many runs as it may.")
	case s == http.StatusServiceUnavailable:
		own(s, cmp.Or(code, "runtime_unavailable"), "The runtime takes no runs now.")
	case s >= 400 && s < 500:
		r.Status, r.Code, r.Message = http.StatusBadRequest, cmp.Or(code, "invalid_request"), cmp.Or(said, "The runtime did not understand the request.")
	case s >= 500:
		own(http.StatusBadGateway, "runtime_failed", "The runtime failed.")
	default:
		own(http.StatusBadGateway, "runtime_bad_answer", "The runtime answered with something else than it should.")
	}
	return r
}

// hermesRetryAfter reads a Retry-After header, 0 when there is none that can be true.
func hermesRetryAfter(value string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e6 {
		wait = time.Duration(seconds * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), time.Hour)
}
