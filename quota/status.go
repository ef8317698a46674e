package quota

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// statusClass is what an HTTP status means where nothing else says more. 529 is Anthropic's, 520 to 526 are Cloudflare's.
func statusClass(status int) Class {
	switch status {
	case http.StatusUnauthorized:
		return AuthInvalid
	case http.StatusPaymentRequired:
		return Billing
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return Forbidden
	case http.StatusGone:
		return ModelNotFound
	case http.StatusRequestTimeout, http.StatusGatewayTimeout, 522, 524:
		return Timeout
	case http.StatusRequestEntityTooLarge:
		return RequestTooLarge
	case http.StatusTooManyRequests:
		return RateLimited
	case http.StatusServiceUnavailable, 529:
		return Overloaded
	case http.StatusTooEarly, http.StatusMisdirectedRequest:
		return ServerError
	}
	if status >= 400 && status < 500 {
		return InvalidRequest
	}
	return ServerError
}

// effectiveStatus is the HTTP status or, of an error inside a success, the status that it names; 500 where it names none.
func (a *answer) effectiveStatus() int {
	if !a.delivered() {
		return a.Status
	}
	for _, f := range a.faults {
		for _, code := range f.codes {
			if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
				return n
			}
		}
	}
	return http.StatusInternalServerError
}

// bodyTrouble says why a body is no evidence.
func (a *answer) bodyTrouble() string {
	if a.unread == "" && a.kind == bodyJSON && !gjson.ValidBytes(a.Body) {
		return "broken_json"
	}
	return a.unread
}

// statusVerdict judges by the status alone; the reason says so, and what is the matter with the body.
func (a *answer) statusVerdict() verdict {
	status := a.effectiveStatus()
	class, special := a.dialect.rules.statuses[status]
	if !special || a.kind == bodyHTML {
		class = statusClass(status)
	}
	v := verdict{class: class, reason: "status:" + strconv.Itoa(status)}
	switch {
	case status == http.StatusNotFound && len(a.faults) == 0:
		// Not an answer of the API at all: the account's address has no such route.
		v.class, v.scope = ModelNotFound, ScopeProvider
	case status == http.StatusMethodNotAllowed, status == http.StatusNotFound && a.saysNoRoute():
		// The API has no such route here, another account's may have it. It may have others: nothing stands against it.
		v.class, v.scope = ModelNotFound, ScopeRequest
	case a.fromEdge() && v.class != AuthInvalid && usualScopes[v.class] != ScopeRequest:
		// It knows nothing of accounts, and its 503 is a broken upstream, not a full one.
		v.scope = ScopeProvider
		if status == http.StatusServiceUnavailable {
			v.class = ServerError
		}
	case status == http.StatusConflict:
		// OpenAI's libraries retry it as a lock that was not free in time. It is over with this request.
		v.class, v.scope = ServerError, ScopeRequest
	case v.class == InvalidRequest && a.Header.Get("X-Should-Retry") == "true":
		v.class = ServerError // OpenAI and Anthropic mark conflicts that heal: the SDKs retry on it
	}
	if trouble := a.bodyTrouble(); trouble != "" {
		v.reason += " body:" + trouble
	}
	return v
}

// noRoutes are what servers say of a path they do not have, as opposed to a thing that the request names: FastAPI and
// Starlette, Go's net/http, OpenAI, Express, Anthropic's shape.
var noRoutes = []string{"not found", "404 page not found", "invalid url", "unknown request url", "cannot post", "not_found_error: not found", "no route matched", "route not found"}

// saysNoRoute reports whether the error is about the path: a message that is one of these, or begins so.
func (a *answer) saysNoRoute() bool {
	for _, f := range a.faults {
		for _, m := range f.messages {
			m = strings.ToLower(strings.Trim(m, " .!"))
			for _, phrase := range noRoutes {
				if m == phrase || phrase != "not found" && strings.HasPrefix(m, phrase) {
					return true
				}
			}
		}
	}
	return false
}
