package responses

import "strings"

// words are the members of a Responses request by their names in a chat completion request, which the encoders use.
var words = map[string]string{
	"max_tokens":                              "max_output_tokens",
	"messages":                                "input",
	"reasoning_effort":                        "reasoning.effort",
	"response_format":                         "text.format",
	"verbosity":                               "text.verbosity",
	"messages[].reasoning_content":            "input[].reasoning",
	"messages[].reasoning_details":            "input[].reasoning",
	"messages[].tool_calls[].extra_content":   "input[].reasoning",
	"messages[].content[].image_url.detail":   "input[].content[].detail",
	"messages[].content[].file.filename":      "input[].content[].filename",
	"response_format.json_schema.description": "text.format.description",
}

// Word is what a member is called in a Responses request that an encoder has named as in a chat completion request.
func Word(member string) string {
	if own, ok := words[member]; ok {
		return own
	}
	if rest, ok := strings.CutPrefix(member, "response_format.json_schema"); ok {
		return "text.format" + rest
	}
	if strings.HasPrefix(member, "tools[") {
		return strings.Replace(member, "].function.", "].", 1)
	}
	return member
}
