package simulator_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// speaker is a client of one protocol.
type speaker struct {
	client
	path   string
	header http.Header
}

var messagesHeader = http.Header{"X-Api-Key": {"sk-a"}, "Anthropic-Version": {"2023-06-01"}}

// say sends the body to the speaker's path, with its header changed, and reads the answer.
func (s speaker) say(t *testing.T, body string, change ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req := s.request(t.Context(), t, body)
	req.URL.Path, req.URL.RawQuery, _ = strings.Cut(s.path, "?")
	req.Header = http.Header{"Content-Type": {"application/json"}}
	maps.Copy(req.Header, s.header)
	for _, c := range change {
		c(req)
	}
	resp, got, err := s.do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(got)
}

// member is a member of a JSON by its path.
func member(body, path string) string { return simulator.Call{Body: []byte(body)}.Member(path) }

// inMemory is a speaker to accounts in memory.
func inMemory(path string, header http.Header, accounts ...simulator.Account) speaker {
	p := simulator.New(accounts...)
	return speaker{client{p, p, "http://simulator/v1"}, path, header}
}

// TestMessagesRefusals proves that Messages refuses what Anthropic refuses, in its words (P18).
func TestMessagesRefusals(t *testing.T) {
	claude := simulator.Account{Name: "a", Key: "sk-a"}
	c := inMemory("/v1/messages", messagesHeader, claude)
	f := func(body, want string) {
		t.Helper()
		body = strings.ReplaceAll(body, "HI", `{"role":"user","content":"hi"}`)
		resp, got := c.say(t, body)
		text := "ok"
		if resp.StatusCode != 200 {
			text = resp.Status[:3] + " " + member(got, "error.type") + " " + member(got, "error.message")
		}
		if text != want && text != "400 invalid_request_error "+want {
			t.Errorf("%s\ngot  %s\nwant %s", body, text, want)
		}
		if resp.StatusCode != 200 && member(got, "request_id") != resp.Header.Get("Request-Id") {
			t.Errorf("the refusal is %s, its header %v: want one id", got, resp.Header)
		}
	}
	// with is a whole body with further members; turns is one with these messages.
	with := func(members, want string) {
		t.Helper()
		f(`{"model":"m","max_tokens":2000,"messages":[HI],`+members+`}`, want)
	}
	turns := func(messages, want string) {
		t.Helper()
		f(`{"model":"m","max_tokens":2000,"messages":[`+messages+`]}`, want)
	}

	f(`{"model":`, "The request body is not valid JSON: unexpected character: line 1 column 1 (char 0)")
	f(`[]`, ": Input should be a valid dictionary")
	f(`{"messages":[HI],"max_tokens":1}`, "model: Field required")
	f(`{"model":"","messages":[HI],"max_tokens":1}`, "model: String should have at least 1 character")
	f(`{"model":"m","messages":[HI]}`, "max_tokens: Field required")
	f(`{"model":"m","messages":[HI],"max_tokens":"9"}`, "max_tokens: Input should be a valid integer")
	f(`{"model":"m","messages":[HI],"max_tokens":1.5}`, "max_tokens: Input should be a valid integer")
	f(`{"model":"m","messages":[HI],"max_tokens":0}`, "max_tokens: Input should be greater than or equal to 1")
	f(`{"model":"claude-sonnet-4-5","messages":[HI],"max_tokens":64001}`, "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5")
	f(`{"model":"m","max_tokens":1}`, "messages: Field required")
	f(`{"model":"m","max_tokens":1,"messages":[]}`, "messages: at least one message is required")

	with(`"stream":false`, "ok")
	with(`"max_completion_tokens":5`, "max_completion_tokens: Extra inputs are not permitted")
	with(`"stream_options":{"include_usage":true}`, "stream_options: Extra inputs are not permitted")
	with(`"reasoning_effort":"low"`, "reasoning_effort: Extra inputs are not permitted")
	with(`"metadata":{"user_id":"u","session":"s"}`, "metadata.session: Extra inputs are not permitted")
	with(`"stop_sequences":["\n"]`, "stop_sequences: each stop sequence must contain non-whitespace")
	with(`"temperature":1.2`, "temperature: Input should be less than or equal to 1")
	with(`"temperature":-1`, "temperature: Input should be greater than or equal to 0")
	with(`"top_p":7`, "top_p: Input should be less than or equal to 1")
	with(`"top_k":-1`, "top_k: Input should be greater than or equal to 0")
	f(`{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[HI],"temperature":1,"top_p":1}`, "`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	f(`{"model":"claude-opus-4-7","max_tokens":9,"messages":[HI],"temperature":0}`, "`temperature` is deprecated for this model.")
	with(`"system":[{"type":"text","text":""}]`, "system: text content blocks must be non-empty")
	with(`"system":[{"type":"image","source":{}}]`, "system.0.type: Input should be 'text'")
	with(`"system":["be brief"]`, "system.0: Input should be a valid dictionary")
	with(`"output_config":{"effort":"minimal"}`, "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	with(`"output_config":{"format":{"type":"json_object"}}`, "output_config.format.type: Input should be 'json_schema'")
	with(`"output_config":{"format":{"type":"json_schema"}}`, "output_config.format.schema: Field required")
	with(`"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`, "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	with(`"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":true}}}`, "output_config.format.schema: For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false")
	with(`"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer","minimum":1}}}}}`, "output_config.format.schema: For 'integer' type, property 'minimum' is not supported")

	turns(`{"role":"system","content":"x"},HI`, `messages: Unexpected role "system". The Messages API accepts a top-level `+"`system`"+` parameter, not "system" as an input message role.`)
	turns(`HI,{"role":"system","content":"x"}`, `messages: Unexpected role "system". The Messages API accepts a top-level `+"`system`"+` parameter, not "system" as an input message role.`)
	turns(`HI,{"role":"tool","content":"x"}`, `messages: Unexpected role "tool". Allowed roles are "user" or "assistant".`)
	turns(`{"role":"assistant","content":"x"},HI`, `messages: first message must use the "user" role`)
	turns(`{"role":"user","content":""}`, "messages.0: all messages must have non-empty content except for the optional final assistant message")
	turns(`{"role":"user","content":" "}`, "messages: text content blocks must contain non-whitespace text")
	turns(`{"role":"user","content":[{"type":"text","text":""}]}`, "messages: text content blocks must be non-empty")
	turns(`{"role":"user","content":null}`, "messages.0.content: Input should be a valid list")
	turns(`{"role":"user","content":"x","name":"bob"}`, "messages.0.name: Extra inputs are not permitted")
	turns(`{"role":"user","content":[{"type":"text","text":"x","index":0}]}`, "messages.0.content.0.text.index: Extra inputs are not permitted")
	turns(`{"role":"user","content":[{"text":"x"}]}`, "messages.0.content.0.type: Field required")
	turns(`HI,{"role":"assistant","content":"x "}`, "messages: final assistant content cannot end with trailing whitespace")
	turns(`HI,{"role":"assistant","content":"x"}`, "ok")
	turns(`HI,HI`, "ok")
	f(`{"model":"claude-opus-4-6","max_tokens":9,"messages":[HI,{"role":"assistant","content":"x"}]}`, "This model does not support assistant message prefill. The conversation must end with a user message.")
	turns(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"eA=="}}]}`, "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
	turns(`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"data:image/png;base64,eA=="}}]}`, "messages.0.content.0.image.source.base64: invalid base64 data")
	turns(`HI,{"role":"assistant","content":[{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]}`, "messages.1.content.0: `image` blocks can only be in `user` messages")
	turns(`{"role":"user","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}`, "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages")
}

// TestMessagesToolRefusals proves how Messages holds calls of tools and their results together (P18).
func TestMessagesToolRefusals(t *testing.T) {
	c := inMemory("/v1/messages", messagesHeader, simulator.Account{Name: "a", Key: "sk-a"})
	f := func(body, want string) {
		t.Helper()
		resp, got := c.say(t, body)
		text := "ok"
		if resp.StatusCode != 200 {
			text = member(got, "error.message")
		}
		if text != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, text, want)
		}
	}
	turns := func(messages, want string) {
		t.Helper()
		f(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"},`+messages+`]}`, want)
	}
	tools := func(tools, rest, want string) {
		t.Helper()
		f(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[`+tools+`]`+rest+`}`, want)
	}
	call := func(ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"look","input":{}}`)
		}
		return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
	}
	result := func(ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, `{"type":"tool_result","tool_use_id":"`+id+`","content":"x"}`)
		}
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}

	turns(call("a", "b")+","+result("b", "a"), "ok")
	turns(call("a", "b")+","+result("a"), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	turns(call("a", "b")+","+result("a")+","+result("b"), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	turns(call("a"), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	turns(call("a")+`,{"role":"user","content":[{"type":"text","text":"so"},{"type":"tool_result","tool_use_id":"a"}]}`, "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	turns(call("a")+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"so"}]}`, "ok")
	turns(result("a"), "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
	turns(call("a")+","+result("a", "a"), "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a")
	turns(call("a")+","+result("a")+","+call("a")+","+result("a"), "messages.3.content.0: `tool_use` ids must be unique")
	turns(call("call|1")+","+result("call|1"), "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
	turns(`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"look","input":"{}"}]}`, "messages.1.content.0.tool_use.input: Input should be a valid dictionary")
	turns(call("a")+`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"thinking","thinking":"","signature":""}]}]}`, "messages.2.content.0.tool_result.content.0: `thinking` blocks are not permitted within `tool_result`")

	const look = `{"name":"look","input_schema":{"type":"object"}}`
	tools(look, ``, "ok")
	tools(`{"type":"function","function":{"name":"look"}}`, ``, "ok") // a type of Anthropic's own is not looked into
	tools(`{"name":"look","parameters":{}}`, ``, "tools.0.custom.input_schema: Field required")
	tools(`{"name":"look.up","input_schema":{"type":"object"}}`, ``, "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
	tools(look+","+look, ``, "tools: Tool names must be unique.")
	tools(`{"name":"look","input_schema":{}}`, ``, "tools.0.custom.input_schema.type: Field required")
	tools(`{"name":"look","input_schema":{"type":"string"}}`, ``, "tools.0.custom.input_schema.type: Input should be 'object'")
	tools(`{"name":"look","input_schema":{"type":"object","anyOf":[]}}`, ``, "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")
	tools(`{"name":"look","input_schema":{"type":"object","properties":{"a b":{}}}}`, ``, "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")
	tools(`{"name":"look","strict":true,"input_schema":{"type":"object"}}`, ``, "tools.0.custom.input_schema: For 'object' type, 'additionalProperties' must be explicitly set to false")
	tools(look, `,"tool_choice":"auto"`, "tool_choice: Input should be a valid dictionary")
	tools(look, `,"tool_choice":{"type":"required"}`, "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'")
	tools(look, `,"tool_choice":{"type":"tool","name":"find"}`, "Tool 'find' not found in provided tools")
	tools(look, `,"tool_choice":{"type":"tool"}`, "tool_choice.tool.name: Field required")
	tools(``, `,"tool_choice":{"type":"auto"}`, "tool_choice may only be specified while providing tools.")
	tools(`{"name":"look","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`, `,"system":[`+strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 3)+`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, "A maximum of 4 blocks with cache_control may be provided. Found 5.")
	tools(look, `,"cache_control":{"type":"forever"}`, "cache_control.type: Input should be 'ephemeral'")
}

// TestMessagesHead proves who is let in and with what in the head of a call.
func TestMessagesHead(t *testing.T) {
	const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
	a := simulator.Account{Name: "a", Key: "sk-a", Models: []string{"m"}}
	f := func(header http.Header, body, want string) {
		t.Helper()
		resp, got := inMemory("/v1/messages", header, a, simulator.Account{Name: "o", Key: "sk-ant-api-o"}).say(t, body)
		if got := strings.TrimSpace(resp.Status[:3] + " " + member(got, "error.type") + " " + member(got, "error.message")); got != want {
			t.Errorf("%v\ngot  %s\nwant %s", header, got, want)
		}
	}
	version := []string{"2023-06-01"}

	f(http.Header{"X-Api-Key": {"sk-a"}, "Anthropic-Version": version}, body, "200")
	f(http.Header{"Authorization": {"Bearer sk-a"}, "Anthropic-Version": version, "Anthropic-Beta": {"claude-code-20250219, oauth-2025-04-20"}}, body, "200")
	f(http.Header{"Authorization": {"Bearer sk-ant-api-o"}, "Anthropic-Version": version}, body, "200")
	f(http.Header{"Authorization": {"Bearer sk-a"}, "Anthropic-Version": version}, body, "401 authentication_error OAuth authentication is currently not supported.")
	f(http.Header{"X-Api-Key": {"sk-a"}}, body, "400 invalid_request_error anthropic-version: header is required")
	f(http.Header{"X-Api-Key": {"sk-b"}, "Anthropic-Version": version}, body, "401 authentication_error invalid x-api-key")
	f(http.Header{"Anthropic-Version": version}, body, "401 authentication_error x-api-key header is required")
	f(messagesHeader, strings.Replace(body, `"m"`, `"n"`, 1), "404 not_found_error model: n")
	f(http.Header{"X-Api-Key": {"sk-a"}, "Anthropic-Version": version, "Anthropic-Beta": {"unheard-of-2031-01-01"}}, strings.Replace(body, "{", `{"unheard":1,`, 1), "200")
}

// TestMessagesThinking proves that thinking is said and signed where it was asked for, and that only its own account takes it
// back (P18).
func TestMessagesThinking(t *testing.T) {
	think := simulator.Account{Name: "a", Key: "sk-a", Answer: simulator.Think("Hm", "Hi")}
	other := simulator.Account{Name: "b", Key: "sk-b"}
	hidden := simulator.Account{Name: "c", Key: "sk-c", Answer: func(simulator.Request) simulator.Answer {
		return simulator.Answer{Reasoning: "Hm", Hidden: true, Text: "Hi"}
	}}
	c := inMemory("/v1/messages", messagesHeader, think, other, hidden)
	as := func(key string) func(*http.Request) {
		return func(req *http.Request) { req.Header.Set("X-Api-Key", key) }
	}
	body := func(model, thinking string, turns ...string) string {
		return `{"model":"` + model + `","max_tokens":2000,` + thinking + `"messages":[{"role":"user","content":"hi"}` + strings.Join(turns, "") + `]}`
	}
	const budget = `"thinking":{"type":"enabled","budget_tokens":1024},`

	_, plain := c.say(t, body("m", ""))
	if got := member(plain, "content"); got != `[{"type":"text","text":"Hi"}]` {
		t.Errorf("an answer to who asked for no thinking has the content %s", got)
	}
	_, answer := c.say(t, body("m", budget))
	block := member(answer, "content.0")
	if member(block, "type") != "thinking" || member(block, "thinking") != "Hm" || member(answer, "content.1.text") != "Hi" {
		t.Fatalf("the answer is %s", answer)
	}
	_, omitted := c.say(t, body("claude-opus-4-7", `"thinking":{"type":"adaptive"},`))
	if member(omitted, "content.0.thinking") != "" || member(omitted, "content.0.signature") == "" {
		t.Errorf("the answer is %s, want the thinking left out and signed", omitted)
	}
	_, redacted := c.say(t, body("m", budget), as("sk-c"))
	redactedBlock := member(redacted, "content.0")
	if member(redactedBlock, "type") != "redacted_thinking" {
		t.Fatalf("the answer is %s", redacted)
	}

	f := func(key, thinking, block, want string) {
		t.Helper()
		resp, got := c.say(t, body("m", thinking, `,{"role":"assistant","content":[`, block, `]},{"role":"user","content":"so"}`), as(key))
		text := "ok"
		if resp.StatusCode != 200 {
			text = member(got, "error.message")
		}
		if text != want {
			t.Errorf("%s\ngot  %s\nwant %s", block, text, want)
		}
	}
	const invalid = "messages.1.content.0: Invalid `signature` in `thinking` block"
	f("sk-a", budget, block, "ok")
	f("sk-a", "", block, "ok")
	f("sk-b", budget, block, invalid)
	f("sk-a", budget, strings.Replace(block, "Hm", "Hmm", 1), invalid)
	f("sk-a", budget, `{"type":"thinking","thinking":"Hm","signature":""}`, invalid)
	f("sk-a", budget, `{"type":"thinking","thinking":"Hm"}`, "messages.1.content.0.thinking.signature: Field required")
	f("sk-c", budget, redactedBlock, "ok")
	f("sk-a", budget, redactedBlock, "messages.1.content.0: Invalid `data` in `redacted_thinking` block")

	g := func(model, members, want string) {
		t.Helper()
		resp, got := c.say(t, body(model, members))
		if text := member(got, "error.message"); resp.StatusCode != 400 || !strings.HasPrefix(text, want) {
			t.Errorf("%s\ngot  %s\nwant %s", members, text, want)
		}
	}
	g("m", `"thinking":{"type":"enabled"},`, "thinking.enabled.budget_tokens: Field required")
	g("m", `"thinking":{"type":"enabled","budget_tokens":1023},`, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	g("m", `"thinking":{"type":"enabled","budget_tokens":2000},`, "`max_tokens` must be greater than `thinking.budget_tokens`.")
	g("m", `"thinking":{"type":"on"},`, "thinking: Input tag 'on' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'")
	g("m", budget+`"temperature":0.5,`, "`temperature` may only be set to 1 when thinking is enabled")
	g("m", budget+`"top_p":0.5,`, "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
	g("m", budget+`"top_k":5,`, "`top_k` must be unset when thinking is enabled.")
	g("m", budget+`"tools":[{"name":"look","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"},`, "Thinking may not be enabled when tool_choice forces tool use.")
	g("claude-opus-4-7", budget, `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"`)

	// A round of tools that another account began has no thinking of this one's.
	loop := body("m", budget, `,{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`)
	_, got := c.say(t, loop)
	if text := member(got, "error.message"); !strings.HasPrefix(text, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block") {
		t.Errorf("got %s", got)
	}
	if resp, got := c.say(t, strings.Replace(loop, budget, "", 1)); resp.StatusCode != 200 {
		t.Errorf("without thinking got %s", got)
	}
	if !json.Valid([]byte(got)) {
		t.Errorf("%s is no JSON", got)
	}
}
