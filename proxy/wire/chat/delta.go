package chat

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// callTold is a call of an answer.
type callTold struct {
	index   int // as its pieces name it; -1 = they do not
	id      string
	started bool
}

// delta reads a message or the next piece of one.
func (d *Decoder) delta(delta []byte, events []neutral.Event) ([]neutral.Event, error) {
	var content, thought, other, details, refusal, calls []byte
	m := wire.Object(delta)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		switch v := value.In(delta); string(name) {
		case "content":
			content = v
		case "reasoning_content":
			thought = v
		case "reasoning":
			other = v
		case "reasoning_details":
			details = v
		case "refusal":
			refusal = v
		case "tool_calls":
			calls = v
		}
	}
	if !isText(thought) {
		thought = other
	}
	events = d.thoughts(thought, details, events)
	events = d.content(content, events)
	if isText(refusal) {
		d.refused = true
		events = append(events, neutral.Event{Kind: neutral.Refusal, Tool: -1, Text: refusal})
	}
	list := wire.Array(calls)
	for call, ok := list.Next(); ok; call, ok = list.Next() {
		var err error
		if events, err = d.call(call, events); err != nil {
			return events, err
		}
	}
	return events, nil
}

// isText reports whether a value is a string that says something.
func isText(v []byte) bool { return len(v) > 2 && v[0] == '"' }

// content tells a text, or, of servers that answer in parts, the texts and thoughts among them.
func (d *Decoder) content(v []byte, events []neutral.Event) []neutral.Event {
	if isText(v) {
		d.texts = true
		return append(events, neutral.Event{Kind: neutral.Text, Tool: -1, Text: v})
	}
	if len(v) == 0 || v[0] != '[' {
		return events
	}
	parts := wire.Array(v)
	for part, ok := parts.Next(); ok; part, ok = parts.Next() {
		m := wire.Object(part)
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			switch inner := value.In(part); {
			case string(name) == "text" && isText(inner):
				events = d.content(inner, events)
			case string(name) == "thinking" && inner[0] == '[':
				for _, e := range (&Decoder{}).content(inner, nil) {
					events = append(events, neutral.Event{Kind: neutral.Reasoning, Tool: -1, Text: e.Text})
				}
			}
		}
	}
	return events
}

// thoughts tells a piece of what the model thought. Where both are there, the text is a copy of the details'.
func (d *Decoder) thoughts(text, details []byte, events []neutral.Event) []neutral.Event {
	list := wire.Array(details)
	var seals []neutral.Event
	var format neutral.SealFormat
	for detail, ok := list.Next(); ok; detail, ok = list.Next() {
		t := readDetail(detail)
		if !isText(text) && isText(t.text) {
			events = append(events, neutral.Event{Kind: neutral.Reasoning, Tool: -1, Text: t.text, Seal: neutral.Seal{Format: t.signs()}})
		}
		format = max(format, t.signs())
		if t.seal.Is() {
			seals = d.sealed(t.seal, seals)
		}
	}
	if isText(text) {
		events = append(events, neutral.Event{Kind: neutral.Reasoning, Tool: -1, Text: text, Seal: neutral.Seal{Format: format}})
	}
	return append(events, seals...)
}

// detail is one piece of reasoning_details.
type detail struct {
	text []byte
	seal neutral.Seal
	kind string
}

func readDetail(one []byte) (t detail) {
	m := wire.Object(one)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		switch v := value.In(one); string(name) {
		case "type":
			t.kind = said(v)
		case "text", "summary":
			t.text = v
		case "signature", "data":
			t.seal.Data, t.seal.Hidden = said(v), string(name) == "data"
		case "format":
			t.seal.Format = neutral.SealFormat(said(v))
		case "id":
			t.seal.ID = said(v)
		}
	}
	if t.seal.Is() && t.seal.Format == "" && !t.seal.Hidden {
		t.seal.Format = neutral.SealAnthropic
	}
	return t
}

// signs is the format of the signature that follows over the text, "" = none does.
func (t *detail) signs() neutral.SealFormat {
	if t.kind == "reasoning.text" && t.seal.Format == neutral.SealAnthropic {
		return t.seal.Format
	}
	return ""
}

// sealed tells a seal; a call's may come before the call.
func (d *Decoder) sealed(s neutral.Seal, events []neutral.Event) []neutral.Event {
	if s.Format != neutral.SealGoogle || s.ID == "" {
		return append(events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: s})
	}
	for i := range d.calls {
		if d.calls[i].id == s.ID {
			return append(events, neutral.Event{Kind: neutral.Sealed, Tool: i, Seal: s})
		}
	}
	d.held = append(d.held, s)
	return events
}

// pieceOfCall is what one of tool_calls says.
type pieceOfCall struct {
	index     int // -1 = not said
	id, name  string
	arguments []byte
	signature string
}

func readCall(call []byte) pieceOfCall {
	p := pieceOfCall{index: -1}
	m := wire.Object(call)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		switch v := value.In(call); string(name) {
		case "index":
			if n, err := strconv.Atoi(string(v)); err == nil && n >= 0 {
				p.index = n
			}
		case "id":
			p.id = said(v)
		case "function":
			f := wire.Object(v)
			for name, value, ok := f.Next(); ok; name, value, ok = f.Next() {
				switch string(name) {
				case "name":
					p.name = said(value.In(v))
				case "arguments":
					p.arguments = value.In(v)
				}
			}
		case "extra_content":
			p.signature = signature(v)
		}
	}
	return p
}

// signature is Google's seal of a call: {"google":{"thought_signature":…}}.
func signature(extra []byte) (s string) {
	m := wire.Object(extra)
	for name, google, ok := m.Next(); ok; name, google, ok = m.Next() {
		g := wire.Object(google.In(extra))
		for inner, value, more := g.Next(); more && string(name) == "google"; inner, value, more = g.Next() {
			if string(inner) == "thought_signature" {
				s = said(value.In(google.In(extra)))
			}
		}
	}
	return s
}

// call reads a call, or the next piece of one.
func (d *Decoder) call(call []byte, events []neutral.Event) ([]neutral.Event, error) {
	p := readCall(call)
	at := d.find(&p)
	c := &d.calls[at]
	seal := neutral.Seal{}
	if p.signature != "" {
		seal = neutral.Seal{Format: neutral.SealGoogle, Data: p.signature, Hidden: true}
	}
	switch {
	case !c.started && p.name == "":
		if isText(p.arguments) || p.signature != "" {
			return events, errors.New("a call has arguments and no name")
		}
		return events, nil
	case !c.started:
		c.started = true
		if c.id == "" {
			c.id = madeID(d.id, at)
		}
		for i, s := range d.held {
			if s.ID == c.id && !seal.Is() {
				seal, d.held = s, append(d.held[:i:i], d.held[i+1:]...)
				break
			}
		}
		events = append(events, neutral.Event{Kind: neutral.ToolStarted, Tool: at, ID: c.id, Name: p.name, Seal: seal})
	case seal.Is():
		events = append(events, neutral.Event{Kind: neutral.Sealed, Tool: at, Seal: seal})
	}
	switch v := p.arguments; {
	case isText(v):
		events = append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: at, Text: v})
	case len(v) > 0 && v[0] == '{': // of servers that give them as an object
		events = append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: at, Text: neutral.Literal(wire.Quote(string(v)))})
	}
	return events, nil
}

// find is the place of the call that a piece belongs to; a new one where it begins a call. Some servers give several calls
// one index and different ids, and some give them none.
func (d *Decoder) find(p *pieceOfCall) int {
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		if another := p.id != "" && c.id != "" && p.id != c.id; another || p.index != c.index {
			continue
		}
		if p.index >= 0 || p.id != "" || p.name == "" {
			if c.id == "" {
				c.id = p.id
			}
			return i
		}
	}
	d.calls = append(d.calls, callTold{index: p.index, id: p.id})
	return len(d.calls) - 1
}

// madeID is the id of a call that came without one: another in every answer.
func madeID(answer string, at int) string {
	word := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}
	answer = strings.Map(word, answer)
	return fmt.Sprintf("call_%s_%d", answer[max(0, len(answer)-24):], at)
}
