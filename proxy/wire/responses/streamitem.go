package responses

import (
	"slices"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// told is an item of the output as the client knows it.
type told struct {
	output int // output_index
	id     string
	kind   string // message, reasoning, function_call or custom_tool_call
	parts  []toldPart
	seal   string // of a thought: encrypted_content

	callID    string // of a call
	callee    Callee
	arguments []byte // the inside of a literal
	whole     []byte // once it is closed
}

// toldPart is a part of a message or of a thought.
type toldPart struct {
	of    *partKind
	head  []byte // of each of its deltas, up to the text
	inner []byte // of a literal: what was said
}

// partKind is how parts of a kind are told.
type partKind struct {
	item        string // that holds them
	index       string // the member that numbers them
	event       string // of their texts; .delta and .done follow
	added, done string
	open        string // the part up to its text
	member      string // of the whole text when it is done
	rest        string // behind the text
}

// The kinds of parts.
var (
	textPart = partKind{
		item: "message", index: "content_index", event: "response.output_text", member: "text",
		added: "response.content_part.added", done: "response.content_part.done",
		open: `{"type":"output_text","text":`, rest: `,"annotations":[],"logprobs":[]`,
	}
	refusalPart = partKind{
		item: "message", index: "content_index", event: "response.refusal", member: "refusal",
		added: "response.content_part.added", done: "response.content_part.done",
		open: `{"type":"refusal","refusal":`,
	}
	summaryPart = partKind{
		item: "reasoning", index: "summary_index", event: "response.reasoning_summary_text", member: "text",
		added: "response.reasoning_summary_part.added", done: "response.reasoning_summary_part.done",
		open: `{"type":"summary_text","text":`,
	}
)

// idOf is what ids of items begin with.
var idOf = map[string]string{"message": "msg_", "reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_"}

// literal appends an inside as a literal.
func literal(dst, inner []byte) []byte { return append(append(append(dst, '"'), inner...), '"') }

// start begins an item and appends the event that says so.
func (s *Stream) start(dst []byte, t *told) []byte {
	t.output = len(s.items)
	_, own, _ := strings.Cut(s.ID, "_")
	t.id = idOf[t.kind] + own + "_" + strconv.Itoa(t.output)
	s.items = append(s.items, t)
	dst = s.event(dst, "response.output_item.added")
	dst = strconv.AppendInt(append(dst, `,"output_index":`...), int64(t.output), 10)
	return s.end(t.append(append(dst, `,"item":`...), "in_progress"))
}

// append appends the item as it is at a status.
func (t *told) append(dst []byte, status string) []byte {
	dst = append(append(append(dst, `{"id":"`...), t.id...), `","type":"`...)
	dst = append(append(dst, t.kind...), '"')
	switch t.kind {
	case "message":
		dst = append(append(append(dst, `,"status":"`...), status...), `","role":"assistant","content":[`...)
	case "reasoning":
		dst = append(dst, `,"summary":[`...)
	default:
		dst = append(append(append(dst, `,"status":"`...), status...), `","call_id":`...)
		dst = append(append(append(dst, wire.Quote(t.callID)...), `,"name":`...), wire.Quote(t.callee.Name)...)
		if t.callee.Namespace != "" {
			dst = append(append(dst, `,"namespace":`...), wire.Quote(t.callee.Namespace)...)
		}
		if t.kind == "custom_tool_call" {
			dst = append(dst, `,"input":`...)
		} else {
			dst = append(dst, `,"arguments":`...)
		}
		return append(literal(dst, t.arguments), '}')
	}
	for i := range t.parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.parts[i].append(dst, t.parts[i].inner)
	}
	dst = append(dst, ']')
	if t.kind == "reasoning" {
		dst = append(dst, `,"encrypted_content":`...)
		if t.seal == "" {
			return append(dst, "null}"...)
		}
		dst = append(dst, wire.Quote(t.seal)...)
	}
	return append(dst, '}')
}

// append appends a part that says so much.
func (p *toldPart) append(dst, inner []byte) []byte {
	return append(append(literal(append(dst, p.of.open...), inner), p.of.rest...), '}')
}

// member appends the members by which an event names an item, and a part of it.
func (t *told) member(dst []byte, index string, at int) []byte {
	dst = append(append(dst, `,"item_id":"`...), t.id...)
	dst = strconv.AppendInt(append(dst, `","output_index":`...), int64(t.output), 10)
	if index != "" {
		dst = strconv.AppendInt(append(append(append(dst, `,"`...), index...), `":`...), int64(at), 10)
	}
	return dst
}

// piece tells a piece of a text, in the part that is being told if it is of the same kind.
func (s *Stream) piece(dst []byte, of *partKind, text neutral.Literal) []byte {
	if text.Empty() {
		return dst
	}
	if s.open == nil || s.open.kind != of.item {
		dst = s.shut(dst)
		s.open = &told{kind: of.item}
		dst = s.start(dst, s.open)
	}
	t := s.open
	if n := len(t.parts); n == 0 || t.parts[n-1].of != of {
		dst = s.shutPart(dst, t)
		t.parts = append(t.parts, toldPart{of: of, head: t.member(s.event(nil, of.event+".delta"), of.index, n)})
		dst = t.member(s.event(dst, of.added), of.index, n)
		dst = s.end(t.parts[n].append(append(dst, `,"part":`...), nil))
		t.parts[n].head = append(t.parts[n].head, `,"delta":`...)
	}
	p := &t.parts[len(t.parts)-1]
	p.inner = append(p.inner, text.Inner()...)
	dst = append(append(dst, p.head...), text...)
	if of == &textPart {
		dst = append(dst, `,"logprobs":[]`...)
	}
	return s.end(dst)
}

// shutPart tells the last part whole.
func (s *Stream) shutPart(dst []byte, t *told) []byte {
	n := len(t.parts) - 1
	if n < 0 {
		return dst
	}
	p := &t.parts[n]
	dst = t.member(s.event(dst, p.of.event+".done"), p.of.index, n)
	dst = literal(append(append(append(dst, `,"`...), p.of.member...), `":`...), p.inner)
	if p.of == &textPart {
		dst = append(dst, `,"logprobs":[]`...)
	}
	dst = t.member(s.event(s.end(dst), p.of.done), p.of.index, n)
	return s.end(p.append(append(dst, `,"part":`...), p.inner))
}

// shut closes the message or the thought that is being told.
func (s *Stream) shut(dst []byte) []byte {
	t := s.open
	if t == nil {
		return dst
	}
	s.open = nil
	return s.done(s.shutPart(dst, t), t)
}

// done tells an item whole.
func (s *Stream) done(dst []byte, t *told) []byte {
	status := "completed"
	if s.reason() != "" {
		status = "incomplete"
	}
	if t.kind == "reasoning" && t.seal == "" {
		t.seal = unsealed
	}
	t.whole = t.append(nil, status)
	t.parts, t.arguments = slices.Clip(t.parts), nil
	for i := range t.parts {
		t.parts[i].inner, t.parts[i].head = nil, nil
	}
	dst = s.event(dst, "response.output_item.done")
	dst = strconv.AppendInt(append(dst, `,"output_index":`...), int64(t.output), 10)
	return s.end(append(append(dst, `,"item":`...), t.whole...))
}

// sealed closes a thought with its seal. One that belongs to a call, or to a thought that was not told, is an item of its
// own; in the middle of a message it waits for its end.
func (s *Stream) sealed(dst []byte, e *neutral.Event) []byte {
	switch {
	case e.Tool >= 0 && e.Tool < len(s.calls) && s.calls[e.Tool] != nil:
		return s.lone(dst, e.Seal, s.calls[e.Tool].callID)
	case s.open == nil:
		return s.lone(dst, e.Seal, "")
	case s.open.kind == "reasoning" && !(e.Seal.Hidden && e.Seal.Format == neutral.SealAnthropic):
		s.open.seal = SealText(e.Seal, "")
		return s.shut(dst)
	case s.open.kind == "reasoning":
		return s.lone(s.shut(dst), e.Seal, "")
	default:
		s.late = append(s.late, neutral.Event{Seal: e.Seal})
		return dst
	}
}

// lone tells a seal that no thought was told with.
func (s *Stream) lone(dst []byte, seal neutral.Seal, call string) []byte {
	t := &told{kind: "reasoning"}
	dst = s.start(dst, t)
	t.seal = SealText(seal, call)
	return s.done(dst, t)
}
