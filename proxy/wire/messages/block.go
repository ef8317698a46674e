package messages

import (
	"fmt"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// blockStart opens a content block. Kinds that nobody asked for, such as those of Anthropic's own tools, are passed over.
func (d *Decoder) blockStart(e *event, events []neutral.Event) ([]neutral.Event, error) {
	if d.block.open {
		return events, fmt.Errorf("%w: content_block_start inside another block", ErrStream)
	}
	d.block = block{open: true, index: string(e.index), tool: -1}
	var b blockMembers
	if err := b.read(e.block); err != nil {
		return events, err
	}
	d.block.kind = b.kind
	switch b.kind {
	case "text":
		events = said(events, neutral.Text, b.text)
	case "thinking":
		events = said(events, neutral.Reasoning, b.text)
		d.block.sealData = text(b.signature)
	case "redacted_thinking":
		if data := text(b.data); data != "" {
			seal := neutral.Seal{Format: neutral.SealAnthropic, Data: data, Hidden: true}
			events = append(events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: seal})
		}
	case "tool_use":
		id, name := text(b.id), text(b.name)
		if id == "" || name == "" {
			return events, fmt.Errorf("%w: a tool_use block without an id or a name", ErrStream)
		}
		d.block.tool = d.calls
		d.calls++
		if len(b.input) > 0 && !emptyObject(b.input) {
			d.block.input = string(b.input)
		}
		events = append(events, neutral.Event{Kind: neutral.ToolStarted, Tool: d.block.tool, ID: id, Name: name})
	}
	return events, nil
}

// blockMembers are those of a content block, whole or at its start.
type blockMembers struct {
	kind                             string
	text                             []byte // of text and thinking
	id, name, input, signature, data []byte
}

func (b *blockMembers) read(block []byte) error {
	m := wire.Object(block)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(block)
		switch string(n) {
		case "type":
			b.kind = text(v)
		case "text", "thinking":
			b.text = v
		case "id":
			b.id = v
		case "name":
			b.name = v
		case "input":
			b.input = v
		case "signature":
			b.signature = v
		case "data":
			b.data = v
		}
	}
	if b.kind == "" {
		return fmt.Errorf("%w: a content block without a type", ErrStream)
	}
	return nil
}

// said appends a text, where it is one and says something. Reasoning is what Anthropic's signature will be over.
func said(events []neutral.Event, kind neutral.EventKind, literal []byte) []neutral.Event {
	if len(literal) <= 2 || literal[0] != '"' {
		return events
	}
	e := neutral.Event{Kind: kind, Tool: -1, Text: literal}
	if kind == neutral.Reasoning {
		e.Seal.Format = neutral.SealAnthropic
	}
	return append(events, e)
}

func emptyObject(text []byte) bool {
	m := wire.Object(text)
	_, _, some := m.Next()
	return !some
}

// blockDelta reads the next piece of the open block.
func (d *Decoder) blockDelta(e *event, events []neutral.Event) ([]neutral.Event, error) {
	if !d.block.open || d.block.index != string(e.index) {
		return events, fmt.Errorf("%w: content_block_delta of a block that is not open", ErrStream)
	}
	var kind, piece []byte
	m := wire.Object(e.delta)
	for n, value, ok := m.Next(); ok; n, value, ok = m.Next() {
		v := value.In(e.delta)
		switch string(n) {
		case "type":
			kind, _ = wire.Text(v)
		case "text", "thinking", "partial_json", "signature":
			piece = v
		}
	}
	wants := ""
	switch string(kind) {
	case "text_delta":
		wants = "text"
	case "thinking_delta", "signature_delta":
		wants = "thinking"
	case "input_json_delta":
		wants = "tool_use"
	default:
		return events, nil // citations, and what the protocol has learned since
	}
	if d.block.kind != wants {
		if known(d.block.kind) {
			return events, fmt.Errorf("%w: %s in a block of type %s", ErrStream, kind, wire.Quote(d.block.kind))
		}
		return events, nil
	}
	switch string(kind) {
	case "text_delta":
		return said(events, neutral.Text, piece), nil
	case "thinking_delta":
		return said(events, neutral.Reasoning, piece), nil
	case "signature_delta":
		d.block.sealData += text(piece)
		return events, nil
	}
	if len(piece) > 2 && piece[0] == '"' {
		d.block.started = true
		events = append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: d.block.tool, Text: piece})
	}
	return events, nil
}

// known reports whether a block is of a kind that becomes events.
func known(kind string) bool {
	return kind == "text" || kind == "thinking" || kind == "redacted_thinking" || kind == "tool_use"
}

// blockStop closes the block: a thought with its seal, a call with its input where no piece of it came.
func (d *Decoder) blockStop(e *event, events []neutral.Event) ([]neutral.Event, error) {
	if !d.block.open || d.block.index != string(e.index) {
		return events, fmt.Errorf("%w: content_block_stop of a block that is not open", ErrStream)
	}
	b := d.block
	d.block = block{}
	switch {
	case b.sealData != "":
		seal := neutral.Seal{Format: neutral.SealAnthropic, Data: b.sealData}
		events = append(events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: seal})
	case b.kind == "tool_use" && !b.started:
		if b.input == "" {
			b.input = "{}"
		}
		events = append(events, neutral.Event{Kind: neutral.ToolArguments, Tool: b.tool, Text: neutral.Literal(wire.Quote(b.input))})
	}
	return events, nil
}
