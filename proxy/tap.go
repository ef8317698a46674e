package proxy

import (
	"github.com/tidwall/gjson"

	"hermes-hub/proxy/wire"
)

// tap stands between one upstream's stream and one client: it looks at every event, and decides what becomes of it.
type tap interface {
	// take looks at one event, appends what the client gets of it to dst, and notes in h what it says of the answer.
	take(e *wire.Event, dst []byte, h *gist) []byte
	// whole reports whether all of an answer has come, its protocol's end mark perhaps left out.
	whole() bool
	// end appends what a client waits for behind a whole answer whose upstream has left it out.
	end(dst []byte) []byte
	// fail appends the event by which a client learns that the rest will not come.
	fail(dst []byte, e *refusal, request string) []byte
}

// gist is what a stream has told so far.
type gist struct {
	usage    wire.Usage
	content  bool   // since it was last reset, something reached the reader, or the reason why there is no more
	done     bool   // the protocol's end of a good answer
	over     bool   // all of a good answer has come, but what it has used may still be told
	trouble  []byte // an error that arrived as an event
	nonsense string // why nothing of the stream can be believed, "" = it can
	dropped  int    // bytes of events that say nothing and were left out
}

// forward appends an event as it came, or, where some client could not take it, in the plainest form.
func forward(dst []byte, e *wire.Event, name, data []byte) []byte {
	if e.Odd || len(name) != len(e.Name) {
		return wire.AppendEvent(dst, name, data)
	}
	return append(dst, e.Raw...)
}

// chatTap passes on the chunks of chat and text completions.
type chatTap struct {
	wantsUse       bool // the client asked for the usage chunk
	chunks         wire.ChunkReader
	seen, finished uint64 // choices, one bit each
	done           bool
}

func (c *chatTap) take(e *wire.Event, dst []byte, h *gist) []byte {
	chunk := c.chunks.Read(e.Data)
	name := string(e.Name)
	switch {
	case chunk.Done:
		c.done, h.done = true, true
	case chunk.Error.Found(), chunk.Failed, name == "error":
		h.trouble = append(h.trouble, e.Data...)
		return dst
	case !chunk.Valid, name == "ping":
		h.dropped += len(e.Raw) // data that is no JSON kills clients; a ping is ours to send
		return dst
	}
	if chunk.Usage.Known {
		h.usage = chunk.Usage
	}
	c.seen |= chunk.Choices
	c.finished |= chunk.Finished
	if chunk.Content || chunk.Finished != 0 || name != "" && name != "message" {
		h.content = true
	}
	if chunk.Bare && !c.wantsUse {
		return dst
	}
	if mends := chunk.Mends(); len(mends) > 0 {
		return wire.AppendEvent(dst, e.Name, wire.Splice(nil, e.Data, mends))
	}
	return forward(dst, e, e.Name, e.Data)
}

// whole: [DONE], or a finish reason for every choice that began.
func (c *chatTap) whole() bool { return c.done || c.seen != 0 && c.finished == c.seen }

// end: some clients wait for [DONE].
func (c *chatTap) end(dst []byte) []byte {
	if c.done {
		return dst
	}
	return append(dst, "data: [DONE]\n\n"...)
}

func (c *chatTap) fail(dst []byte, e *refusal, request string) []byte {
	return wire.AppendEvent(dst, nil, openAI.body(e, request))
}

// stepReader reads the events of one Messages or Responses stream.
type stepReader interface{ Read(data []byte) wire.Step }

// stepTap passes on the events of Messages and Responses streams.
type stepTap struct {
	steps  stepReader
	sealed func(value string) // told of reasoning that only the account can open
	done   bool
}

func (s *stepTap) take(e *wire.Event, dst []byte, h *gist) []byte {
	step := s.steps.Read(e.Data)
	switch {
	case step.Failed, string(e.Name) == "error":
		h.trouble = append(h.trouble, e.Data...)
		return dst
	case !step.Valid, step.Ping, step.Foreign:
		h.dropped += len(e.Raw) // a ping is ours to send
		return dst
	}
	if step.Usage.Known {
		h.usage = step.Usage
	}
	h.content = h.content || step.Content
	h.done, s.done = step.Done, step.Done
	for _, value := range step.Sealed {
		s.sealed(string(value))
	}
	name := e.Name
	if len(name) == 0 { // clients pass over events without one
		name = step.Type
	}
	return forward(dst, e, name, e.Data)
}

func (s *stepTap) whole() bool { return s.done }

func (s *stepTap) end(dst []byte) []byte { return dst }

// messagesTap passes on the events of a Messages stream.
type messagesTap struct{ stepTap }

func (m *messagesTap) fail(dst []byte, e *refusal, request string) []byte {
	return wire.AppendEvent(dst, []byte("error"), anthropic.body(e, request))
}

// responsesTap passes on the events of a Responses stream. It keeps what the stream's own failure would have to name.
type responsesTap struct {
	stepTap
	id   string // of the response
	next int64  // sequence_number
}

func (r *responsesTap) take(e *wire.Event, dst []byte, h *gist) []byte {
	if r.id == "" {
		r.id = gjson.GetBytes(e.Data, "response.id").Str
	}
	before := len(dst)
	dst = r.stepTap.take(e, dst, h)
	if len(dst) > before {
		r.next++
	}
	return dst
}

// responseFailed is the event with which a Responses stream ends that is not whole.
type responseFailed struct {
	Type           string         `json:"type"`
	SequenceNumber int64          `json:"sequence_number"`
	Response       failedResponse `json:"response"`
}

type failedResponse struct {
	ID     string        `json:"id"`
	Object string        `json:"object"`
	Status string        `json:"status"`
	Output []any         `json:"output"`
	Error  responseFault `json:"error"`
}

type responseFault struct {
	Code    code   `json:"code"`
	Message string `json:"message"`
}

func (r *responsesTap) fail(dst []byte, e *refusal, _ string) []byte {
	return failResponse(dst, r.id, r.next, e)
}

// failResponse appends the event that says that the rest of a response will not come.
func failResponse(dst []byte, id string, next int64, e *refusal) []byte {
	return wire.AppendEvent(dst, []byte("response.failed"), encoded(responseFailed{
		Type: "response.failed", SequenceNumber: next,
		Response: failedResponse{id, "response", "failed", []any{}, responseFault{e.code, e.message}},
	}))
}
