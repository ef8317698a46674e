package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
)

// Request is one kind of call that Hermes makes.
type Request struct {
	Name    string
	Stream  bool
	members map[string]any
}

// Body is the request's JSON, streamed or not, with or without the wish for token counts.
func (r Request) Body(stream, usage bool) []byte {
	m := maps.Clone(r.members)
	if stream {
		m["stream"] = true
		if usage {
			m["stream_options"] = map[string]any{"include_usage": true}
		}
	}
	b, err := json.Marshal(m)
	if err != nil { // maps, strings and numbers marshal always
		panic(err)
	}
	return b
}

// Requests are the kinds of chat calls that Hermes makes, for the model: a turn with its forty tools, one without, one
// with thinking off, one over a history of everything that a history may hold, and an auxiliary call that is not streamed.
func Requests(model string) []Request {
	user := message("user", "What changed in the repository since yesterday?")
	system := message("developer", "You are Hermes. Work step by step.")
	of := func(name string, stream bool, members map[string]any) Request {
		members["model"] = model
		return Request{name, stream, members}
	}
	return []Request{
		of("tools", true, map[string]any{"messages": []any{system, user}, "tools": tools(40), "max_completion_tokens": 8192}),
		of("plain", true, map[string]any{"messages": []any{system, user}}),
		of("thinking off", true, map[string]any{"messages": []any{system, user}, "tools": tools(40), "reasoning_effort": "none"}),
		of("history", true, map[string]any{"messages": history(), "tools": tools(40), "reasoning_effort": "high"}),
		of("auxiliary", false, map[string]any{"messages": []any{message("user", "Give this conversation a title.")}, "temperature": 0.3}),
	}
}

func message(role, content string) map[string]any {
	return map[string]any{"role": role, "content": content}
}

// tools are as many schemas as an agent brings, some thousand tokens of them.
func tools(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{"type": "function", "function": map[string]any{
			"name":        fmt.Sprintf("tool_%02d", i),
			"description": "Reads or changes one thing of the workspace. Its arguments are checked before it runs, and its result is a short text.",
			"parameters": map[string]any{
				"type": "object", "required": []string{"path"}, "additionalProperties": false,
				"properties": map[string]any{
					"path":  map[string]any{"type": "string", "description": "Where, from the root of the workspace."},
					"limit": map[string]any{"type": "integer", "minimum": 1, "maximum": 2000},
					"mode":  map[string]any{"type": "string", "enum": []string{"read", "write", "append"}},
				},
			},
		}}
	}
	return out
}

// history is a conversation in the middle: reasoning that is sent back, two tool calls at once, and a tool's result as a
// list of parts.
func history() []any {
	call := func(id, name string) map[string]any {
		return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": `{"path":"README.md","limit":20}`}}
	}
	return []any{
		message("developer", "You are Hermes. Work step by step."),
		message("user", "Compare the two files."),
		map[string]any{
			"role": "assistant", "content": "", "reasoning_content": "Both must be read first.",
			"reasoning_details": []any{map[string]any{"type": "reasoning.text", "text": "Both must be read first.", "index": 0, "format": "unknown"}},
			"tool_calls":        []any{call("call_1", "tool_00"), call("call_2", "tool_01")},
		},
		map[string]any{"role": "tool", "tool_call_id": "call_1", "content": "# One"},
		map[string]any{"role": "tool", "tool_call_id": "call_2", "content": []any{
			map[string]any{"type": "text", "text": "# Two"},
			map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64,iVBORw0KGgo="}},
		}},
		map[string]any{"role": "assistant", "content": "They differ in one word.", "reasoning_content": " "},
		message("user", "Which one?"),
	}
}
