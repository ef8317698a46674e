package gemini

import (
	"testing"

	"hermes-hub/proxy/wire/neutral"
)

// A request that contradicts itself is refused in the client's words, wherever it was read.
func TestContradictions(t *testing.T) {
	text := func(s string) []neutral.Part {
		return []neutral.Part{{Kind: neutral.TextPart, Text: neutral.Literal(s)}}
	}
	user := neutral.Turn{Role: neutral.User, Path: "messages[0]", Parts: text(`"x"`)}
	call := func(id string) neutral.Part {
		return neutral.Part{Kind: neutral.ToolCallPart, ID: id, Name: "a", Path: "messages[1].tool_calls[" + id + "]"}
	}
	calls := func(parts ...neutral.Part) neutral.Turn {
		return neutral.Turn{Role: neutral.Assistant, Path: "messages[1]", Parts: parts}
	}
	result := func(id, path string) neutral.Turn {
		return neutral.Turn{Role: neutral.ToolRole, Path: path, Parts: []neutral.Part{{Kind: neutral.ToolResultPart, ID: id, Path: path}}}
	}
	f := func(want string, r neutral.Request) {
		t.Helper()
		_, err := Encode(&r, neutral.Target{Model: "gemini-3-flash-preview"})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	f("messages say nothing", neutral.Request{})
	f("messages[3].tool_call_id answers a call that is answered already",
		neutral.Request{Turns: []neutral.Turn{user, calls(call("0")), result("0", "messages[2]"), result("0", "messages[3]")}})
	f("messages[2].tool_call_id answers no call of the assistant's turn before it",
		neutral.Request{Turns: []neutral.Turn{user, calls(call("0")), result("1", "messages[2]")}})
	f("messages[1].tool_call_id answers no call of the assistant's turn before it",
		neutral.Request{Turns: []neutral.Turn{user, result("0", "messages[1]")}})
	f("messages[1].tool_calls[0] has no result: this account's protocol wants one for every call",
		neutral.Request{Turns: []neutral.Turn{user, calls(call("0"))}})
	f("messages[1].tool_calls[1] has no result: this account's protocol wants one for every call",
		neutral.Request{Turns: []neutral.Turn{user, calls(call("0"), call("1")), result("0", "messages[2]")}})
	f("messages[1].tool_calls[0] has the id of another call",
		neutral.Request{Turns: []neutral.Turn{user, calls(call("0"), call("0")), result("0", "messages[2]")}})
	f("tool_choice names a tool that is not among the tools",
		neutral.Request{Turns: []neutral.Turn{user}, Tools: []neutral.Tool{{Name: "a"}}, Choice: neutral.Choice{Mode: neutral.ChoiceTool, Name: "b"}})
	f("tool_choice asks for a call, but there are no tools",
		neutral.Request{Turns: []neutral.Turn{user}, Choice: neutral.Choice{Mode: neutral.ChoiceAny}})
	f("response_format.json_schema.schema must be an object, not a number",
		neutral.Request{Turns: []neutral.Turn{user}, Format: neutral.Format{Kind: neutral.FormatSchema, Schema: []byte("1")}})
}
