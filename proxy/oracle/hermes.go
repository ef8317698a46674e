package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Reason is Hermes' own word for why a call failed (FailoverReason in agent/error_classifier.py).
type Reason string

// The reasons that an answer over HTTP can lead to.
const (
	Unknown            Reason = "unknown"
	Auth               Reason = "auth"
	Billing            Reason = "billing"
	RateLimit          Reason = "rate_limit"
	Overloaded         Reason = "overloaded"
	ServerFault        Reason = "server_error"
	Timeout            Reason = "timeout"
	ContextOverflow    Reason = "context_overflow"
	PayloadTooLarge    Reason = "payload_too_large"
	ModelNotFound      Reason = "model_not_found"
	FormatError        Reason = "format_error"
	ContentBlocked     Reason = "content_policy_blocked"
	PolicyBlocked      Reason = "provider_policy_blocked"
	UpstreamBlocked    Reason = "upstream_blocked"
	ReasoningMandatory Reason = "reasoning_mandatory"
	InvalidEncrypted   Reason = "invalid_encrypted_content"
	ThinkingSignature  Reason = "thinking_signature"
	LongContextTier    Reason = "long_context_tier"
	ToolContent        Reason = "multimodal_tool_content_unsupported"
	ImageTooLarge      Reason = "image_too_large"
)

// Build is a line of Hermes' releases. People run both, and they read a 429 and a 403 differently.
type Build int

// The builds.
const (
	Newest   Build = iota // the 0.20 line, September 2026
	Released              // 0.19.0, as PyPI serves it
)

// Session is what Hermes knows of a conversation when a call of it fails.
type Session struct {
	Build    Build
	Tokens   int       // its estimate of the history's length
	Messages int       // in the history
	Window   int       // of the model, in tokens; 0 = 200000
	Now      time.Time // of the failure
}

// large is Hermes' guess that a failure without words may be an overflow.
func (s Session) large(part float64, tokens, messages int) bool {
	window := cmp.Or(s.Window, 200_000)
	return float64(s.Tokens) > part*float64(window) || window <= 256_000 && (s.Tokens > tokens || s.Messages > messages)
}

// Verdict is what Hermes makes of a failed call.
type Verdict struct {
	Reason       Reason
	Retryable    bool          // ask the same endpoint again
	Compress     bool          // shorten the history first
	ResetAt      time.Time     // when Hermes thinks that the limit ends; zero = not said
	RetryAfter   time.Duration // the wait that the answer asks for; 0 = none
	StreamingOff bool          // no stream is asked for in the rest of the session
	UsageOff     bool          // no token counts are asked for in the rest of the session
	Window       int           // the model's window that Hermes reads out of the words; 0 = none
	Text         string        // what was looked at, lower case
}

// ClassifyHermes is Hermes' verdict on an answer that is no success: the order of its pipeline is special cases, status,
// structured code, words, transport. A status of 0 stands for an error that came as an event of a stream; the body is then
// the error object. Left out is what only other providers than a custom endpoint can meet (Nous, Codex, MoA, xAI, Bedrock),
// and words about TLS. On 3882 errors made of every word and code of its tables, Released said what 0.19.0 itself says, but
// for 19 about TLS.
func ClassifyHermes(status int, header http.Header, body []byte, session Session) Verdict {
	f := newFault(status, header, body, session)
	v := f.verdict()
	v.Text = f.text
	v.RetryAfter = f.retryAfter()
	if v.Reason == RateLimit || v.Reason == Billing {
		v.ResetAt = f.resetAt()
	}
	if v.Reason == ContextOverflow {
		v.Window = windowInWords(f.text)
	}
	v.StreamingOff = strings.Contains(f.text, "stream") && strings.Contains(f.text, "not supported")
	v.UsageOff = status >= 400 && status < 500 && strings.Contains(f.text, "stream_options")
	return v
}

// ClassifyHermesCut is Hermes' verdict on a connection that ended inside an answer. On a long conversation it takes that
// for an overflow, and shortens the history.
func ClassifyHermesCut(session Session) Verdict {
	v := Verdict{Reason: Timeout, Retryable: true, Text: "peer closed connection without sending complete message body (incomplete chunked read)"}
	if session.large(0.6, 120_000, 200) {
		v.Reason, v.Compress = ContextOverflow, true
	}
	return v
}

// fault is a failed call as the classifier sees it: through openai-python's exception.
type fault struct {
	status  int
	header  http.Header
	payload map[string]any // the exception's body: the error object, or all of it when there is none
	message string
	code    string // lower case
	text    string // all the words, lower case: the exception's own text holds the whole body
	session Session
}

func newFault(status int, header http.Header, body []byte, session Session) *fault {
	f := &fault{status: status, header: header, session: session}
	var whole map[string]any
	if json.Unmarshal(body, &whole) == nil {
		f.payload = whole
		if inner, ok := whole["error"].(map[string]any); ok {
			f.payload = inner
		}
	}
	f.message, _ = f.payload["message"].(string)
	f.code = f.structuredCode()
	f.text = strings.ToLower(f.message)
	if status != 0 {
		f.text = strings.ToLower(fmt.Sprintf("Error code: %d - %s %s", status, body, f.message))
	}
	return f
}

// structuredCode is the code that Hermes reads: the library has taken the error object out of its envelope by then, and
// the type beside the code is not looked at.
func (f *fault) structuredCode() string {
	for _, name := range []string{"code", "error_code", "errorCode"} {
		switch v := f.payload[name].(type) {
		case string:
			if v = strings.TrimSpace(v); v != "" && v != "400" {
				return strings.ToLower(v)
			}
		case float64:
			if v != 0 && v != 400 {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

func (f *fault) has(words []string) bool {
	for _, w := range words {
		if strings.Contains(f.text, w) {
			return true
		}
	}
	return false
}

func (f *fault) verdict() Verdict {
	if v, ok := f.special(); ok {
		return v
	}
	if f.status != 0 {
		return f.byStatus()
	}
	if v, ok := f.byCode(); ok {
		return v
	}
	return f.byWords()
}

// special are the shapes that a status would mislead about.
func (f *fault) special() (Verdict, bool) {
	switch {
	case f.has(contentBlockedWords):
		return Verdict{Reason: ContentBlocked}, true
	case f.has(accountBlockedWords) && f.session.Build == Newest:
		return Verdict{Reason: PolicyBlocked}, true
	case f.status == 400 && f.has([]string{"thinking"}) && f.has(thinkingWords):
		return Verdict{Reason: ThinkingSignature, Retryable: true}, true
	case f.status == 429 && f.has([]string{"extra usage"}) && f.has([]string{"long context"}):
		return Verdict{Reason: LongContextTier, Retryable: true, Compress: true}, true
	}
	return Verdict{}, false
}
