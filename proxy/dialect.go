package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// dialect is how the clients of an API are told what the hub itself has to say.
type dialect struct {
	body      func(e *refusal, request string) []byte // an error as a whole answer; request is the request's id
	heartbeat []byte                                  // what a stream's silence is filled with
	legible   func(body []byte) bool                  // whether every client can read an upstream's error as it is
}

var (
	openAI    = dialect{body: openAIError, heartbeat: comment, legible: legibleOpenAI}
	anthropic = dialect{body: anthropicError, heartbeat: ping, legible: legibleAnthropic}
)

// comment is one comment line with one newline: with two, a decoder that dispatches on blank lines stumbles (measured
// with openai-python). It joins the event that follows it.
var comment = []byte(": hub\n")

// ping is Anthropic's own heartbeat.
var ping = []byte("event: ping\ndata: {\"type\":\"ping\"}\n\n")

// dialectAt is the dialect of whoever calls a path that no surface serves, or not yet.
func dialectAt(path string) *dialect {
	if strings.Contains(path, "/anthropic/v1") || strings.Contains(path, "/v1/messages") {
		return &anthropic
	}
	return &openAI
}

// envelope is OpenAI's error body. Its code is always a string and its message never empty: clients read both.
type envelope struct {
	Error envelopeError `json:"error"`
}

type envelopeError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	faultDetail
}

// faultDetail is what the errors of all dialects tell besides.
type faultDetail struct {
	Code            code  `json:"code"`
	RetryAfter      int   `json:"retry_after,omitempty"`
	ResetsAt        int64 `json:"resets_at,omitempty"`
	ResetsInSeconds int64 `json:"resets_in_seconds,omitempty"`
}

func (e *refusal) detail() faultDetail {
	return faultDetail{Code: e.code, RetryAfter: e.retryAfter, ResetsAt: e.resetsAt, ResetsInSeconds: e.resetsIn}
}

func openAIError(e *refusal, _ string) []byte {
	out := envelopeError{Message: e.message, Type: meanings[e.code].kind, faultDetail: e.detail()}
	if e.param != "" {
		out.Param = &e.param
	}
	return encoded(envelope{out})
}

// anthropicEnvelope is Anthropic's error body: the type follows from the status. What else OpenAI's has stands there too:
// agents of this API read it where they know it.
type anthropicEnvelope struct {
	Type      string         `json:"type"`
	Error     anthropicFault `json:"error"`
	RequestID string         `json:"request_id,omitempty"`
}

type anthropicFault struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	faultDetail
}

func anthropicError(e *refusal, request string) []byte {
	return encoded(anthropicEnvelope{"error", anthropicFault{anthropicType(e.status()), e.message, e.detail()}, request})
}

// anthropicType is the error type that goes with a status (Anthropic's documented pairs).
func anthropicType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	if status >= http.StatusInternalServerError {
		return "api_error"
	}
	return "invalid_request_error"
}

func encoded(envelope any) []byte {
	b, err := json.Marshal(envelope)
	if err != nil { // strings and numbers marshal always
		panic(err)
	}
	return b
}

// legibleOpenAI: an object with words in it, whose code, where there is one, is a string. Some providers repeat the status
// there, as a number.
func legibleOpenAI(body []byte) bool {
	e := gjson.GetBytes(body, "error")
	message, code := e.Get("message"), e.Get("code")
	return gjson.ValidBytes(body) && utf8.Valid(body) && e.IsObject() &&
		message.Type == gjson.String && message.Str != "" && (code.Type == gjson.String || code.Type == gjson.Null)
}

// legibleAnthropic: what OpenAI's clients can read, with the two types that Anthropic's look at.
func legibleAnthropic(body []byte) bool {
	return legibleOpenAI(body) && gjson.GetBytes(body, "type").Str == "error" && gjson.GetBytes(body, "error.type").Str != ""
}
