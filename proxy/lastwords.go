package proxy

import (
	"strings"
	"unicode/utf8"

	"hermes-hub/proxy/wire"
)

// longestInput is how many bytes of the last words of the user are kept.
const longestInput = 16 << 10

// lastWords are the last words of the user in a request of any protocol.
func lastWords(body []byte) string {
	m := wire.Object(body)
	var said []byte
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		switch string(name) {
		case "messages", "input":
			said = lastOf(at.In(body))
		case "prompt":
			if v := at.In(body); v[0] == '"' || v[0] == '[' { // a template has none
				said = v
			}
		}
	}
	var b strings.Builder
	spell(said, &b)
	return clip(b.String(), longestInput)
}

// lastOf is what the user said last: a conversation may be one text.
func lastOf(conversation []byte) (said []byte) {
	if conversation[0] == '"' {
		return conversation
	}
	turns := wire.Array(conversation)
	for turn, ok := turns.Next(); ok; turn, ok = turns.Next() {
		var role, content []byte
		m := wire.Object(turn)
		for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
			switch string(name) {
			case "role":
				role, _ = wire.Text(at.In(turn))
			case "content":
				content = at.In(turn)
			}
		}
		if string(role) == "user" && content != nil {
			said = content
		}
	}
	return said
}

// spell writes the text of a content: a string, or parts of which some are text.
func spell(content []byte, b *strings.Builder) {
	if text, ok := wire.Text(content); ok {
		b.Write(text)
		return
	}
	parts := wire.Array(content)
	for part, ok := parts.Next(); ok && b.Len() < longestInput; part, ok = parts.Next() {
		text := part
		m := wire.Object(part)
		for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
			if string(name) == "text" {
				text = at.In(part)
			}
		}
		if words, ok := wire.Text(text); ok {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.Write(words)
		}
	}
}

// clip cuts a text to at most so many bytes, at the boundary of a rune.
func clip(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	for longest > 0 && !utf8.RuneStart(text[longest]) {
		longest--
	}
	return text[:longest]
}
