package simulator

import (
	"fmt"
	"regexp"
	"strings"
)

// The shapes of a Responses body.
var (
	responsesBody = shapeOf(`model!string input:string,array,null instructions:string,null max_output_tokens:integer,null
		max_tool_calls:integer,null metadata:object,null parallel_tool_calls:bool,null previous_response_id:string,null
		prompt:object,null prompt_cache_key:string,null prompt_cache_retention:string,null prompt_cache_options:object,null
		reasoning:object,null safety_identifier:string,null service_tier:string,null store:bool,null stream:bool,null
		stream_options:object,null temperature:number,null text:object,null tool_choice:string,object,null tools:array,null
		top_logprobs:integer,null top_p:number,null truncation:string,null user:string,null include:array,null
		background:bool,null conversation:string,object,null context_management:array,null client_metadata:object,null
		moderation:object,null`)
	responsesReasons  = shapeOf(`effort:string,null summary:string,null generate_summary:string,null context:string,null`)
	responsesText     = shapeOf(`format:object,null verbosity:string,null`)
	responsesFunction = shapeOf(`type!string name!string parameters!object,null strict:bool,null description:string,null defer_loading:bool,null`)
	responsesFormats  = map[string]shape{
		"text":        shapeOf(`type!string`),
		"json_object": shapeOf(`type!string`),
		"json_schema": shapeOf(`type!string name!string schema!object strict:bool,null description:string,null`),
	}
	responsesItems = map[string]shape{
		"message":              shapeOf(`type:string role!string content!string,array id:string,null status:string,null phase:string,null`),
		"function_call":        shapeOf(`type!string call_id!string name!string arguments!string id:string,null status:string,null namespace:string,null`),
		"function_call_output": shapeOf(`type!string call_id!string output!string,array id:string,null status:string,null name:string,null`),
		"reasoning":            shapeOf(`type!string summary!array encrypted_content:string,null content:array,null id:string,null status:string,null`),
		"item_reference":       shapeOf(`type!string id!string`),
		// What runs on OpenAI's side, and what Codex has of its own, is taken as it comes.
		"custom_tool_call":        shapeOf(`type!string call_id!string …`),
		"custom_tool_call_output": shapeOf(`type!string call_id!string …`),
		"local_shell_call":        shapeOf(`type!string …`),
		"local_shell_call_output": shapeOf(`type!string …`),
		"shell_call":              shapeOf(`type!string …`),
		"shell_call_output":       shapeOf(`type!string …`),
		"apply_patch_call":        shapeOf(`type!string …`),
		"apply_patch_call_output": shapeOf(`type!string …`),
		"web_search_call":         shapeOf(`type!string …`),
		"file_search_call":        shapeOf(`type!string …`),
		"computer_call":           shapeOf(`type!string …`),
		"computer_call_output":    shapeOf(`type!string …`),
		"code_interpreter_call":   shapeOf(`type!string …`),
		"image_generation_call":   shapeOf(`type!string …`),
		"mcp_call":                shapeOf(`type!string …`),
		"mcp_list_tools":          shapeOf(`type!string …`),
		"mcp_approval_request":    shapeOf(`type!string …`),
		"mcp_approval_response":   shapeOf(`type!string …`),
		"tool_search_call":        shapeOf(`type!string …`),
		"tool_search_output":      shapeOf(`type!string …`),
		"compaction":              shapeOf(`type!string …`),
		"compaction_summary":      shapeOf(`type!string …`),
		"agent_message":           shapeOf(`type!string …`),
		"additional_tools":        shapeOf(`type!string …`),
	}
	responsesParts = map[string]shape{
		"input_text":  shapeOf(`type!string text!string prompt_cache_breakpoint:object`),
		"input_image": shapeOf(`type!string image_url:string,null file_id:string,null detail:string,null prompt_cache_breakpoint:object`),
		"input_file":  shapeOf(`type!string file_data:string,null file_id:string,null file_url:string,null filename:string,null detail:string,null prompt_cache_breakpoint:object`),
		"input_audio": shapeOf(`type!string input_audio!object`),
		"output_text": shapeOf(`type!string text!string annotations:array,null logprobs:array,null`),
		"refusal":     shapeOf(`type!string refusal!string`),
	}
)

// movedParameters are chat completions' names for what Responses calls otherwise.
var movedParameters = map[string]string{
	"messages": "input", "max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens",
	"response_format": "text.format", "reasoning_effort": "reasoning.effort", "verbosity": "text.verbosity",
}

// openAIComplaints are OpenAI's words.
var openAIComplaints = complaints{
	missing: func(n node) *problem {
		return invalid(n.at, "missing_required_parameter", fmt.Sprintf("Missing required parameter: '%s'.", n.at))
	},
	extra: func(at node, name string) *problem {
		place := at.style.member(at.at, name)
		if to, moved := movedParameters[name]; moved && at.at == "" {
			return invalid(name, "unsupported_parameter", fmt.Sprintf("Unsupported parameter: '%s'. In the Responses API, this parameter has moved to '%s'. Try again with the new parameter. See the API documentation for more information: https://platform.openai.com/docs/api-reference/responses/create.", name, to))
		}
		return invalid(place, "unknown_parameter", fmt.Sprintf("Unknown parameter: '%s'.", place))
	},
	kind: func(n node, want kinds) *problem {
		return invalid(n.at, "invalid_type", fmt.Sprintf("Invalid type for '%s': expected %s, but got %s instead.", n.at, openAIKinds(want), openAIKinds(kindOf(n.value))))
	},
}

// openAIKinds names types as OpenAI does: "one of a string or an array of objects" is shortened to "a string or an array".
func openAIKinds(k kinds) string {
	var words []string
	for _, known := range []struct {
		kind kinds
		word string
	}{{isString, "a string"}, {isNumber, "a decimal"}, {isInteger, "an integer"}, {isBool, "a boolean"}, {isArray, "an array"}, {isObject, "an object"}} {
		if k&known.kind != 0 {
			words = append(words, known.word)
		}
	}
	if len(words) == 0 {
		return "null"
	}
	return strings.Join(words, " or ")
}

var (
	functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	// unsampled are reasoning models: they take no sampling parameters.
	unsampled = regexp.MustCompile(`^(o[134]|gpt-5$|gpt-5-|gpt-5\.\d+-codex)`)
)
