package proxy

import (
	"net/http"
	"strconv"
)

// code is what the hub itself answers when it does not relay an upstream's answer. Closed.
type code string

// The codes of the contract's error table.
const (
	codeInvalidRequest      code = "invalid_request_error"
	codeInvalidKey          code = "invalid_api_key"
	codeRoleForbidden       code = "role_forbidden"
	codeForeignHost         code = "foreign_host"
	codeCrossOrigin         code = "cross_origin"
	codeUpgradeRequired     code = "upgrade_required"
	codeModelNotFound       code = "model_not_found"
	codeNotFound            code = "not_found"
	codeMethodNotAllowed    code = "method_not_allowed"
	codeBodyTooLarge        code = "request_too_large"
	codeEncoding            code = "unsupported_encoding"
	codeBodyStalled         code = "request_timeout"
	codeContextTooLong      code = "context_length_exceeded"
	codeUpstreamUnavailable code = "upstream_unavailable"
	codeUsageLimit          code = "usage_limit_reached"
	codePayment             code = "payment_required"
	codeInterrupted         code = "upstream_interrupted"
	codeHubUnavailable      code = "hub_unavailable"
	codeInternal            code = "internal_error"
)

// meaning is the row of the error table that a code stands for.
type meaning struct {
	status int
	kind   string // the type of OpenAI's envelope
}

// meanings has a row for every code; a test holds it against the list above.
var meanings = map[code]meaning{
	codeInvalidRequest:      {http.StatusBadRequest, "invalid_request_error"},
	codeInvalidKey:          {http.StatusUnauthorized, "invalid_request_error"},
	codeRoleForbidden:       {http.StatusForbidden, "invalid_request_error"},
	codeForeignHost:         {http.StatusMisdirectedRequest, "invalid_request_error"},
	codeCrossOrigin:         {http.StatusForbidden, "invalid_request_error"},
	codeUpgradeRequired:     {http.StatusUpgradeRequired, "invalid_request_error"},
	codeModelNotFound:       {http.StatusNotFound, "invalid_request_error"},
	codeNotFound:            {http.StatusNotFound, "invalid_request_error"},
	codeMethodNotAllowed:    {http.StatusMethodNotAllowed, "invalid_request_error"},
	codeBodyTooLarge:        {http.StatusRequestEntityTooLarge, "invalid_request_error"},
	codeEncoding:            {http.StatusUnsupportedMediaType, "invalid_request_error"},
	codeBodyStalled:         {http.StatusRequestTimeout, "invalid_request_error"},
	codeContextTooLong:      {http.StatusBadRequest, "invalid_request_error"},
	codeUpstreamUnavailable: {http.StatusServiceUnavailable, "server_error"},
	codeUsageLimit:          {http.StatusTooManyRequests, "usage_limit_reached"},
	codePayment:             {http.StatusPaymentRequired, "billing_error"},
	codeInterrupted:         {http.StatusBadGateway, "server_error"},
	codeHubUnavailable:      {http.StatusServiceUnavailable, "server_error"},
	codeInternal:            {http.StatusInternalServerError, "server_error"},
}

// refusal is an answer that the hub makes itself: one row of the error table with its words. It holds nothing that a
// client may not see: no secret, no host, no account.
type refusal struct {
	code       code
	message    string
	param      string // the member at fault, "" = none
	retryAfter int    // seconds; 0 = not known, and then not said
	resetsAt   int64  // epoch seconds; 0 = not known
	resetsIn   int64  // seconds, where resetsAt is known
	noRetry    bool   // x-should-retry: false
	allow      string // Allow, of a 405
	close      bool   // the connection cannot be used again
}

// Error prints the code and the message.
func (e *refusal) Error() string { return string(e.code) + ": " + e.message }

func (e *refusal) status() int { return meanings[e.code].status }

// internalError is what a client reads of a bug.
func internalError() *refusal {
	return &refusal{code: codeInternal, message: "internal error of the hub; its log has the details", close: true}
}

// write sends the refusal as the whole answer, in the words of d.
func (e *refusal) write(w http.ResponseWriter, d *dialect) {
	h := w.Header()
	body := d.body(e, h.Get(headerRequestID))
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	if e.noRetry {
		h.Set("X-Should-Retry", "false")
	}
	if e.allow != "" {
		h.Set("Allow", e.allow)
	}
	if e.close {
		h.Set("Connection", "close")
	}
	w.WriteHeader(e.status())
	_ = writeOut(w, http.NewResponseController(w), body) // the client is gone or it is not: nothing is left to be done
}
