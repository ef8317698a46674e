package chat

import (
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// openCall is a call that may still be answered.
type openCall struct {
	id, name string
	answered bool
}

// calls reads the calls of an assistant's message. They replace the open ones, unless the message before was the
// assistant's too: some clients split parallel calls over several messages.
func (b *body) calls(m *members.Object) []neutral.Part {
	var calls []neutral.Part
	list, some := m.List("tool_calls")
	for i := 0; some; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		c := b.Object(members.At(m.Field("tool_calls"), i), text)
		calls = append(calls, b.call(&c))
	}
	if c, ok := m.Child("function_call"); ok {
		p := b.called(&c)
		p.ID, p.Path = "function_call_"+strings.Trim(m.Path, "mesag[]"), c.Path
		calls = append(calls, p)
	}
	if len(calls) > 0 && (b.spoken || b.open == nil) {
		b.open, b.function, b.spoken = make(map[string]*openCall, len(calls)), nil, false
	}
	for _, c := range calls {
		if b.open[c.ID] != nil {
			b.Refuse(c.Path, "has the id of another call")
		}
		open := &openCall{id: c.ID, name: c.Name}
		b.open[c.ID] = open
		if m.Peek("function_call") != nil {
			b.function = open
		}
	}
	return calls
}

// call reads one of tool_calls.
func (b *body) call(c *members.Object) neutral.Part {
	id := c.Needed("id")
	b.onlyFunctions(c)
	c.Take("index") // of a stream, left there by clients that send its pieces back
	f, ok := c.Child("function")
	if !ok {
		b.Refuse(c.Field("function"), "is missing")
	}
	p := b.called(&f)
	p.ID, p.Path = id, c.Path
	p.Seal = b.googleSeal(c)
	p.Cache = b.cached(c)
	c.Rest()
	return p
}

// called reads the name and the arguments of a call.
func (b *body) called(f *members.Object) neutral.Part {
	arguments, _ := wire.Text(f.Literal("arguments"))
	p := neutral.Part{Kind: neutral.ToolCallPart, Name: f.Needed("name"), Arguments: arguments}
	f.Rest()
	return p
}

// result reads a tool's message.
func (b *body) result(m *members.Object) neutral.Part {
	p := neutral.Part{Kind: neutral.ToolResultPart, Path: m.Path, Result: b.content(m, resultParts)}
	b.needContent(m)
	p.Name = m.Text("name")
	if failed := m.Flag("is_error"); failed != nil {
		p.IsError = *failed
	}
	for i := range p.Result { // a marker inside is one behind the result
		p.Cache = p.Cache || p.Result[i].Cache
		p.Result[i].Cache = false
	}
	field, call := "tool_call_id", (*openCall)(nil)
	if m.Text("role") == "function" {
		field = "name"
		if name := m.Needed("name"); b.function != nil && b.function.name == name {
			call = b.function
		}
	} else {
		call = b.open[m.Needed("tool_call_id")]
	}
	switch {
	case call == nil:
		b.Refuse(m.Field(field), "answers no call of the assistant's turn before it")
		return p
	case call.answered:
		b.Refuse(m.Field(field), "answers a call that is answered already")
	}
	call.answered = true
	p.ID, p.Name = call.id, call.name
	return p
}
