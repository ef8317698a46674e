package responses

import (
	"bytes"

	"hermes-hub/proxy/wire"
)

// unknownToCodex are parameters of the API that the Codex backend refuses ("Unsupported parameter: …"). What else a client
// sends is passed on: Codex's own client sends members that the API does not have.
var unknownToCodex = []string{
	"max_output_tokens", "max_tool_calls", "temperature", "top_p", "top_logprobs", "frequency_penalty", "presence_penalty",
	"user", "metadata", "safety_identifier", "prompt_cache_retention", "truncation", "context_management", "background",
}

// ForCodex appends the edits that make a client's own Responses body one that the Codex backend takes, and returns the
// members that had to go. Besides, it streams, keeps nothing, has instructions, and an input that is a list without the
// system's messages, which are the developer's there. The body must be one that wire.ReadRequest has taken; that nothing is
// stored need not be said again.
func ForCodex(body []byte, edits []wire.Edit) (all []wire.Edit, dropped []string) {
	edits, dropped = wire.Without(body, unknownToCodex, edits)
	told := [...]struct {
		name, value string
		there       bool
	}{{name: "store", value: "false"}, {name: "stream", value: "true"}, {name: "instructions", value: codexInstructions}}
	m := wire.Object(body)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(body)
		if string(name) == "input" {
			edits = codexInput(body, value, edits)
		}
		for i := range told {
			t := &told[i]
			if string(name) != t.name {
				continue
			}
			t.there = true
			said := string(v) == t.value
			if t.name == "instructions" {
				said = !wire.Null(v) && string(v) != `""`
			}
			if !said {
				edits = append(edits, wire.Edit{At: value, With: t.value})
			}
		}
	}
	first := bytes.IndexByte(body, '{') + 1
	for _, t := range told {
		if !t.there {
			edits = append(edits, wire.Edit{At: wire.Span{From: first, To: first}, With: `"` + t.name + `":` + t.value + ","})
		}
	}
	return wire.Sorted(edits), dropped
}

// codexInput makes a text a list, and the system a developer.
func codexInput(body []byte, at wire.Span, edits []wire.Edit) []wire.Edit {
	input := at.In(body)
	if input[0] == '"' {
		return append(edits,
			wire.Edit{At: wire.Span{From: at.From, To: at.From}, With: `[{"type":"message","role":"user","content":[{"type":"input_text","text":`},
			wire.Edit{At: wire.Span{From: at.To, To: at.To}, With: `}]}]`})
	}
	for _, item := range wire.ElementsOf(body, at) {
		if item.In(body)[0] != '{' {
			continue
		}
		m := wire.Object(item.In(body))
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			if string(name) == "role" && string(value.In(item.In(body))) == `"system"` {
				edits = append(edits, wire.Edit{
					At: wire.Span{From: item.From + value.From, To: item.From + value.To}, With: `"developer"`,
				})
			}
		}
	}
	return edits
}
