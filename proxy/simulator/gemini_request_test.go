package simulator_test

import (
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

var googleHeader = http.Header{"X-Goog-Api-Key": {"sk-a"}}

const geminiPath = "/v1beta/models/gemini-3-pro:generateContent"

// refusedByGoogle is an answer as text: "ok", or the status, its word, the message and what the details name.
func refusedByGoogle(resp *http.Response, body string) string {
	if resp.StatusCode == 200 {
		return "ok"
	}
	words := []string{resp.Status[:3], member(body, "error.status"), strings.ReplaceAll(member(body, "error.message"), "\n", "|")}
	if field := member(body, "error.details.0.fieldViolations"); field != "" {
		words = append(words, "at", member(body, "error.details.0.fieldViolations.0.field"))
	}
	if reason := member(body, "error.details.0.reason"); reason != "" {
		words = append(words, "because", reason)
	}
	return strings.TrimPrefix(strings.Join(words, " "), "400 INVALID_ARGUMENT ")
}

// TestGeminiRefusals proves that Gemini refuses what Google refuses, in its words (P18).
func TestGeminiRefusals(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		resp, got := inMemory(geminiPath, googleHeader, simulator.Account{Name: "a", Key: "sk-a"}).say(t, body)
		if got := refusedByGoogle(resp, got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	with := func(members, want string) {
		t.Helper()
		f(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}],`+members+`}`, want)
	}
	parts := func(parts, want string) {
		t.Helper()
		f(`{"contents":[{"role":"user","parts":[`+parts+`]}]}`, want)
	}

	f(`{"contents":`, "Invalid JSON payload received. Unexpected end of string. at ")
	f(`{"contents":[{"parts":[{"text":"hi"}]}],"system_instruction":{"parts":[{"text":"x"}]},"generation_config":{"max_output_tokens":9}}`, "ok")
	f(`{}`, "* GenerateContentRequest.contents: contents is not specified|")
	f(`{"contents":[]}`, "* GenerateContentRequest.contents: contents is not specified|")
	f(`{"contents":[{"role":"user","parts":[]}]}`, "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.|")
	f(`{"contents":[{"role":"assistant","parts":[{"text":"hi"}]}]}`, "Please use a valid role: user, model.")
	with(`"messages":[]`, `Invalid JSON payload received. Unknown name "messages": Cannot find field. at `)
	with(`"systemInstruction":"x"`, `Invalid value at 'system_instruction' (TYPE_MESSAGE), "x" at system_instruction`)
	with(`"generationConfig":{"max_tokens":5}`, `Invalid JSON payload received. Unknown name "max_tokens" at 'generation_config': Cannot find field. at generation_config`)
	with(`"generationConfig":{"temperature":"hot"}`, `Invalid value at 'generation_config.temperature' (TYPE_FLOAT), "hot" at generation_config.temperature`)
	with(`"generationConfig":{"temperature":2.5}`, "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].|")
	with(`"generationConfig":{"maxOutputTokens":0}`, "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.|")
	with(`"generationConfig":{"candidateCount":2}`, "Multiple candidates is not enabled for models/gemini-3-pro")
	with(`"generationConfig":{"presencePenalty":0.5}`, "Penalty is not enabled for models/gemini-3-pro")
	with(`"generationConfig":{"stopSequences":["1","2","3","4","5","6"]}`, "* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are allowed.|")
	with(`"generationConfig":{"responseSchema":{"type":"STRING"}}`, "* GenerateContentRequest.generation_config.response_schema: only allowed when response_mime_type is 'application/json'.|")
	with(`"generationConfig":{"thinkingConfig":{"thinkingBudget":5,"thinkingLevel":"LOW"}}`, "You can only set only one of thinking budget and thinking level.")
	parts(`{"text":"x","functionCall":{"name":"y"}}`, `Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'functionCall' at contents[0].parts[0]`)
	parts(`{"type":"text","text":"x"}`, `Invalid JSON payload received. Unknown name "type" at 'contents[0].parts[0]': Cannot find field. at contents[0].parts[0]`)
	const nothing = "parts[0].data: required oneof field 'data' must have one initialized field|"
	parts(`{}`, "* GenerateContentRequest.contents[0]."+nothing)
	parts(`{"text":""}`, "* GenerateContentRequest.contents[0]."+nothing)
	parts(`{"thought":true}`, "* GenerateContentRequest.contents[0]."+nothing)
	parts(`{"text":"","thoughtSignature":"skip_thought_signature_validator"}`, "ok")
	with(`"systemInstruction":{"parts":[{"text":""}]}`, "* GenerateContentRequest.system_instruction."+nothing)
	parts(`{"inlineData":{"mimeType":"image/png","data":"data:image/png;base64,eA=="}}`, `Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "data:image/png;base64,eA==" at contents[0].parts[0].inline_data.data`)
	parts(`{"inlineData":{"mimeType":"image/bmp","data":"eA=="}}`, "Unsupported MIME type: image/bmp")
	parts(`{"functionCall":{"name":"look","args":{}}}`, "Please ensure that function call turns are of role model.")

	tools := func(parameters, want string) {
		t.Helper()
		with(`"tools":[{"functionDeclarations":[{"name":"look","parameters":`+parameters+`}]}]`, want)
	}
	const at = "tools[0].function_declarations[0].parameters"
	unknown := func(name, at string) string {
		return `Invalid JSON payload received. Unknown name "` + name + `" at '` + at + `': Cannot find field. at ` + at
	}
	tools(`{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"]}`, "ok")
	tools(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, unknown("additionalProperties", at))
	tools(`{"$schema":"x","type":"object","properties":{"a":{"type":"string"}}}`, unknown("$schema", at))
	tools(`{"type":"object","properties":{"a":{"type":"string"},"b":{"const":"x"}}}`, unknown("const", at+".properties[1].value"))
	tools(`{"type":"object","properties":{"a":{"type":"array","items":{"exclusiveMinimum":1}}}}`, unknown("exclusiveMinimum", at+".properties[0].value.items"))
	tools(`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/x"}]}}}`, unknown("$ref", at+".properties[0].value.any_of[0]"))
	tools(`{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `Invalid JSON payload received. Unknown name "type" at '`+at+`.properties[0].value': Proto field is not repeating, cannot start list. at `+at+`.properties[0].value`)
	tools(`{"type":"object","properties":{"a":{"type":"any"}}}`, `Invalid value at '`+at+`.properties[0].value.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "any" at `+at+`.properties[0].value.type`)
	tools(`{"type":"object","properties":{"a":{"type":"integer","enum":[1]}}}`, `Invalid value at '`+at+`.properties[0].value.enum[0]' (TYPE_STRING), 1 at `+at+`.properties[0].value.enum[0]`)
	tools(`{"type":"object","properties":{"a":{"type":"integer","enum":["1"]}}}`, "* GenerateContentRequest."+at+".properties[a].enum: only allowed for STRING type|")
	tools(`{"type":"object","properties":{"a":{"type":"string","enum":[""]}}}`, "* GenerateContentRequest."+at+".properties[a].enum[0]: cannot be empty|")
	tools(`{"type":"object","properties":{"a":{"type":"string","format":"uri"}}}`, "* GenerateContentRequest."+at+".properties[a].format: only 'enum' and 'date-time' are supported for STRING type|")
	tools(`{"type":"object","properties":{"a":{"type":"array"}}}`, "* GenerateContentRequest."+at+".properties[a].items: missing field.|")
	tools(`{"type":"object","properties":{}}`, "* GenerateContentRequest."+at+".properties: should be non-empty for OBJECT type|")
	tools(`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, "* GenerateContentRequest."+at+".required[0]: property is not defined|")
	with(`"tools":[{"functionDeclarations":[{"name":"look","parametersJsonSchema":{"type":"object","additionalProperties":false}}]}]`, "ok")
	with(`"tools":[{"functionDeclarations":[{"name":"look","response":{"type":"string","const":"x"}}]}]`, unknown("const", "tools[0].function_declarations[0].response"))
	with(`"tools":[{"functionDeclarations":[{"name":"look","response":{"type":"string"},"responseJsonSchema":{"const":"x"}}]}]`, "ok")
	with(`"tools":[{"functionDeclarations":[{"name":"look up"}]}]`, "* GenerateContentRequest.tools[0].function_declarations[0].name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.|")
	with(`"tools":[{"functionDeclarations":[{"name":"look"},{"name":"look"}]}]`, "Duplicate function declaration found: look")
	with(`"tools":[{"type":"function"}]`, unknown("type", "tools[0]"))
	with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`, "Function calling config is set without function_declarations.")
	with(`"toolConfig":{"functionCallingConfig":{"mode":"required"}}`, `Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), "required" at tool_config.function_calling_config.mode`)
	with(`"tools":[{"functionDeclarations":[{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["look"]}}`, "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names: allowed_function_names should only be set when the mode is ANY or VALIDATED.|")
	with(`"tools":[{"functionDeclarations":[{"name":"look"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["find"]}}`, "* GenerateContentRequest.tool_config.function_calling_config.allowed_function_names[0]: allowed function name find is not declared.|")
}

// TestGeminiModels proves what some models of Gemini refuse.
func TestGeminiModels(t *testing.T) {
	f := func(model, config, rest, want string) {
		t.Helper()
		resp, got := inMemory("/v1beta/models/"+model+":generateContent", googleHeader, simulator.Account{Name: "a", Key: "sk-a"}).
			say(t, `{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":`+config+rest+`}`)
		if got := refusedByGoogle(resp, got); got != want {
			t.Errorf("%s %s\ngot  %s\nwant %s", model, config, got, want)
		}
	}
	f("gemini-2.5-pro", `{"thinkingConfig":{"thinkingBudget":0}}`, ``, "Budget 0 is invalid. This model only works in thinking mode.")
	f("gemini-2.5-pro", `{"thinkingConfig":{"thinkingBudget":-1}}`, ``, "ok")
	f("gemini-2.5-flash-lite", `{"thinkingConfig":{"thinkingBudget":100}}`, ``, "The thinking budget 100 is invalid. Please choose a value between 512 and 24576.")
	f("gemini-2.5-flash", `{"thinkingConfig":{"thinkingLevel":"LOW"}}`, ``, "Thinking level is not supported for this model.")
	f("gemini-3-flash", `{"thinkingConfig":{"thinkingLevel":"HUGE"}}`, ``, `Invalid value at 'generation_config.thinking_config.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), "HUGE"`)
	f("gemini-2.5-flash", `{"responseMimeType":"application/json"}`, `,"tools":[{"functionDeclarations":[{"name":"look"}]}]`, "Function calling with a response mime type: 'application/json' is unsupported")
	f("gemini-3-flash", `{"responseMimeType":"application/json"}`, `,"tools":[{"functionDeclarations":[{"name":"look"}]}]`, "ok")
}

// TestGeminiTurns proves how Gemini holds calls, results and signatures together (P18).
func TestGeminiTurns(t *testing.T) {
	call := simulator.CallTools(simulator.ToolCall{Name: "look", Arguments: `{"a":1}`}, simulator.ToolCall{Name: "find", Arguments: `{}`})
	accounts := []simulator.Account{{Name: "a", Key: "sk-a", Answer: call}, {Name: "b", Key: "sk-b"}}
	_, answer := inMemory(geminiPath, googleHeader, accounts...).say(t, `{"contents":[{"parts":[{"text":"hi"}]}]}`)
	signed, second := member(answer, "candidates.0.content.parts.0"), member(answer, "candidates.0.content.parts.1")
	if member(signed, "thoughtSignature") == "" || member(second, "thoughtSignature") != "" || member(signed, "functionCall.args") != `{"a":1}` {
		t.Fatalf("the answer is %s: want two calls, the first one signed", answer)
	}
	f := func(key, path, want string, contents ...string) {
		t.Helper()
		resp, got := inMemory(path, http.Header{"X-Goog-Api-Key": {key}}, accounts...).say(t, `{"contents":[{"role":"user","parts":[{"text":"hi"}]},`+strings.Join(contents, ",")+`]}`)
		if got := refusedByGoogle(resp, got); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", contents, got, want)
		}
	}
	model := func(parts ...string) string {
		return `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`
	}
	user := func(names ...string) string {
		var parts []string
		for _, name := range names {
			parts = append(parts, `{"functionResponse":{"name":"`+name+`","response":{"x":1}}}`)
		}
		return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}`
	}
	const older = "/v1beta/models/gemini-2.0-flash:generateContent"
	const unsigned = `{"functionCall":{"name":"look","args":{}}}`
	const more = `{"role":"user","parts":[{"text":"so"}]}`

	f("sk-a", geminiPath, "ok", model(signed, second), user("look", "find"))
	f("sk-b", geminiPath, "Corrupted thought signature.", model(signed, second), user("look", "find"))
	f("sk-a", geminiPath, "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:look` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", model(unsigned), user("look"))
	f("sk-a", geminiPath, "ok", model(unsigned), user("look"), model(`{"text":"x"}`), more) // its turn is over
	f("sk-a", geminiPath, "ok", model(strings.Replace(unsigned, "{", `{"thoughtSignature":"skip_thought_signature_validator",`, 1)), user("look"))
	f("sk-a", geminiPath, `Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for "!" at contents[1].parts[0].thought_signature`, model(strings.Replace(unsigned, "{", `{"thoughtSignature":"!",`, 1)), user("look"))
	f("sk-a", older, "ok", model(unsigned), user("look"))
	f("sk-a", older, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", model(unsigned, unsigned), user("look"))
	f("sk-a", older, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", model(unsigned), more)
	f("sk-a", older, "Please ensure that function response turn comes immediately after a function call turn.", model(`{"text":"x"}`), user("look"))
	f("sk-a", older, "Please ensure that the function response names match the function call names of the function call turn: expected look, got find.", model(unsigned), user("find"))
	f("sk-a", older, "* GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.|", model(unsigned), user(""))
	f("sk-a", older, `Invalid value at 'contents[2].parts[0].function_response.response' (TYPE_MESSAGE), "x" at contents[2].parts[0].function_response.response`, model(unsigned), strings.Replace(user("look"), `{"x":1}`, `"x"`, 1))
	f("sk-a", older, "Please ensure that multiturn requests alternate between user and model.", more)
	f("sk-a", older, "ok", model(`{"text":"x"}`))
	f("sk-a", "/v1beta/models/gemini-3.6-flash:generateContent", "Requests ending with a model turn are not supported unless the last part is a function response.", model(`{"text":"x"}`))
	f("sk-a", older, "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", model(unsigned))
}

// TestGoogleHead proves who is let in, and for which project (P18).
func TestGoogleHead(t *testing.T) {
	const gemini = `{"contents":[{"parts":[{"text":"hi"}]}]}`
	const cloud = `{"model":"gemini-3-pro","project":"p","request":` + gemini + `}`
	f := func(path string, header http.Header, body, want string) {
		t.Helper()
		resp, got := inMemory(path, header, simulator.Account{Name: "a", Key: "sk-a", Project: "p", Models: []string{"gemini-3-pro"}}).say(t, body)
		if got := refusedByGoogle(resp, got); got != want {
			t.Errorf("%s %v\ngot  %s\nwant %s", path, header, got, want)
		}
	}
	f(geminiPath, googleHeader, gemini, "ok")
	f(geminiPath+"?key=sk-a", nil, gemini, "ok")
	f(geminiPath, bearerHeader, gemini, "ok")
	f(geminiPath, http.Header{"X-Goog-Api-Key": {"x"}}, gemini, "API key not valid. Please pass a valid API key. because API_KEY_INVALID")
	f(geminiPath, nil, gemini, "403 PERMISSION_DENIED Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.")
	f("/v1beta/models/gemini-9:generateContent", googleHeader, gemini, "404 NOT_FOUND models/gemini-9 is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.")

	const path = "/v1internal:generateContent"
	f(path, bearerHeader, cloud, "ok")
	f(path, http.Header{"Authorization": {"Bearer x"}}, cloud, "401 UNAUTHENTICATED Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project. because ACCESS_TOKEN_EXPIRED")
	f(path, bearerHeader, strings.Replace(cloud, `"p"`, `"q"`, 1), "403 PERMISSION_DENIED Permission denied on resource project q. because CONSUMER_INVALID")
	f(path, bearerHeader, strings.Replace(cloud, `"project":"p",`, ``, 1), "Invalid project resource name projects/")
	f(path, bearerHeader, gemini, `Invalid JSON payload received. Unknown name "contents": Cannot find field.|Request contains an invalid argument. at `)
	f(path, bearerHeader, strings.Replace(cloud, `"contents"`, `"messages"`, 1), `Invalid JSON payload received. Unknown name "messages" at 'request': Cannot find field. at request`)
	f(path, bearerHeader, strings.Replace(cloud, `gemini-3-pro`, `gemini-9`, 1), "404 NOT_FOUND Requested entity was not found.")
	f("/v1internal:countTokens", bearerHeader, `{"request":{"model":"gemini-3-pro","contents":[{"parts":[{"text":"hi"}]}]}}`, "ok")

	// A Claude behind Cloud Code wants ids of calls and results.
	resp, got := inMemory(path, bearerHeader, simulator.Account{Name: "a", Key: "sk-a"}).say(t, `{"model":"claude-opus-4-6","project":"p","request":{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{}}}]}]}}`)
	if want := `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0.tool_use.id: Field required"},"request_id":"req_vrtx_simulated"}`; resp.StatusCode != 400 || member(got, "error.message") != want {
		t.Errorf("got %s", got)
	}
}
