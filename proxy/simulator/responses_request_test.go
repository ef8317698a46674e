package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

var (
	bearerHeader = http.Header{"Authorization": {"Bearer sk-a"}}
	codexHeader  = http.Header{"Authorization": {"Bearer sk-a"}, "Chatgpt-Account-Id": {"acct"}}
)

// refusedAs is an answer as text: "ok", or an OpenAI error's status, param, code and message.
func refusedAs(t *testing.T, resp *http.Response, body string) string {
	t.Helper()
	if resp.StatusCode == 200 {
		return "ok"
	}
	if detail := member(body, "detail"); detail != "" {
		return resp.Status[:3] + " " + detail
	}
	return strings.TrimPrefix(resp.Status[:3]+" "+strings.TrimPrefix(problemOf(t, []byte(body)), "invalid_request_error "), "400 ")
}

// TestResponsesRefusals proves that Responses refuses what OpenAI refuses, in its words (P18).
func TestResponsesRefusals(t *testing.T) {
	c := inMemory("/v1/responses", bearerHeader, simulator.Account{Name: "a", Key: "sk-a"})
	f := func(body, want string) {
		t.Helper()
		resp, got := c.say(t, body)
		if got := refusedAs(t, resp, got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	with := func(members, want string) {
		t.Helper()
		f(`{"model":"m","input":"hi",`+members+`}`, want)
	}
	input := func(items, want string) {
		t.Helper()
		f(`{"model":"m","store":false,"input":[`+items+`]}`, want)
	}
	const hi = `{"role":"user","content":"hi"}`

	f(`{"model":`, "- - We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)")
	f(`{"model":"m","input":"hi"}`, "ok")
	f(`{"input":"hi"}`, "model missing_required_parameter Missing required parameter: 'model'.")
	f(`{"model":"m"}`, `- missing_required_parameter One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`)
	f(`{"model":"m","input":[]}`, "input empty_array Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	with(`"messages":[]`, "messages unsupported_parameter Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.")
	with(`"max_tokens":99`, "max_tokens unsupported_parameter Unsupported parameter: 'max_tokens'. In the Responses API, this parameter has moved to 'max_output_tokens'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.")
	with(`"n":1`, "n unknown_parameter Unknown parameter: 'n'.")
	with(`"stop":["x"]`, "stop unknown_parameter Unknown parameter: 'stop'.")
	with(`"stream":"yes"`, "stream invalid_type Invalid type for 'stream': expected a boolean, but got a string instead.")
	with(`"max_output_tokens":15`, "max_output_tokens integer_below_min_value Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.")
	with(`"temperature":2.5`, "temperature decimal_above_max_value Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead.")
	with(`"top_p":-1`, "top_p decimal_below_min_value Invalid 'top_p': decimal below minimum value. Expected a value >= 0, but got -1 instead.")
	f(`{"model":"gpt-5","input":"hi","temperature":1}`, "temperature - Unsupported parameter: 'temperature' is not supported with this model.")
	with(`"previous_response_id":"resp_1"`, "previous_response_id previous_response_not_found Previous response with id 'resp_1' not found.")
	with(`"reasoning":{"effort":"huge"}`, "reasoning.effort invalid_value Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'.")
	with(`"reasoning":{"budget":5}`, "reasoning.budget unknown_parameter Unknown parameter: 'reasoning.budget'.")
	with(`"include":["everything"]`, "include[0] invalid_value Invalid value: 'everything'. Supported values are: 'file_search_call.results', 'web_search_call.results', 'web_search_call.action.sources', 'message.input_image.image_url', 'computer_call_output.output.image_url', 'code_interpreter_call.outputs', 'reasoning.encrypted_content', and 'message.output_text.logprobs'.")
	with(`"text":{"format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}}}`, "text.format.name missing_required_parameter Missing required parameter: 'text.format.name'.")
	with(`"text":{"format":{"type":"json_schema","name":"x","strict":true,"schema":{"type":"object","properties":{}}}}`, "text.format.schema invalid_json_schema Invalid schema for response_format 'x': In context=(), 'additionalProperties' is required to be supplied and to be false.")
	with(`"text":{"format":{"type":"xml"}}`, "text.format.type invalid_value Invalid value: 'xml'. Supported values are: 'text', 'json_object', and 'json_schema'.")
	with(`"text":{"verbosity":"loud"}`, "text.verbosity invalid_value Invalid value: 'loud'. Supported values are: 'low', 'medium', and 'high'.")

	input(hi+`,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]},`+hi, "ok")
	input(`{"role":"tool","content":"x"}`, "input[0].role invalid_value Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.")
	input(`{"role":"user","content":[{"type":"text","text":"x"}]}`, "input[0].content[0] invalid_value Invalid value: 'text'. Supported values are: 'input_text', 'input_image', 'input_file', and 'input_audio'.")
	input(hi+`,{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`, "input[1].content[0] invalid_value Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.")
	input(`{"role":"user","content":[{"type":"input_image","image_url":{"url":"https://x"}}]}`, "input[0].content[0].image_url invalid_type Invalid type for 'input[0].content[0].image_url': expected a string, but got an object instead.")
	input(`{"role":"user","content":[{"type":"input_image","image_url":"x.png"}]}`, "input[0].content[0].image_url invalid_value Invalid 'input[0].content[0].image_url'. Expected a valid URL, but got a value with an invalid format.")
	input(`{"role":"user","content":[{"type":"input_image","detail":"low"}]}`, "input[0].content[0].image_url missing_required_parameter Missing required parameter: 'input[0].content[0].image_url'.")
	input(`{"role":"user","content":"x","name":"bob"}`, "input[0].name unknown_parameter Unknown parameter: 'input[0].name'.")
	input(`{"type":"message","role":"user","content":"x","id":"m1"}`, "input[0].id invalid_value Invalid 'input[0].id': 'm1'. Expected an ID that begins with 'msg'.")
	input(`7`, "input[0] invalid_type Invalid type for 'input[0]': expected an object, but got an integer instead.")
	input(`{"type":"item_reference","id":"rs_1"}`, "404 input - Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.")

	call := func(id, more string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"look","arguments":"{}"` + more + `}`
	}
	output := func(id string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":"x"}`
	}
	input(hi+","+call("a", "")+","+call("b", "")+","+output("b")+","+output("a"), "ok")
	input(hi+","+output("a"), "input - No tool call found for function call output with call_id a.")
	input(hi+","+call("a", "")+","+output("a")+","+output("a"), "input - No tool call found for function call output with call_id a.")
	input(hi+","+output("a")+","+call("a", ""), "input - No tool call found for function call output with call_id a.")
	input(hi+","+call("a", ""), "input - No tool output found for function call a.")
	input(hi+","+call("a", `,"id":"call_1"`)+","+output("a"), "input[1].id invalid_value Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.")
	input(hi+","+call(strings.Repeat("x", 65), ""), "input[1].call_id string_above_max_length Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64, but got a string with length 65 instead.")
	input(hi+`,{"type":"function_call","call_id":"a","name":"look.up","arguments":"{}"}`, "input[1].name invalid_value Invalid 'input[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.")
	input(hi+`,{"type":"function_call","call_id":"a","name":"look","arguments":{}}`, "input[1].arguments invalid_type Invalid type for 'input[1].arguments': expected a string, but got an object instead.")
	input(hi+","+call("a", `,"id":"fc_1"`)+","+call("b", `,"id":"fc_1"`), "input - Duplicate item found with id fc_1. Remove duplicate items from your input and try again.")
}

// TestResponsesToolRefusals proves what Responses makes of tools and their schemas (P18).
func TestResponsesToolRefusals(t *testing.T) {
	c := inMemory("/v1/responses", bearerHeader, simulator.Account{Name: "a", Key: "sk-a"})
	f := func(tools, rest, want string) {
		t.Helper()
		resp, got := c.say(t, `{"model":"m","input":"hi","tools":[`+tools+`]`+rest+`}`)
		if got := refusedAs(t, resp, got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", tools, got, want)
		}
	}
	tool := func(parameters, more string) string {
		return `{"type":"function","name":"look","parameters":` + parameters + more + `}`
	}
	const empty = `{"type":"object","properties":{}}`

	f(tool(empty, ``), ``, "ok")
	f(`{"type":"web_search"}`, ``, "ok")
	f(`{"type":"function","function":{"name":"look","parameters":{}}}`, ``, "tools[0].name missing_required_parameter Missing required parameter: 'tools[0].name'.")
	f(`{"name":"look","parameters":{}}`, ``, "tools[0].type missing_required_parameter Missing required parameter: 'tools[0].type'.")
	f(`{"type":"function","name":"look"}`, ``, "tools[0].parameters missing_required_parameter Missing required parameter: 'tools[0].parameters'.")
	f(`{"type":"function","name":"look up","parameters":`+empty+`}`, ``, "tools[0].name invalid_value Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.")
	f(tool(`{}`, ``), ``, `tools[0].parameters invalid_function_parameters Invalid schema for function 'look': schema must be a JSON Schema of 'type: "object"', got 'type: "None"'.`)
	f(tool(`{"type":"object"}`, ``), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=(), object schema missing properties.")
	f(tool(`{"type":"object","properties":{"a":{"type":"array"}}}`, ``), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=('properties', 'a'), array schema missing items.")
	f(tool(empty, `,"strict":true`), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=(), 'additionalProperties' is required to be supplied and to be false.")
	f(tool(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"type":"object","properties":{}}}}`, `,"strict":true`), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.")
	f(tool(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{},"b":{}}}`, `,"strict":true`), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'b'.")
	f(tool(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":{"anyOf":[{"type":"array"}]}}}`, `,"strict":true`), ``, "tools[0].parameters invalid_function_parameters Invalid schema for function 'look': In context=('properties', 'a', 'anyOf', '0'), array schema missing items.")
	f(tool(empty, ``), `,"tool_choice":"any"`, "tool_choice invalid_value Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.")
	f(tool(empty, ``), `,"tool_choice":{"type":"function","function":{"name":"look"}}`, "tool_choice.name missing_required_parameter Missing required parameter: 'tool_choice.name'.")
	f(tool(empty, ``), `,"tool_choice":{"type":"function","name":"find"}`, "tool_choice - Tool choice 'function' not found in 'tools' parameter.")
	f(``, `,"tool_choice":"required"`, "tool_choice - Tool choice 'required' must be specified with 'tools' parameter.")
}

// TestResponsesReasoning proves that reasoning is sealed where it was asked for, that only its own account takes it back, and
// that it stands before what it led to (P18).
func TestResponsesReasoning(t *testing.T) {
	c := inMemory("/v1/responses", bearerHeader, simulator.Account{Name: "a", Key: "sk-a", Answer: simulator.Think("Hm", "Hi")}, simulator.Account{Name: "b", Key: "sk-b"})
	_, answer := c.say(t, `{"model":"m","input":"hi","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}}`)
	item, message := member(answer, "output.0"), member(answer, "output.1")
	if member(item, "type") != "reasoning" || member(item, "summary.0.text") != "Hm" || !strings.HasPrefix(member(item, "encrypted_content"), "gAAAAA") {
		t.Fatalf("the answer is %s", answer)
	}
	for body, want := range map[string]string{
		`{"model":"m","input":"hi"}`:                               `"type":"reasoning","summary":[]}`,
		`{"model":"m","input":"hi","reasoning":{"effort":"none"}}`: `"output":[{"id":"msg_`,
	} {
		if _, got := c.say(t, body); !strings.Contains(got, want) {
			t.Errorf("%s gave %s, want %s in it", body, got, want)
		}
	}

	f := func(key, want string, items ...string) {
		t.Helper()
		resp, got := c.say(t, `{"model":"m","store":false,"input":[{"role":"user","content":"hi"},`+strings.Join(items, ",")+`]}`, func(req *http.Request) {
			req.Header.Set("Authorization", "Bearer "+key)
		})
		if got := refusedAs(t, resp, got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", items, got, want)
		}
	}
	const more = `{"role":"user","content":"so"}`
	content := member(item, "encrypted_content")
	shown := content[:4] + "..." + content[len(content)-4:]
	f("sk-a", "ok", item, message, more)
	f("sk-b", "- invalid_encrypted_content The encrypted content "+shown+" could not be verified. Reason: Encrypted content organization_id did not match the target organization.", item, message, more)
	f("sk-a", "- invalid_encrypted_content The encrypted content nonsense could not be verified. Reason: Encrypted content could not be decrypted or parsed.", strings.Replace(item, content, "nonsense", 1), message, more)
	f("sk-a", "input - Item '"+member(item, "id")+"' of type 'reasoning' was provided without its required following item.", item, more)
	f("sk-a", "input - Item '"+member(item, "id")+"' of type 'reasoning' was provided without its required following item.", item)
	f("sk-a", "404 input - Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", `{"type":"reasoning","id":"rs_1","summary":[]}`, message, more)
	f("sk-a", "input[1].summary missing_required_parameter Missing required parameter: 'input[1].summary'.", `{"type":"reasoning","encrypted_content":"x"}`, message)
	f("sk-a", "input[1].content array_above_max_length Invalid 'input[1].content': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.", `{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"x"}]}`, message)
}

// TestCodexRefusals proves what the Codex backend wants beyond Responses, by its path and by its account (P18).
func TestCodexRefusals(t *testing.T) {
	const good = `{"model":"gpt-5.5","instructions":"Be brief.","store":false,"stream":true,"input":[{"role":"user","content":"hi"}]}`
	f := func(path string, header http.Header, old, new, want string) {
		t.Helper()
		c := inMemory(path, header,
			simulator.Account{Name: "a", Key: "sk-a", Models: []string{"gpt-5.5"}},
			simulator.Account{Name: "x", Key: "sk-x", Codex: true, ChatGPTAccount: "acct"})
		resp, got := c.say(t, strings.Replace(good, old, new, 1))
		if got := refusedAs(t, resp, got); got != want {
			t.Errorf("%s for %s\ngot  %s\nwant %s", new, old, got, want)
		}
	}
	const path = "/backend-api/codex/responses"
	f(path, codexHeader, ``, ``, "ok")
	f("/v1/responses", bearerHeader, ``, ``, "ok")
	f("/v1/responses", http.Header{"Authorization": {"Bearer sk-x"}, "Chatgpt-Account-Id": {"acct"}}, ``, ``, "ok")
	f("/v1/responses", http.Header{"Authorization": {"Bearer sk-x"}, "Chatgpt-Account-Id": {"other"}}, ``, ``, "401 Unauthorized")
	f(path, bearerHeader, ``, ``, "401 Unauthorized")
	f(path, http.Header{"Authorization": {"Bearer no"}, "Chatgpt-Account-Id": {"acct"}}, ``, ``, "401 - token_invalidated Your authentication token has been invalidated. Please try signing in again.")
	f(path, codexHeader, `"store":false`, `"store":true`, "400 Store must be set to false")
	f(path, codexHeader, `"store":false,`, ``, "400 Store must be set to false")
	f(path, codexHeader, `"stream":true`, `"stream":false`, "400 Stream must be set to true")
	f(path, codexHeader, `"instructions":"Be brief.",`, ``, "400 Instructions are required")
	f(path, codexHeader, `"instructions":"Be brief.","store":false,"stream":true,"input":[`, `"store":false,"stream":true,"input":[{"role":"developer","content":"Be brief."},`, "ok")
	f(path, codexHeader, `[{"role":"user","content":"hi"}]`, `"hi"`, "400 Input must be a list")
	f(path, codexHeader, `"store"`, `"max_output_tokens":99,"store"`, "400 Unsupported parameter: max_output_tokens")
	f(path, codexHeader, `"store"`, `"temperature":1,"store"`, "400 Unsupported parameter: temperature")
	f(path, codexHeader, `[{`, `[{"role":"system","content":"x"},{`, "400 System messages are not allowed")
	f(path, codexHeader, `gpt-5.5`, `gpt-1`, "400 The 'gpt-1' model is not supported when using Codex with a ChatGPT account.")
	f(path, codexHeader, `"store"`, `"n":1,"store"`, "n unknown_parameter Unknown parameter: 'n'.")
}
