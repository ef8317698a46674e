package messages

import (
	"encoding/base64"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// The lines that are written into the system where the protocol cannot say a thing otherwise. The second is what Anthropic
// documents in place of a forced call.
const (
	jsonLine = "Respond with one JSON object and nothing else: no text around it, no code fence."
	toolLine = "Respond by calling the tool %s."
	anyLine  = "Respond by calling one of the tools."
)

// system writes what stands in front of the conversation.
func (e *encoder) system(c *conversation) {
	lines := e.lines()
	if len(c.system)+len(lines) == 0 {
		return
	}
	e.member("system")
	sep := "["
	for _, p := range c.system {
		e.add(sep)
		e.text(p.Text)
		e.end(p.Cache)
		sep = ","
	}
	for _, l := range lines {
		e.add(sep)
		e.text(neutral.Literal(wire.Quote(l)))
		e.end(false)
		sep = ","
	}
	e.add("]")
}

// lines are what the hub has to say in words.
func (e *encoder) lines() []string {
	var lines []string
	if e.r.Format.Kind == neutral.FormatJSON {
		lines = append(lines, jsonLine)
	}
	if !e.m.forced {
		switch e.r.Choice.Mode {
		case neutral.ChoiceTool:
			lines = append(lines, strings.Replace(toolLine, "%s", e.r.Choice.Name, 1))
		case neutral.ChoiceAny:
			lines = append(lines, anyLine)
		}
	}
	return lines
}

// message writes one turn.
func (e *encoder) message(m *message) {
	role := "user"
	if m.assistant {
		role = "assistant"
		e.names = map[string]string{}
	}
	e.add(`{"role":"` + role + `","content":[`)
	for i, p := range m.results {
		if i > 0 {
			e.add(",")
		}
		e.result(p)
	}
	for i, p := range m.parts {
		if i+len(m.results) > 0 {
			e.add(",")
		}
		e.block(p)
	}
	e.add("]}")
}

// end writes the cache mark of a block, unless it is one too many, and closes the block.
func (e *encoder) end(cache bool) {
	if cache {
		if e.marks > 0 {
			e.marks--
			e.drop("cache_control")
		} else {
			e.add(`,"cache_control":{"type":"ephemeral"}`)
		}
	}
	e.add("}")
}

// block writes one part as a block, and ends it.
func (e *encoder) block(p *neutral.Part) {
	cache := p.Cache
	switch p.Kind {
	case neutral.TextPart, neutral.RefusalPart:
		e.text(p.Text)
	case neutral.ImagePart:
		e.image(p)
	case neutral.FilePart:
		e.document(p)
	case neutral.ReasoningPart:
		e.thought(p)
		cache = false // refused there
	case neutral.ToolCallPart:
		e.call(p)
	default:
		e.refuse(p.Path, "is of a kind that this account's protocol does not have")
	}
	e.end(cache)
}

func (e *encoder) text(text neutral.Literal) {
	e.add(`{"type":"text","text":`)
	e.out = append(e.out, text...)
}

// thought writes a thinking block: signed, redacted, or, for models that sign none, without a signature.
func (e *encoder) thought(p *neutral.Part) {
	if p.Seal.Hidden {
		e.add(`{"type":"redacted_thinking","data":`)
		e.quote(p.Seal.Data)
		return
	}
	e.add(`{"type":"thinking","thinking":`)
	if p.Text == nil {
		e.add(`""`)
	}
	e.out = append(e.out, p.Text...)
	if p.Seal.Is() && p.Seal.Format == neutral.SealAnthropic {
		e.add(`,"signature":`)
		e.quote(p.Seal.Data)
	}
}

// call writes a tool_use block, whose input is an object.
func (e *encoder) call(p *neutral.Part) {
	if !validName(p.Name, longestName) {
		e.refuse(p.Path+".function.name", nameRule)
	}
	e.add(`{"type":"tool_use","id":"`)
	e.add(e.id(p.ID))
	e.add(`","name":`)
	e.quote(p.Name)
	e.add(`,"input":`)
	switch arguments := strings.TrimSpace(string(p.Arguments)); {
	case arguments == "":
		e.add("{}")
	case isObject(p.Arguments):
		e.add(arguments)
	default:
		e.add(`{"arguments":`)
		e.quote(string(p.Arguments))
		e.add("}")
	}
}

// isObject reports whether text is one JSON object.
func isObject(text []byte) bool {
	m := wire.Object(text)
	for _, _, ok := m.Next(); ok; _, _, ok = m.Next() {
	}
	return m.Err() == nil
}

// result writes a tool_result block, and ends it.
func (e *encoder) result(p *neutral.Part) {
	id, made := e.names[p.ID]
	if !made {
		e.refuse(p.Path, "answers no call of the assistant's turn before it")
	}
	e.add(`{"type":"tool_result","tool_use_id":"`)
	e.add(id)
	e.add(`"`)
	sep := `,"content":[`
	for i := range p.Result {
		r := &p.Result[i]
		if r.Kind == neutral.TextPart && blank(r.Text) {
			continue
		}
		e.add(sep)
		e.block(r)
		sep = ","
	}
	if sep == "," {
		e.add("]")
	}
	if p.IsError {
		e.add(`,"is_error":true`)
	}
	e.end(p.Cache)
}

// image writes an image block.
func (e *encoder) image(p *neutral.Part) {
	m := &p.Media
	if m.Detail != "" && m.Detail != "auto" {
		e.drop("messages[].content[].image_url.detail")
	}
	field := p.Path + ".image_url"
	if m.URL != "" {
		e.source("image", field, m.URL)
		return
	}
	switch m.Type {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	case "image/jpg":
		m = &neutral.Media{Type: "image/jpeg", Data: m.Data}
	default:
		e.refuse(field, "must be a jpeg, png, gif or webp image for this account")
	}
	if m.Data == "" {
		e.refuse(field, "holds no image that this account could read")
	}
	e.data("image", m.Type, m.Data)
}

// source writes a block whose content the API fetches.
func (e *encoder) source(kind, field, url string) {
	if !strings.HasPrefix(url, "https://") {
		e.refuse(field, "must be an https URL, or a data: URL with base64, for this account")
	}
	e.add(`{"type":"` + kind + `","source":{"type":"url","url":`)
	e.quote(url)
	e.add("}")
}

func (e *encoder) data(kind, mediaType, data string) {
	e.add(`{"type":"` + kind + `","source":{"type":"base64","media_type":`)
	e.quote(mediaType)
	e.add(`,"data":`)
	e.quote(data)
	e.add("}")
}

// document writes a file.
func (e *encoder) document(p *neutral.Part) {
	m, field := &p.Media, p.Path+".file"
	switch {
	case m.URL != "":
		e.source("document", field, m.URL)
	case m.Type == "application/pdf" && m.Data != "":
		e.data("document", m.Type, m.Data)
	case m.Type == "text/plain" && m.Data != "":
		text, err := base64.StdEncoding.DecodeString(m.Data)
		if err != nil {
			e.refuse(field, "must hold base64")
		}
		e.add(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":`)
		e.quote(string(text))
		e.add("}")
	default:
		e.refuse(field, "must be a PDF or plain text, as base64 in file_data, for this account")
	}
	if p.Name != "" {
		e.add(`,"title":`)
		e.quote(p.Name)
	}
}
