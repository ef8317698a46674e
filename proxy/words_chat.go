package proxy

import (
	"bytes"
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// chatDecoder hears the words of a chat or text completion, chunk by chunk or whole: those of its first choice, which is the
// only one nearly always.
type chatDecoder struct {
	calls int // begun
	ended bool

	// Of the last chunk, where it has nothing but a word: what stands in front of the word and behind it, both quotes
	// included. Providers send the same chunk over and over, with another word in it; that is not walked again.
	head, tail []byte
}

// Whole reports whether the first choice has said why it ended.
func (d *chatDecoder) Whole() bool { return d.ended }

// Decode never fails: what is not understood says nothing.
func (d *chatDecoder) Decode(_, data []byte, events []neutral.Event) ([]neutral.Event, error) {
	if word := d.word(data); word != nil {
		return append(events, neutral.Event{Kind: neutral.Text, Tool: -1, Text: word}), nil
	}
	before := len(events)
	m := wire.Object(data)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		if string(name) != "choices" {
			continue
		}
		choices := wire.Array(at.In(data))
		for choice, ok := choices.Next(); ok; choice, ok = choices.Next() {
			events = d.choice(choice, events)
		}
	}
	d.keep(data, events[before:])
	return events, nil
}

// word is the word of a chunk that is the last one but for it, nil of any other chunk.
func (d *chatDecoder) word(data []byte) neutral.Literal {
	end := len(data) - len(d.tail)
	if len(d.head) == 0 || end <= len(d.head) || !bytes.HasPrefix(data, d.head) || !bytes.HasSuffix(data, d.tail) {
		return nil
	}
	if word := data[len(d.head):end]; bytes.IndexByte(word, '"') >= 0 || bytes.IndexByte(word, '\\') >= 0 {
		return nil
	}
	return neutral.Literal(data[len(d.head)-1 : end+1])
}

var contentMember = []byte(`"content":`)

// keep remembers a chunk that says a word and nothing else.
func (d *chatDecoder) keep(data []byte, events []neutral.Event) {
	d.head, d.tail = d.head[:0], d.tail[:0]
	if len(events) != 1 || events[0].Kind != neutral.Text {
		return
	}
	at := bytes.Index(data, contentMember) + len(contentMember)
	if word := events[0].Text; at >= len(contentMember) && bytes.HasPrefix(data[at:], word) {
		d.head = append(d.head, data[:at+1]...)
		d.tail = append(d.tail, data[at+len(word)-1:]...)
	}
}

func (d *chatDecoder) choice(choice []byte, events []neutral.Event) []neutral.Event {
	before, finished := len(events), false
	m := wire.Object(choice)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		switch v := at.In(choice); string(name) {
		case "index":
			if string(v) != "0" {
				return events[:before]
			}
		case "text":
			events = literal(events, neutral.Text, v)
		case "delta", "message":
			events = d.delta(v, events)
		case "finish_reason":
			finished = v[0] == '"' && len(v) > 2
		}
	}
	if finished && !d.ended {
		d.ended = true
		events = append(events, neutral.Event{Kind: neutral.Finished, Tool: -1})
	}
	return events
}

// delta reads a message or the next piece of one. Where thoughts stand twice, under both of their names, they count once.
func (d *chatDecoder) delta(delta []byte, events []neutral.Event) []neutral.Event {
	var content, reasoning, refusal, calls []byte
	m := wire.Object(delta)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		switch v := at.In(delta); string(name) {
		case "content":
			content = v
		case "reasoning_content":
			reasoning = v
		case "reasoning":
			if len(reasoning) == 0 || reasoning[0] != '"' {
				reasoning = v
			}
		case "refusal":
			refusal = v
		case "tool_calls":
			calls = v
		}
	}
	events = literal(events, neutral.Reasoning, reasoning)
	events = literal(events, neutral.Text, content)
	events = literal(events, neutral.Refusal, refusal)
	list := wire.Array(calls)
	position := 0
	for call, ok := list.Next(); ok; call, ok = list.Next() {
		events = d.call(call, position, events)
		position++
	}
	return events
}

// call reads a call, or the next piece of one, which is told apart by its index.
func (d *chatDecoder) call(call []byte, position int, events []neutral.Event) []neutral.Event {
	index, id, named, arguments := position, "", "", neutral.Literal(nil)
	m := wire.Object(call)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		switch v := at.In(call); string(name) {
		case "index":
			if n, err := strconv.Atoi(string(v)); err == nil && n >= 0 {
				index = n
			}
		case "id":
			id = spelled(v)
		case "function":
			f := wire.Object(v)
			for name, at, ok := f.Next(); ok; name, at, ok = f.Next() {
				switch string(name) {
				case "name":
					named = spelled(at.In(v))
				case "arguments":
					arguments = at.In(v)
				}
			}
		}
	}
	if named != "" && index >= d.calls {
		d.calls = index + 1
		events = append(events, neutral.Event{Kind: neutral.ToolStarted, Tool: index, ID: id, Name: named})
	}
	if len(arguments) > 2 {
		events = append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: index, Text: arguments})
	}
	return events
}

// literal adds a text that says something.
func literal(events []neutral.Event, kind neutral.EventKind, v []byte) []neutral.Event {
	if len(v) > 2 && v[0] == '"' {
		return append(events, neutral.Event{Kind: kind, Tool: -1, Text: v})
	}
	return events
}

func spelled(v []byte) string {
	text, _ := wire.Text(v)
	return string(text)
}
