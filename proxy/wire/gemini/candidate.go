package gemini

import (
	"strconv"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// candidate reads the first candidate. finish is its finishReason, nil for none; fresh says whether it says anything.
func (d *Decoder) candidate(list []byte, events *[]neutral.Event) (finish []byte, fresh bool, err error) {
	a := wire.Array(list)
	position := 0
	for text, ok := a.Next(); ok; text, ok = a.Next() {
		var content []byte
		index := strconv.Itoa(position)
		position++
		reason := []byte(nil)
		m := wire.Object(text)
		for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
			switch v := at.In(text); string(name) {
			case "index":
				index = string(v)
			case "content":
				content = v
			case "finishReason":
				if reason, _ = wire.Text(v); string(reason) == unspecified {
					reason = nil
				}
			}
		}
		if index != "0" {
			continue
		}
		before := len(*events)
		err := d.parts(content, events)
		return reason, len(*events) > before, err
	}
	return nil, false, nil
}

// parts reads the parts of a content.
func (d *Decoder) parts(content []byte, events *[]neutral.Event) error {
	m := wire.Object(content)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		if string(name) != "parts" {
			continue
		}
		list := wire.Array(at.In(content))
		for text, ok := list.Next(); ok; text, ok = list.Next() {
			if err := d.part(text, events); err != nil {
				return err
			}
		}
	}
	return nil
}

// part is where the members of a part stand.
type part struct {
	text, call, code, output, blob []byte
	thought                        bool
	signature                      []byte
}

func (d *Decoder) part(text []byte, events *[]neutral.Event) error {
	p := readPart(text)
	seal := d.seal(&p)
	if p.call != nil {
		return d.call(p.call, seal, events)
	}
	switch {
	case p.text != nil && p.thought:
		d.say(neutral.Reasoning, p.text, events)
	case p.text != nil:
		d.say(neutral.Text, p.text, events)
	case p.code != nil:
		d.say(neutral.Text, d.fenced(memberOf(p.code, "language"), memberOf(p.code, "code")), events)
	case p.output != nil:
		d.say(neutral.Text, d.fenced(nil, memberOf(p.output, "output")), events)
	case p.blob != nil:
		d.say(neutral.Text, d.picture(p.blob), events)
	}
	if seal.Is() {
		*events = append(*events, neutral.Event{Kind: neutral.Sealed, Tool: -1, Seal: seal})
	}
	return nil
}

func readPart(text []byte) part {
	var p part
	m := wire.Object(text)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		v := at.In(text)
		switch string(name) {
		case "text":
			if v[0] == '"' {
				p.text = v
			}
		case "thought":
			p.thought = string(v) == "true"
		case "thoughtSignature":
			p.signature, _ = wire.Text(v)
		case "functionCall":
			p.call = object(v)
		case "executableCode":
			p.code = object(v)
		case "codeExecutionResult":
			p.output = object(v)
		case "inlineData":
			p.blob = object(v)
		}
	}
	return p
}

// object is v if it is an object, else nil.
func object(v []byte) []byte {
	if v[0] == '{' {
		return v
	}
	return nil
}

// seal is what a thoughtSignature is to a client: Google's belongs to the call or stands alone, Claude's is over the thought
// word for word.
func (d *Decoder) seal(p *part) neutral.Seal {
	if len(p.signature) == 0 {
		return neutral.Seal{}
	}
	if d.claude && p.call == nil {
		return neutral.Seal{Format: neutral.SealAnthropic, Data: string(p.signature)}
	}
	return neutral.Seal{Format: neutral.SealGoogle, Data: string(p.signature), Hidden: true}
}

func (d *Decoder) say(kind neutral.EventKind, text neutral.Literal, events *[]neutral.Event) {
	if text.Empty() {
		return
	}
	e := neutral.Event{Kind: kind, Tool: -1, Text: text}
	if kind == neutral.Reasoning && d.claude {
		e.Seal.Format = neutral.SealAnthropic
	}
	*events = append(*events, e)
}

// call reads a functionCall, which comes whole.
func (d *Decoder) call(text []byte, seal neutral.Seal, events *[]neutral.Event) error {
	var id, name []byte
	args := []byte("{}")
	m := wire.Object(text)
	for member, at, ok := m.Next(); ok; member, at, ok = m.Next() {
		switch v := at.In(text); string(member) {
		case "id":
			id, _ = wire.Text(v)
		case "name":
			name, _ = wire.Text(v)
		case "args":
			if v[0] == '{' {
				args = v
			}
		case "partialArgs", "willContinue":
			if string(v) != "false" && !wire.Null(v) {
				return errPiecemeal
			}
		}
	}
	if len(name) == 0 {
		return errNameless
	}
	n := len(d.calls)
	callID := string(id)
	if callID == "" {
		callID = d.inventID(n)
	}
	if d.calls[callID] {
		return errTwice
	}
	if d.calls == nil {
		d.calls = map[string]bool{}
	}
	d.calls[callID] = true
	*events = append(*events,
		neutral.Event{Kind: neutral.ToolStarted, Tool: n, ID: callID, Name: string(name), Seal: seal},
		neutral.Event{Kind: neutral.ToolArguments, Tool: n, Text: d.literal(args)})
	return nil
}

// inventID is the id of a call that comes without one. Nothing is drawn by lot: the answer's own id, or the chunk with what
// it counts, makes it unique in a conversation. It need not be known again: with the client's next request it is written at
// the call and its result alike.
func (d *Decoder) inventID(n int) string {
	of := d.id
	if of == "" {
		of = string(d.data)
	}
	return "call_" + digest(of) + "_" + strconv.Itoa(n)
}

// literal is text as a JSON string, until the next chunk.
func (d *Decoder) literal(text []byte) neutral.Literal {
	from := len(d.buf)
	d.buf = append(d.buf, '"')
	d.buf = append(appendInside(d.buf, text), '"')
	return d.buf[from:]
}

// fenced is code, a JSON string, as a block of Markdown.
func (d *Decoder) fenced(language, code neutral.Literal) neutral.Literal {
	if code.Empty() || code[0] != '"' {
		return nil
	}
	from := len(d.buf)
	d.buf = append(d.buf, "\"\\n```"...)
	if string(language) == `"PYTHON"` {
		d.buf = append(d.buf, "python"...)
	}
	d.buf = append(append(d.buf, `\n`...), code.Inner()...)
	d.buf = append(d.buf, "\\n```\\n\""...)
	return d.buf[from:]
}

// picture is inlineData as an image of Markdown.
func (d *Decoder) picture(blob []byte) neutral.Literal {
	kind, data := neutral.Literal(memberOf(blob, "mimeType")), neutral.Literal(memberOf(blob, "data"))
	if kind.Empty() || data.Empty() || kind[0] != '"' || data[0] != '"' {
		return nil
	}
	from := len(d.buf)
	d.buf = append(append(d.buf, `"![](data:`...), kind.Inner()...)
	d.buf = append(append(d.buf, `;base64,`...), data.Inner()...)
	d.buf = append(d.buf, `)"`...)
	return d.buf[from:]
}
