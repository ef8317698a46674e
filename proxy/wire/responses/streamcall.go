package responses

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Callee is what a client calls a tool that has another name, or takes something else, where it was called.
type Callee struct {
	Name, Namespace string
	Custom          bool
}

// Callees are the tools of a request of which that is so, by the names that they were called by. It holds nothing of the
// request's text.
func Callees(r *neutral.Request) map[string]Callee {
	special := map[string]Callee{}
	for i := range r.Tools {
		if t := &r.Tools[i]; t.Custom || t.Namespace != "" {
			special[t.Name] = Callee{Name: strings.TrimPrefix(t.Name, namespaced(t.Namespace, "")), Namespace: t.Namespace, Custom: t.Custom}
		}
	}
	return special
}

// toolStarted begins a call. A seal of it that is known already stands in front.
func (s *Stream) toolStarted(dst []byte, e *neutral.Event) []byte {
	if e.Tool < 0 {
		return dst
	}
	dst = s.shut(dst)
	if e.Seal.Is() {
		dst = s.lone(dst, e.Seal, e.ID)
	}
	for len(s.calls) <= e.Tool {
		s.calls = append(s.calls, nil)
	}
	call := &told{kind: "function_call", callID: e.ID, callee: Callee{Name: e.Name}}
	if special, ok := s.Callees[e.Name]; ok {
		call.callee = special
	}
	if call.callee.Custom {
		call.kind = "custom_tool_call"
	}
	s.calls[e.Tool] = call
	return s.start(dst, call)
}

// toolArguments tells a piece of a call's arguments. Those of a custom tool are a text in an object, and are told when they
// are whole.
func (s *Stream) toolArguments(dst []byte, tool int, text neutral.Literal) []byte {
	if text.Empty() || tool < 0 || tool >= len(s.calls) || s.calls[tool] == nil {
		return dst
	}
	call := s.calls[tool]
	call.arguments = append(call.arguments, text.Inner()...)
	if call.kind == "custom_tool_call" {
		return dst
	}
	dst = call.member(s.event(dst, "response.function_call_arguments.delta"), "", 0)
	return s.end(append(append(dst, `,"delta":`...), text...))
}

// shutCall tells a call whole. One without arguments is given none in the way that clients can read, unless it was cut.
func (s *Stream) shutCall(dst []byte, call *told) []byte {
	if call.kind == "custom_tool_call" {
		return s.shutCustom(dst, call)
	}
	if len(call.arguments) == 0 && s.finish != neutral.FinishLength {
		call.arguments = []byte("{}")
	}
	dst = call.member(s.event(dst, "response.function_call_arguments.done"), "", 0)
	dst = append(append(dst, `,"name":`...), wire.Quote(call.callee.Name)...)
	dst = s.end(literal(append(dst, `,"arguments":`...), call.arguments))
	return s.done(dst, call)
}

func (s *Stream) shutCustom(dst []byte, call *told) []byte {
	arguments, _ := wire.Text(slices.Concat([]byte{'"'}, call.arguments, []byte{'"'}))
	input, err := json.Marshal(string(inputOf(arguments)))
	if err != nil { // no string fails to marshal
		input = []byte(`""`)
	}
	call.arguments = neutral.Literal(input).Inner()
	if len(call.arguments) > 0 {
		dst = call.member(s.event(dst, "response.custom_tool_call_input.delta"), "", 0)
		dst = s.end(append(append(dst, `,"delta":`...), input...))
	}
	dst = call.member(s.event(dst, "response.custom_tool_call_input.done"), "", 0)
	dst = s.end(append(append(dst, `,"input":`...), input...))
	return s.done(dst, call)
}

// Answer puts the events of an answer together to one response. The exported fields are those of its Stream.
type Answer struct {
	Stream
	told []byte
}

// Add takes one event.
func (a *Answer) Add(e *neutral.Event) { a.told = a.Stream.Append(a.told[:0], e) }

// Append appends the response.
func (a *Answer) Append(dst []byte) []byte { return a.response(dst, a.status()) }
