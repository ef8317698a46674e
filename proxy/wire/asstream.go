package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// AsStream turns a whole, valid answer into the stream that says the same: one chunk and the end marker. Some servers
// answer a streamed request so. Members are renamed and numbered in place; everything else passes byte for byte, but for
// white space between tokens, which an event must not hold.
func AsStream(answer []byte) []byte {
	var edits []Edit
	m := Object(answer)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		switch string(name) {
		case "object":
			if string(value.In(answer)) == `"chat.completion"` {
				edits = append(edits, Edit{value, `"chat.completion.chunk"`})
			}
		case "choices":
			edits = choicesAsDeltas(answer, value, edits)
		}
	}
	var chunk bytes.Buffer
	chunk.WriteString("data: ")
	if json.Compact(&chunk, Splice(nil, answer, edits)) != nil { // a valid answer stays valid
		return nil
	}
	chunk.WriteString("\n\ndata: [DONE]\n\n")
	return chunk.Bytes()
}

// choicesAsDeltas renames each choice's message to delta and numbers its tool calls, which a stream's are known by.
func choicesAsDeltas(answer []byte, at Span, edits []Edit) []Edit {
	a := Array(at.In(answer))
	for {
		choice, ok := a.Next()
		if !ok {
			return edits
		}
		from := at.From + a.c.pos - len(choice)
		m := Object(choice)
		for before := m.c.pos; ; {
			name, value, ok := m.Next()
			if !ok {
				break
			}
			if string(name) == "message" {
				key := bytes.Index(choice[before:value.From], []byte(`"message"`))
				if key >= 0 {
					edits = append(edits, Edit{Span{from + before + key, from + before + key + len(`"message"`)}, `"delta"`})
				}
				edits = toolCallIndexes(answer, Span{from + value.From, from + value.To}, edits)
			}
			before = value.To
		}
	}
}

func toolCallIndexes(answer []byte, at Span, edits []Edit) []Edit {
	message := at.In(answer)
	if len(message) == 0 || message[0] != '{' {
		return edits
	}
	m := Object(message)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) != "tool_calls" {
			continue
		}
		calls := Array(value.In(message))
		for i := 0; ; i++ {
			call, ok := calls.Next()
			if !ok {
				break
			}
			if call[0] != '{' || hasMember(call, "index") {
				continue
			}
			open := at.From + value.From + calls.c.pos - len(call) + 1
			index := `"index":` + strconv.Itoa(i)
			if !emptyObject(call) {
				index += ","
			}
			edits = append(edits, Edit{Span{open, open}, index})
		}
	}
	return edits
}

func hasMember(text []byte, name string) bool {
	m := Object(text)
	for n, _, ok := m.Next(); ok; n, _, ok = m.Next() {
		if string(n) == name {
			return true
		}
	}
	return false
}
