package simulator

import (
	"net/http"
	"net/url"
	"time"
)

// Protocol is a way of asking for an answer.
type Protocol string

// The protocols. All of them are served under one base URL; the path tells which one a call speaks.
const (
	Chat      Protocol = "chat"      // OpenAI's chat completions: …/chat/completions
	Messages  Protocol = "messages"  // Anthropic's Messages: …/messages
	Responses Protocol = "responses" // OpenAI's Responses: …/responses; below …/backend-api/codex as ChatGPT's Codex backend takes it
	Gemini    Protocol = "gemini"    // Google's Gemini: …/models/MODEL:generateContent, :streamGenerateContent
	CloudCode Protocol = "cloudcode" // Google's Cloud Code: …/v1internal:generateContent, :streamGenerateContent
)

// dialect is one protocol as a provider speaks it: how a call is understood, and how answers and problems are written. The
// steps of a script know none of it. Adding a protocol is one file and one row of endpoints.
type dialect struct {
	protocol  Protocol
	key       func(inbound) string                                   // the credential of a call
	wants     func(inbound) *problem                                 // what else must be in its head; nil = nothing
	parse     func(inbound) (Request, *problem)                      // understands a body, or says what is wrong with it
	whole     func(Request, Answer, stamp) []byte                    // an answer in one piece
	events    func(Request, Answer, stamp) []event                   // an answer as a stream
	noop      func(Request, stamp) event                             // an event that says nothing
	count     func(Request) []byte                                   // how many tokens a request has; nil = nobody can ask
	sameIndex func(wire []byte) []byte                               // the second of two tool calls under the index of the first
	models    func(models []string, since time.Time) []byte          // the list of models
	model     func(model string, since time.Time) []byte             // one of them
	idHeader  string                                                 // the header that names the call
	problem   func(*problem, stamp) []byte                           // a refusal's body
	failure   func(r Request, p *problem, st stamp, after int) event // a refusal inside a stream, after so many events
	recorded  map[StepName]problem                                   // refusals as they were recorded
	tells     func(Quota, window, time.Time) http.Header             // what is left, on an answer
	spent     func(Quota, window, told) *problem                     // that nothing is left
	wording
}

// wording is how a provider refuses what must not be answered.
type wording struct {
	badKey        func(key string) *problem
	expired       func() *problem // an access token ran out
	noPath        func(method, path string) *problem
	noMethod      func(method, path, allowed string) *problem
	noModel       func(model string) *problem
	tooConcurrent func(model string, limit int) *problem
	rateLimited   func(message string) *problem
}

// told is to whom a spent quota is told, and when.
type told struct {
	model string
	now   time.Time
}

// inbound is a call before it is understood.
type inbound struct {
	route   route
	account *account
	header  http.Header
	query   url.Values
	body    []byte
	codex   bool // it is for the Codex backend
}

// stamp is what tells one answer from another.
type stamp struct {
	serial  int // of the call
	created time.Time
}

// event is one event of a stream, as it stands on the wire.
type event struct {
	kind eventKind
	wire []byte
}

// eventKind says what an event is for, in no dialect.
type eventKind uint8

const (
	eventOpening eventKind = iota // says who speaks, and no more
	eventContent                  // text or reasoning
	eventTool                     // a piece of a tool call
	eventClosing                  // why the answer ends
	eventUsage                    // token counts
	eventDone                     // the protocol's last word
	eventOther
)

// substance reports whether the event carries a piece of the answer itself.
func (k eventKind) substance() bool { return k == eventContent || k == eventTool }
