package simulator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// chatRequest is what the simulator reads of a chat completions body. Pointers tell absent from empty.
type chatRequest struct {
	Model         *string        `json:"model"`
	Messages      *[]chatMessage `json:"messages"`
	Stream        bool           `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	N     *int `json:"n"`
	Tools []struct {
		Function struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice json.RawMessage `json:"tool_choice"`
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	size    int             // bytes of the whole message
}

// UnmarshalJSON keeps the message's size, by which the prompt is estimated.
func (m *chatMessage) UnmarshalJSON(text []byte) error {
	type plain chatMessage
	err := json.Unmarshal(text, (*plain)(m))
	m.size = len(text)
	return err
}

// parseChat reads a body as OpenAI does, and refuses what OpenAI refuses, in its words.
func parseChat(body []byte) (Request, *problem) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return Request{}, invalid(wrong.Field, "invalid_type", fmt.Sprintf("Invalid type for '%s': expected %s, but got %s instead.", wrong.Field, wrong.Type.Kind(), wrong.Value))
		}
		return Request{}, invalid("", "", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)")
	}
	if p := in.check(); p != nil {
		return Request{}, p
	}
	req := Request{
		Model:        *in.Model,
		Stream:       in.Stream,
		IncludeUsage: in.StreamOptions != nil && in.StreamOptions.IncludeUsage,
		N:            1,
		ToolChoice:   toolChoice(in.ToolChoice),
		Body:         body,
	}
	if in.N != nil {
		req.N = *in.N
	}
	for _, m := range *in.Messages {
		req.PromptTokens += tokens(m.size)
		req.LastRole = m.Role
		if m.Role == "user" {
			req.LastUser = contentText(m.Content)
		}
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Function.Name, Parameters: t.Function.Parameters})
	}
	return req, nil
}

var chatRoles = []string{"system", "assistant", "user", "function", "tool", "developer"}

func (in *chatRequest) check() *problem {
	switch {
	case in.Model == nil || *in.Model == "":
		return invalid("", "", "you must provide a model parameter")
	case in.Messages == nil:
		return invalid("messages", "missing_required_parameter", "Missing required parameter: 'messages'.")
	case len(*in.Messages) == 0:
		return invalid("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	case in.StreamOptions != nil && !in.Stream:
		return invalid("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	case in.N != nil && *in.N < 1:
		return invalid("n", "integer_below_min_value", fmt.Sprintf("Invalid 'n': integer below minimum value. Expected a value >= 1, but got %d instead.", *in.N))
	case in.N != nil && *in.N > 128:
		return invalid("n", "integer_above_max_value", fmt.Sprintf("Invalid 'n': integer above maximum value. Expected a value <= 128, but got %d instead.", *in.N))
	}
	for i, m := range *in.Messages {
		if !slices.Contains(chatRoles, m.Role) {
			return invalid(fmt.Sprintf("messages[%d].role", i), "invalid_value", fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role))
		}
	}
	return nil
}

// toolChoice reads "auto" and its like, or {"function":{"name":…}}.
func toolChoice(text json.RawMessage) string {
	var word string
	if json.Unmarshal(text, &word) == nil {
		return word
	}
	var named struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	if json.Unmarshal(text, &named) != nil {
		return ""
	}
	return named.Function.Name
}

// contentText reads a message's content: a string, or parts of which some are text.
func contentText(text json.RawMessage) string {
	var whole string
	if json.Unmarshal(text, &whole) == nil {
		return whole
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(text, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}
