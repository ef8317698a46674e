package responses

import (
	"bytes"
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Stream writes an answer's events as the events of a Responses stream. The exported fields are set before the first Append.
// It remembers what was said: the protocol says all of it again at the end of each item and of the response.
type Stream struct {
	ID      string // of the response: "resp_…"
	Model   string // as the client shall know it
	Created int64  // Unix seconds
	Echo    []byte // members that the response repeats of its request, each with a comma in front
	Callees map[string]Callee

	begun  bool
	next   int64 // sequence_number
	items  []*told
	open   *told   // the message or the thought that is being told; nil = none
	calls  []*told // by their index
	late   []neutral.Event
	finish neutral.Finish
	usage  wire.Usage
	held   int
}

// Next is the number of the next event.
func (s *Stream) Next() int64 { return s.next }

// Held is about how many bytes of the answer are kept.
func (s *Stream) Held() int { return s.held }

// Append appends what one event is to the client. Failed appends nothing: how an error looks to a client is its caller's to
// say. The end of an answer is told by End, because its usage may come behind it.
func (s *Stream) Append(dst []byte, e *neutral.Event) []byte {
	switch e.Kind {
	case neutral.Counted:
		s.usage = e.Usage
		return dst
	case neutral.Failed:
		return dst
	}
	dst = s.begin(dst)
	s.held += len(e.Text) + len(e.Name) + len(e.Seal.Data)
	switch e.Kind {
	case neutral.Text:
		return s.piece(dst, &textPart, e.Text)
	case neutral.Refusal:
		return s.piece(dst, &refusalPart, e.Text)
	case neutral.Reasoning:
		return s.piece(dst, &summaryPart, e.Text)
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

// begin appends the two events that every stream begins with, once.
func (s *Stream) begin(dst []byte) []byte {
	if s.begun {
		return dst
	}
	s.begun = true
	for _, kind := range [...]string{"response.created", "response.in_progress"} {
		dst = s.event(dst, kind)
		dst = s.response(append(dst, `,"response":`...), "in_progress")
		dst = s.end(dst)
	}
	return dst
}

// event appends the beginning of an event; end appends the rest.
func (s *Stream) event(dst []byte, kind string) []byte {
	dst = append(append(dst, "event: "...), kind...)
	return append(append(append(dst, "\ndata: {\"type\":\""...), kind...), '"')
}

func (s *Stream) end(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `,"sequence_number":`...), s.next, 10)
	s.next++
	return append(dst, "}\n\n"...)
}

// finished closes every item. What a text's end is, is what the whole's is: cut or complete.
func (s *Stream) finished(dst []byte, f neutral.Finish) []byte {
	s.finish = f
	dst = s.shut(dst)
	for _, call := range s.calls {
		if call != nil {
			dst = s.shutCall(dst, call)
		}
	}
	late := s.late
	s.late = nil
	for i := range late {
		dst = s.lone(dst, late[i].Seal, "")
	}
	return dst
}

// End appends the last event of a whole answer.
func (s *Stream) End(dst []byte) []byte {
	dst = s.begin(dst)
	kind := "response." + s.status()
	dst = s.event(dst, kind)
	return s.end(s.response(append(dst, `,"response":`...), s.status()))
}

// status is how the answer ended. A refusal that was told is an answer.
func (s *Stream) status() string {
	if s.reason() != "" {
		return "incomplete"
	}
	return "completed"
}

// reason is why the answer is incomplete; "" = it is not.
func (s *Stream) reason() string {
	switch {
	case s.finish == neutral.FinishLength:
		return "max_output_tokens"
	case s.finish == neutral.FinishFilter, s.finish == neutral.FinishRefusal && !s.refused():
		return "content_filter"
	}
	return ""
}

func (s *Stream) refused() bool {
	for _, t := range s.items {
		for _, p := range t.parts {
			if p.of == &refusalPart {
				return true
			}
		}
	}
	return false
}

// response appends the response as it is at a status.
func (s *Stream) response(dst []byte, status string) []byte {
	dst = append(append(dst, `{"id":`...), wire.Quote(s.ID)...)
	dst = strconv.AppendInt(append(dst, `,"object":"response","created_at":`...), s.Created, 10)
	dst = append(append(append(dst, `,"status":"`...), status...), `","error":null,"incomplete_details":`...)
	if status == "incomplete" {
		dst = append(append(append(dst, `{"reason":"`...), s.reason()...), `"}`...)
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(append(dst, `,"model":`...), wire.Quote(s.Model)...)
	dst = append(append(dst, `,"previous_response_id":null,"store":false`...), s.Echo...)
	dst = append(dst, `,"output":[`...)
	if status != "in_progress" {
		for i, t := range s.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, t.whole...)
		}
	}
	dst = append(dst, `],"usage":`...)
	if status == "in_progress" || !s.usage.Known {
		return append(dst, "null}"...)
	}
	return append(appendUsage(dst, s.usage), '}')
}

// appendUsage appends the usage object. Details that were not told are 0, as OpenAI writes them.
func appendUsage(dst []byte, u wire.Usage) []byte {
	number := func(name string, n int64) {
		dst = strconv.AppendInt(append(dst, name...), n, 10)
	}
	number(`{"input_tokens":`, u.Input)
	number(`,"input_tokens_details":{"cached_tokens":`, u.CacheRead)
	if u.CacheWrite > 0 {
		number(`,"cache_write_tokens":`, u.CacheWrite)
	}
	number(`},"output_tokens":`, u.Output)
	number(`,"output_tokens_details":{"reasoning_tokens":`, u.Reasoning)
	number(`},"total_tokens":`, u.Input+u.Output)
	return append(dst, '}')
}

// repeated are the members of a request that its response repeats, with what they are when it has none. The instructions and
// the tools are not among them: they are large, and the client has them.
var repeated = []struct{ name, otherwise string }{
	{"instructions", "null"},
	{"max_output_tokens", "null"},
	{"metadata", "{}"},
	{"parallel_tool_calls", "true"},
	{"reasoning", `{"effort":null,"summary":null}`},
	{"temperature", "null"},
	{"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`},
	{"tools", "[]"},
	{"top_p", "null"},
	{"truncation", `"disabled"`},
}

// Echo is what a response repeats of the request with this body, as Stream.Echo wants it. The body must be one that
// wire.ReadRequest has taken.
func Echo(body []byte) (echo []byte) {
	var said [16][]byte
	m := wire.Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		for i, r := range repeated {
			if v := value.In(body); string(name) == r.name && r.name != "instructions" && r.name != "tools" && !wire.Null(v) {
				said[i] = v
			}
		}
	}
	for i, r := range repeated {
		echo = append(append(append(echo, `,"`...), r.name...), `":`...)
		if said[i] == nil {
			echo = append(echo, r.otherwise...)
			continue
		}
		echo = append(echo, bytes.TrimSpace(said[i])...)
	}
	return echo
}
