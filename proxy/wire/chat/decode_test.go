package chat

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
)

// conversation is a body with these messages.
func conversation(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

const (
	user  = `{"role":"user","content":"hi"}`
	calls = user + `,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]}`
)

// A body that is wrong or contradicts itself is refused with the member's name, before anything is forwarded.
func TestDecodeRefuses(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		r, err := Decode([]byte(body))
		field, named := errors.AsType[*wire.FieldError](err)
		if !named || r != nil {
			t.Errorf("%s\n\tgot %v, want a field error %q", body, err, want)
			return
		}
		if got := field.Error(); got != want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", body, got, want)
		}
	}
	with := func(members string) string { return `{"messages":[` + user + `],` + members + `}` }
	tool := `"tools":[{"type":"function","function":{"name":"f"}}]`

	f(`{"messages":[]}`, "messages say nothing")
	f(conversation(`{"role":"user","content":""}`), "messages say nothing")
	f(conversation(`"hi"`), "messages[0] must be an object, not a string")
	f(conversation(`{"content":"hi"}`), "messages[0].role is missing")
	f(conversation(`{"role":"robot","content":"hi"}`), "messages[0].role must be one of system, developer, user, assistant, tool, function")
	f(conversation(`{"role":"user"}`), "messages[0].content is missing")
	f(conversation(`{"role":"user","content":7}`), "messages[0].content must be a string or an array, not a number")
	f(conversation(`{"role":"user","content":"a","content":"b"}`), "messages[0].content stands twice in the request body")
	f(conversation(`{"role":"user","content":[{"type":"video_url"}]}`), "messages[0].content[0].type must be one of text, image_url, input_audio, file in a message of this role")
	f(conversation(`{"role":"user","content":[{"type":"text"}]}`), "messages[0].content[0].text is missing")
	f(conversation(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}`), "messages[0].content[0].image_url.url must be an http or https URL, or a data: URL with base64")
	f(conversation(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,a\"b"}}]}`), "messages[0].content[0].image_url.url must hold base64 and nothing else")

	// An image where none is possible.
	image := `[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"https://e/x.png"}}]`
	f(conversation(`{"role":"system","content":`+image+`}`), "messages[0].content[1].type must be one of text in a message of this role")
	f(conversation(user+`,{"role":"assistant","content":`+image+`}`), "messages[1].content[1].type must be one of text, refusal in a message of this role")

	// Calls and results that do not go together.
	f(conversation(user+`,{"role":"tool","tool_call_id":"a","content":"x"}`), "messages[1].tool_call_id answers no call of the assistant's turn before it")
	f(conversation(calls+`,{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"y"}`), "messages[3].tool_call_id answers a call that is answered already")
	f(conversation(calls+`,{"role":"tool","content":"x"}`), "messages[2].tool_call_id is missing or empty")
	f(conversation(user+`,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"a","function":{"name":"f"}}]}`), "messages[1].tool_calls[1] has the id of another call")
	f(conversation(user+`,{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{}}]}`), `messages[1].tool_calls[0].type must be "function": this account's protocol has no other tools of a client's`)
	f(conversation(user+`,{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}`), "messages[1].tool_calls[0].function.arguments must be a string, not an object")

	// Tools.
	f(with(`"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`), "tools[1] has the name of an earlier tool")
	f(with(`"tools":[{"type":"web_search"}]`), `tools[0].type must be "function": this account's protocol has no other tools of a client's`)
	f(with(`"tools":[{"type":"function","name":"f"}]`), "tools[0].function is missing")
	f(with(`"tool_choice":"required"`), "tool_choice asks for a call, but there are no tools")
	f(with(tool+`,"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice names a tool that is not among the tools")
	f(with(tool+`,"tool_choice":{"type":"allowed_tools"}`), `tool_choice.type must be "function": this account's protocol has no other tools of a client's`)
	f(with(tool+`,"functions":[{"name":"g"}]`), "functions cannot stand beside tools, which replace it")

	// Everything else.
	f(with(`"n":2`), "n must be 1: this account's protocol gives one answer")
	f(with(`"audio":{"voice":"alloy"}`), "audio cannot be given: this account's protocol answers in text")
	f(with(`"max_tokens":0`), "max_tokens must be a whole number from 1 on")
	f(with(`"max_tokens":5,"max_completion_tokens":6`), "max_tokens contradicts max_completion_tokens")
	f(with(`"temperature":"hot"`), "temperature must be a number, not a string")
	f(with(`"stop":["a",1]`), "stop[1] must be a string, not a number")
	f(with(`"response_format":{"type":"json_schema"}`), "response_format.json_schema is missing")
	f(with(`"response_format":{"type":"json_schema","json_schema":{"name":"x"}}`), "response_format.json_schema.schema is missing")
	f(with(`"reasoning_effort":"extreme"`), "reasoning_effort must be one of none, minimal, low, medium, high, xhigh, max, default, auto")
	f(with(`"reasoning_effort":"low","reasoning":{"effort":"high"}`), "reasoning.effort contradicts another member that says how much to reason")
	f(with(`"reasoning":{"enabled":false,"max_tokens":5}`), "reasoning is switched off and has tokens to spend")
	f(with(`"seed":1,"seed":2`), "seed stands twice in the request body")
}

// How much to reason is said in many ways.
func TestDecodeReasoning(t *testing.T) {
	f := func(members, want string) {
		t.Helper()
		r, err := Decode([]byte(`{"messages":[` + user + `],` + members + `}`))
		if err != nil {
			t.Errorf("%s: %v", members, err)
			return
		}
		if got := strings.TrimSpace(fmt.Sprintf("%s %d %s", r.Effort, r.ReasoningTokens, strings.Join(r.Others, " "))); got != want {
			t.Errorf("%s: got %q, want %q", members, got, want)
		}
	}
	f(`"reasoning_effort":"none"`, "none 0")
	f(`"reasoning_effort":null`, "0")
	f(`"reasoning_effort":"max"`, "xhigh 0")
	f(`"reasoning":{"effort":"low"},"reasoning_effort":"low"`, "low 0")
	f(`"reasoning":{"enabled":true}`, "medium 0")
	f(`"reasoning":{"enabled":false}`, "none 0")
	f(`"reasoning":{"enabled":true,"max_tokens":2000,"exclude":true}`, "2000 reasoning.exclude")
	f(`"reasoning":{"max_tokens":0}`, "none 0")
	f(`"thinking":{"type":"enabled","budget_tokens":2000}`, "2000")
	f(`"thinking":{"type":"adaptive"},"reasoning_effort":"high"`, "high 0")
	f(`"thinking":{"type":"disabled"}`, "none 0")
	f(`"thinking":{"type":"enabled"}`, "medium 0")
}

// The list of what was left out becomes a header: it has an end, and says so.
func TestDecodeBoundsOthers(t *testing.T) {
	var members strings.Builder
	for i := range 100 {
		fmt.Fprintf(&members, `,"x%d":1`, i)
	}
	r, err := Decode([]byte(`{"messages":[` + user + `]` + members.String() + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Others, " "); !strings.HasPrefix(got, "x0 x1 ") || !strings.HasSuffix(got, " x31 and-more") {
		t.Errorf("others: %s", got)
	}
}

// Bodies come from anywhere. Decode never panics, and what it lets through names only members that may stand in a header.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		conversation(user), conversation(calls + `,{"role":"tool","tool_call_id":"a","content":[]}`),
		`{"messages":[{"role":"assistant","content":"x","reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.encrypted","data":"d","id":"i"}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"tools":[{"function":{"name":"f","parameters":{}}}],"x\ny":1}`,
		`{"messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}],"functions":[{"name":"f"}],"function_call":{"name":"f"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := Decode(body)
		if err != nil {
			return
		}
		if len(r.Turns) == 0 {
			t.Error("let a conversation through that says nothing")
		}
		for _, turn := range r.Turns {
			if len(turn.Parts) == 0 || turn.Role == 0 || turn.Path == "" {
				t.Errorf("a turn without a part, a role or a place: %+v", turn)
			}
		}
		for _, o := range r.Others {
			if strings.ContainsFunc(o, func(c rune) bool { return c <= ' ' || c > '~' }) {
				t.Errorf("%q may not stand in a header", o)
			}
		}
	})
}
