package responses

import (
	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// paragraph stands between two parts of what the model thought.
var paragraph = neutral.Literal(`"\n\n"`)

// piece tells the next piece of a part.
func (d *Decoder) piece(e *event, p part, delta []byte, events []neutral.Event) ([]neutral.Event, error) {
	it := d.find(e, p.of)
	if it == nil {
		return events, errNoItem
	}
	return d.tell(it, p, delta, events)
}

// rest tells a part whole, if no piece of it has come.
func (d *Decoder) rest(e *event, p part, events []neutral.Event) ([]neutral.Event, error) {
	it := d.find(e, p.of)
	if it == nil {
		return events, errNoItem
	}
	if p.at <= it.part {
		return events, nil
	}
	return d.tell(it, p, e.text, events)
}

// tell tells a piece of text.
func (d *Decoder) tell(it *item, p part, words []byte, events []neutral.Event) ([]neutral.Event, error) {
	if len(words) == 0 || words[0] != '"' {
		return events, errNoString
	}
	text := neutral.Literal(words)
	if text.Empty() {
		return events, nil
	}
	if isThought(p.of) {
		if it.kind == thought {
			it.kind = p.of
		}
		if it.kind != p.of {
			return events, nil
		}
		if d.thought && p.at != it.part {
			events = append(events, neutral.Event{Kind: neutral.Reasoning, Tool: -1, Text: paragraph})
		}
		d.thought = true
	}
	d.spoke = d.spoke || p.event == neutral.Text
	d.refused = d.refused || p.event == neutral.Refusal
	it.part = p.at
	return append(events, neutral.Event{Kind: p.event, Tool: -1, Text: text}), nil
}

// thoughts tells the summary of a thought, or itself, if no event has, and its seal.
func (d *Decoder) thoughts(it *item, s *said, events []neutral.Event) ([]neutral.Event, error) {
	events, err := d.list(it, s.summary, summary, events)
	if err == nil {
		events, err = d.list(it, s.content, thinking, events)
	}
	if data := text(s.encrypted); data != "" {
		events = append(events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: neutral.Seal{
			Format: neutral.SealOpenAI, Data: data, ID: s.id, Hidden: true,
		}})
	}
	return events, err
}

// list tells the parts of an item that come behind the one that spoke last.
func (d *Decoder) list(it *item, parts []byte, of kind, events []neutral.Event) ([]neutral.Event, error) {
	a := wire.Array(parts)
	for at := 0; ; at++ {
		one, ok := a.Next()
		if !ok {
			return events, nil
		}
		if at <= it.part {
			continue
		}
		p, words := part{of, neutral.Reasoning, at}, []byte(nil)
		m := wire.Object(one)
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			switch string(name) {
			case "text":
				words = value.In(one)
				if of == message {
					p.event = neutral.Text
				}
			case "refusal":
				words, p.event = value.In(one), neutral.Refusal
			}
		}
		if words == nil {
			continue
		}
		var err error
		if events, err = d.tell(it, p, words, events); err != nil {
			return events, err
		}
	}
}

// arguments tells the next piece of a call's arguments.
func (d *Decoder) arguments(e *event, events []neutral.Event) ([]neutral.Event, error) {
	it := d.find(e, call)
	switch {
	case it == nil:
		return events, errNoItem
	case it.closed:
		return events, errClosed
	}
	return d.argue(it, e.delta, events)
}

// argumentsDone ends them, and tells them whole if no piece has come.
func (d *Decoder) argumentsDone(e *event, events []neutral.Event) ([]neutral.Event, error) {
	it := d.find(e, call)
	switch {
	case it == nil:
		return events, errNoItem
	case it.closed:
		return events, errClosed
	}
	var err error
	if !it.argued {
		events, err = d.argue(it, e.arguments, events)
	}
	it.closed = it.argued
	return events, err
}

func (d *Decoder) argue(it *item, words []byte, events []neutral.Event) ([]neutral.Event, error) {
	if len(words) == 0 {
		return events, nil
	}
	if words[0] != '"' {
		return events, errNoString
	}
	text := neutral.Literal(words)
	if text.Empty() {
		return events, nil
	}
	it.argued = true
	return append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: it.tool, Text: text}), nil
}
