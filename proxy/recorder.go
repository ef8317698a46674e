package proxy

import (
	"encoding/json"
	"time"

	"hermes-hub/telemetry"
)

// Depth is how much the calls of clients leave behind.
type Depth uint8

// The depths.
const (
	KeepNothing Depth = iota
	KeepFacts         // who asked for what, when, and what came of it: no word of people, models or tools
	KeepWords         // the last words of the user, and the answer, too
)

// Recorder keeps what calls leave. What is recorded are generations: embeddings, counts of tokens, lists of models and
// whatever could not be read leave nothing; neither does a request with Cache-Control: no-store, nor one that belongs to a
// run already.
//
// A recorder is called beside the requests, on one goroutine at a time, in the order of each call's own events. What it
// delays are its own other calls; when it panics, the one call is not kept. Of a recorder that does not keep up, calls are
// left out whole, or pieces of their words are.
type Recorder interface {
	// Record begins to keep a call, which may go on for long. It must not keep c. nil: nothing is kept.
	Record(c *Recorded) Recording
}

// Recording is how one call goes on.
type Recording interface {
	Text(delta string)         // more of the answer
	Reasoning(delta string)    // more of the model's thoughts
	Tool(c ToolCall)           // the model asks for a tool
	Left(pieces int)           // so many pieces were left out here
	End(x *telemetry.Exchange) // nothing follows. It must not keep x.
}

// Recorded is a call as it is known once it has been read.
type Recorded struct {
	RunID      string // run_ and 32 hex digits, which grow with the time: X-Hub-Run-Id
	RequestID  string
	Start      time.Time
	Endpoint   string
	Key        string // name of the client key, "" when none is needed
	Session    string // as the client named it, "" = none
	Role       string // "" when it could not be resolved
	RoleSource string
	Model      string // as the client asked, at most 256 bytes
	Stream     bool
	// Fields are what an agent tells of a call, where it does: an object of strings and numbers, nil without any.
	Fields json.RawMessage
	Input  string // the last words of the user, at most 16 KiB; "" with KeepFacts
}

// ToolCall is what a model asks of a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // as the model wrote them, mostly a JSON object; at most 16 KiB
}
