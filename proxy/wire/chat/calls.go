package chat

import (
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// openCall is a call that may still be answered.
type openCall struct {
	id, name string
	answered bool
}

// calls reads the calls of an assistant's message. They replace the open ones, unless the message before was the
// assistant's too: some clients split parallel calls over several messages.
func (b *body) calls(m *object) []neutral.Part {
	var calls []neutral.Part
	list, some := m.list("tool_calls")
	for i := 0; some; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		c := b.object(at(m.field("tool_calls"), i), text)
		calls = append(calls, b.call(&c))
	}
	if c, ok := m.child("function_call"); ok {
		p := b.called(&c)
		p.ID, p.Path = "function_call_"+strings.Trim(m.path, "mesag[]"), c.path
		calls = append(calls, p)
	}
	if len(calls) > 0 && (b.spoken || b.open == nil) {
		b.open, b.function, b.spoken = make(map[string]*openCall, len(calls)), nil, false
	}
	for _, c := range calls {
		if b.open[c.ID] != nil {
			b.refuse(c.Path, "has the id of another call")
		}
		open := &openCall{id: c.ID, name: c.Name}
		b.open[c.ID] = open
		if m.peek("function_call") != nil {
			b.function = open
		}
	}
	return calls
}

// call reads one of tool_calls.
func (b *body) call(c *object) neutral.Part {
	id := c.needed("id")
	b.onlyFunctions(c)
	c.take("index") // of a stream, left there by clients that send its pieces back
	f, ok := c.child("function")
	if !ok {
		b.refuse(c.field("function"), "is missing")
	}
	p := b.called(&f)
	p.ID, p.Path = id, c.path
	p.Seal = b.googleSeal(c)
	p.Cache = b.cached(c)
	c.rest()
	return p
}

// called reads the name and the arguments of a call.
func (b *body) called(f *object) neutral.Part {
	arguments, _ := wire.Text(f.literal("arguments"))
	p := neutral.Part{Kind: neutral.ToolCallPart, Name: f.needed("name"), Arguments: arguments}
	f.rest()
	return p
}

// result reads a tool's message.
func (b *body) result(m *object) neutral.Part {
	p := neutral.Part{Kind: neutral.ToolResultPart, Path: m.path, Result: b.content(m, resultParts)}
	b.needContent(m)
	p.Name = m.text("name")
	if failed := m.flag("is_error"); failed != nil {
		p.IsError = *failed
	}
	for i := range p.Result { // a marker inside is one behind the result
		p.Cache = p.Cache || p.Result[i].Cache
		p.Result[i].Cache = false
	}
	field, call := "tool_call_id", (*openCall)(nil)
	if m.text("role") == "function" {
		field = "name"
		if name := m.needed("name"); b.function != nil && b.function.name == name {
			call = b.function
		}
	} else {
		call = b.open[m.needed("tool_call_id")]
	}
	switch {
	case call == nil:
		b.refuse(m.field(field), "answers no call of the assistant's turn before it")
		return p
	case call.answered:
		b.refuse(m.field(field), "answers a call that is answered already")
	}
	call.answered = true
	p.ID, p.Name = call.id, call.name
	return p
}
