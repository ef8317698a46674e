package chat

import (
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// turns reads the messages.
func (b *body) turns(o *members.Object, r *neutral.Request) {
	list, _ := o.List("messages") // an array: the body was read before
	for i := 0; ; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		m := b.Object(members.At("messages", i), text)
		turn := neutral.Turn{Path: m.Path}
		b.turn(&m, &turn)
		if b.cached(&m) {
			mark(turn.Parts)
		}
		m.Rest()
		if len(turn.Parts) > 0 {
			b.spoken = b.spoken || turn.Role != neutral.Assistant
			r.Turns = append(r.Turns, turn)
		}
	}
	if len(r.Turns) == 0 {
		b.Refuse("messages", "say nothing")
		return
	}
	if b.cached(o) { // Anthropic's automatic caching: up to the last part
		mark(r.Turns[len(r.Turns)-1].Parts)
	}
}

// mark asks to cache the conversation up to the last of the parts.
func mark(parts []neutral.Part) {
	if len(parts) > 0 {
		parts[len(parts)-1].Cache = true
	}
}

// turn reads one message by its role.
func (b *body) turn(m *members.Object, turn *neutral.Turn) {
	switch m.OneOf("role", "system", "developer", "user", "assistant", "tool", "function") {
	case "system", "developer":
		turn.Role, turn.Name = neutral.System, m.Text("name")
		turn.Parts = b.content(m, systemParts)
		b.needContent(m)
	case "user":
		turn.Role, turn.Name = neutral.User, m.Text("name")
		turn.Parts = b.content(m, userParts)
		b.needContent(m)
	case "assistant":
		turn.Role, turn.Name = neutral.Assistant, m.Text("name")
		turn.Parts = b.assistant(m)
	case "tool", "function":
		turn.Role = neutral.ToolRole
		turn.Parts = []neutral.Part{b.result(m)}
	default:
		b.Refuse(m.Field("role"), "is missing")
	}
}

// needContent refuses a message without content. An empty one says nothing, which is allowed.
func (b *body) needContent(m *members.Object) {
	if v := m.Peek("content"); v == nil || string(v) == "null" {
		b.Refuse(m.Field("content"), "is missing")
	}
}

// assistant reads what the model said: its thoughts, in front of what they led to, then text and calls.
func (b *body) assistant(m *members.Object) []neutral.Part {
	said := b.content(m, assistantParts)
	if refusal := m.Literal("refusal"); !refusal.Empty() {
		said = append(said, neutral.Part{Kind: neutral.RefusalPart, Text: refusal, Path: m.Field("refusal")})
	}
	calls := b.calls(m)
	m.Take("annotations") // of an answer; nothing to send back
	return append(append(b.thoughts(m, calls), said...), calls...)
}
