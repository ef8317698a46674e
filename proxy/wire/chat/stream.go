package chat

import (
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Stream writes an answer's events as the chunks of a chat completion stream, event by event. The exported fields are set
// before the first Append; its memory does not grow with the answer, only with the number of its calls.
type Stream struct {
	ID       string // of the completion
	Model    string // as the client shall know it
	Created  int64  // Unix seconds
	WantsUse bool   // the client asked for the usage chunk

	head    []byte // of every chunk, up to its delta
	begun   bool
	block   int        // index of the reasoning block in reasoning_details
	inBlock bool       // something of it was written
	calls   []callSent // by index
	usage   wire.Usage
}

// callSent is what a client got of one call.
type callSent struct {
	id        string
	arguments bool // some of the arguments
}

// Append appends what one event is to the client: mostly one chunk. Failed appends nothing: how an error looks to a client
// is its caller's to say.
func (s *Stream) Append(dst []byte, e *neutral.Event) []byte {
	if e.Kind == neutral.Counted {
		s.usage = e.Usage
		return dst
	}
	if e.Kind == neutral.Failed {
		return dst
	}
	if !s.begun {
		s.begun = true
		s.head = appendHead(nil, "chat.completion.chunk", s.ID, s.Model, s.Created)
		s.head = append(s.head, `"choices":[{"index":0,"delta":{`...)
		dst = s.chunk(dst, `"role":"assistant","content":""`)
	}
	if e.Kind != neutral.Reasoning && e.Kind != neutral.Sealed {
		s.endBlock()
	}
	switch e.Kind {
	case neutral.Text:
		return s.text(dst, `"content":`, e.Text)
	case neutral.Refusal:
		return s.text(dst, `"refusal":`, e.Text)
	case neutral.Reasoning:
		return s.reasoning(dst, e)
	case neutral.Sealed:
		return s.sealed(dst, e)
	case neutral.ToolStarted:
		return s.toolStarted(dst, e)
	case neutral.ToolArguments:
		return s.toolArguments(dst, e.Tool, e.Text)
	case neutral.Finished:
		return s.finished(dst, e.Finish)
	}
	return dst
}

// End appends what stands behind the last event of a whole answer: the usage, if the client asked and it is known, and the
// end mark.
func (s *Stream) End(dst []byte) []byte {
	if s.WantsUse && s.usage.Known {
		dst = append(dst, "data: "...)
		dst = appendHead(dst, "chat.completion.chunk", s.ID, s.Model, s.Created)
		dst = append(dst, `"choices":[],"usage":`...)
		dst = append(appendUsage(dst, s.usage), "}\n\n"...)
	}
	return append(dst, "data: [DONE]\n\n"...)
}

func (s *Stream) open(dst []byte) []byte { return append(append(dst, "data: "...), s.head...) }

func (s *Stream) shut(dst []byte) []byte { return append(dst, "},\"finish_reason\":null}]}\n\n"...) }

func (s *Stream) chunk(dst []byte, delta string) []byte {
	return s.shut(append(s.open(dst), delta...))
}

func (s *Stream) text(dst []byte, member string, text neutral.Literal) []byte {
	if text.Empty() {
		return dst
	}
	return s.shut(append(append(s.open(dst), member...), text...))
}

// reasoning writes a piece of a thought, and again for the details where a seal over it will follow.
func (s *Stream) reasoning(dst []byte, e *neutral.Event) []byte {
	if e.Text.Empty() {
		return dst
	}
	dst = append(append(s.open(dst), `"reasoning_content":`...), e.Text...)
	if e.Seal.Format != "" {
		s.inBlock = true
		dst = append(dst, `,"reasoning_details":[`...)
		dst = appendDetail(dst, neutral.Seal{Format: e.Seal.Format}, e.Text, s.block)
		dst = append(dst, ']')
	}
	return s.shut(dst)
}

// sealed writes a seal: into the details, and for a call of Google's at the call, too.
func (s *Stream) sealed(dst []byte, e *neutral.Event) []byte {
	seal := e.Seal
	dst = s.open(dst)
	if e.Tool >= 0 && e.Tool < len(s.calls) {
		seal.ID = s.calls[e.Tool].id
		dst = append(dst, `"tool_calls":[{"index":`...)
		dst = strconv.AppendInt(dst, int64(e.Tool), 10)
		dst = append(dst, `,"function":{"arguments":""}`...) // clients' schemas want the member
		dst = append(appendExtra(dst, seal), "}],"...)
	}
	dst = append(dst, `"reasoning_details":[`...)
	dst = appendDetail(dst, seal, nil, s.block)
	s.inBlock = true
	s.endBlock()
	return s.shut(append(dst, ']'))
}

func (s *Stream) endBlock() {
	if s.inBlock {
		s.block++
		s.inBlock = false
	}
}

func (s *Stream) toolStarted(dst []byte, e *neutral.Event) []byte {
	for len(s.calls) <= e.Tool {
		s.calls = append(s.calls, callSent{})
	}
	if e.Tool < 0 {
		return dst
	}
	s.calls[e.Tool].id = e.ID
	dst = append(s.open(dst), `"tool_calls":[`...)
	dst = strconv.AppendInt(append(dst, `{"index":`...), int64(e.Tool), 10)
	dst = appendCall(append(dst, ','), e.ID, e.Name)
	dst = append(dst, `"}`...)
	if e.Seal.Is() {
		dst = appendExtra(dst, e.Seal)
	}
	dst = append(dst, `}]`...)
	if e.Seal.Is() {
		seal := e.Seal
		seal.ID = e.ID
		dst = append(dst, `,"reasoning_details":[`...)
		dst = append(appendDetail(dst, seal, nil, s.block), ']')
		s.block++
	}
	return s.shut(dst)
}

func (s *Stream) toolArguments(dst []byte, tool int, text neutral.Literal) []byte {
	if text.Empty() || tool < 0 || tool >= len(s.calls) {
		return dst
	}
	s.calls[tool].arguments = true
	dst = append(s.open(dst), `"tool_calls":[{"index":`...)
	dst = strconv.AppendInt(dst, int64(tool), 10)
	dst = append(dst, `,"function":{"arguments":`...)
	return s.shut(append(append(dst, text...), `}}]`...))
}

// noArguments is what a call without any is given: clients parse the arguments.
var noArguments = neutral.Literal(`"{}"`)

func (s *Stream) finished(dst []byte, f neutral.Finish) []byte {
	for i, c := range s.calls {
		if !c.arguments && f != neutral.FinishLength {
			dst = s.toolArguments(dst, i, noArguments)
		}
	}
	dst = append(s.open(dst), `},"finish_reason":"`...)
	return append(append(dst, finishReason(f)...), "\"}]}\n\n"...)
}
