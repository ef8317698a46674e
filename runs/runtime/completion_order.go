package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"hermes-hub/runs"
)

// sampling are the members of an order that go into the call as they are. All others stay behind: they are the run's
// (metadata, workspace …), ask for what is not done here (tools), or are no members of Chat Completions.
var sampling = []string{
	"temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "seed", "presence_penalty", "frequency_penalty", "logit_bias",
	"response_format", "reasoning_effort", "service_tier", "verbosity", "user", "prompt_cache_key", "safety_identifier",
}

// roles are those that a message may have.
var roles = []string{"system", "developer", "user", "assistant", "tool"}

// chatBody is the call that an order stands for, and what there is to say of it.
func (c *Completion) chatBody(ctx context.Context, runID string, o Order) (body []byte, notes []runs.Progress, err error) {
	order := gjson.ParseBytes(o.Body)
	if !gjson.ValidBytes(o.Body) || !order.IsObject() {
		return nil, nil, badOrder("the body must be a JSON object")
	}
	if order.Get("previous_response_id").Str != "" {
		return nil, nil, badOrder("previous_response_id is not known here: send conversation_history")
	}
	messages, err := c.messages(ctx, runID, o, order)
	if err != nil {
		return nil, nil, err
	}
	call := map[string]any{
		"model": model(cmp.Or(o.Model, order.Get("model").Str)), "messages": messages,
		"stream": true, "stream_options": map[string]bool{"include_usage": true},
	}
	for _, name := range sampling {
		if v := order.Get(name); v.Exists() && v.Type != gjson.Null {
			call[name] = json.RawMessage(v.Raw)
		}
	}
	choose(call, order.Get("model_options"))
	if body, err = json.Marshal(call); err != nil {
		return nil, nil, badOrder("the body cannot be read")
	}
	if len(order.Get("tools").Array()) > 0 {
		notes = append(notes, runs.Progress{Phase: "ignored", Text: "tools have no effect: this runtime runs none."})
	}
	if len(order.Get("attachments").Array()) > 0 {
		notes = append(notes, runs.Progress{Phase: "ignored", Text: "attachments have no effect: this runtime reads no files."})
	}
	return body, notes, nil
}

// model is the model to ask for.
func model(asked string) string {
	if asked == "" || asked == "default" {
		return "auto"
	}
	return asked
}

// choose takes over what the order says in Hermes' model_options, unless it says so beside them.
func choose(call map[string]any, options gjson.Result) {
	set := func(name, value string) {
		if _, said := call[name]; !said && value != "" {
			call[name] = value
		}
	}
	effort := options.Get("reasoning_effort").Str
	if thinking := options.Get("reasoning"); thinking.Get("enabled").Type != gjson.False {
		effort = cmp.Or(effort, thinking.Get("effort").Str)
	}
	tier := options.Get("service_tier").Str
	if options.Get("fast").Bool() {
		tier = cmp.Or(tier, "priority")
	}
	set("reasoning_effort", effort)
	set("service_tier", tier)
}

// messages are the conversation: the instructions, what was said before, and what is said now. A client that sends a
// `message` (the WebUI's runner client) sends no history: that is what the journal has of the session.
func (c *Completion) messages(ctx context.Context, runID string, o Order, order gjson.Result) (all []json.RawMessage, err error) {
	if text := order.Get("instructions").Str; text != "" {
		all = append(all, message("system", quoted(text)))
	}
	now, what := order.Get("input"), "input"
	if before := order.Get("conversation_history"); before.IsArray() {
		said, err := messagesOf("conversation_history", before)
		if err != nil {
			return nil, err
		}
		all = append(all, said...)
	} else if said := order.Get("message"); said.Exists() && !now.Exists() {
		history, err := c.history(ctx, o.Owner, o.SessionID, runID)
		if err != nil {
			return nil, err
		}
		all = append(all, history...)
	}
	if !now.Exists() {
		now, what = order.Get("message"), "message"
	}
	said, err := messagesOf(what, now)
	if err == nil && len(said) == 0 {
		err = badOrder("Missing 'input' field: say what is to be done, as a string or as messages")
	}
	return append(all, said...), err
}

// messagesOf reads a text, a message, the parts of one, or several messages.
func messagesOf(what string, v gjson.Result) (all []json.RawMessage, err error) {
	switch {
	case !v.Exists() || v.Raw == `""`:
		return nil, nil
	case v.Type == gjson.String:
		return []json.RawMessage{message("user", []byte(v.Raw))}, nil
	case v.IsArray() && v.Get("0.role").Exists():
		for i, m := range v.Array() {
			one, err := messageOf(fmt.Sprintf("%s[%d]", what, i), m)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	case v.IsObject() && v.Get("role").Exists():
		one, err := messageOf(what, v)
		return []json.RawMessage{one}, err
	case v.IsArray():
		content, err := contentOf(what, v)
		return []json.RawMessage{message("user", content)}, err
	case v.IsObject() && v.Get("content").Exists():
		content, err := contentOf(what+".content", v.Get("content"))
		return []json.RawMessage{message("user", content)}, err
	default:
		return nil, badOrder("%s must be a text, or messages with role and content", what)
	}
}

// messageOf is a message with those members that the call knows.
func messageOf(what string, m gjson.Result) (json.RawMessage, error) {
	role := m.Get("role").Str
	if !slices.Contains(roles, role) {
		return nil, badOrder("%s.role must be one of system, developer, user, assistant, tool", what)
	}
	content, err := contentOf(what+".content", m.Get("content"))
	if err != nil {
		return nil, err
	}
	one := message(role, content)
	for _, name := range []string{"name", "tool_calls", "tool_call_id"} {
		if v := m.Get(name); v.Exists() && v.Type != gjson.Null {
			one, _ = sjson.SetRawBytes(one, name, []byte(v.Raw)) // fails for empty names only
		}
	}
	return one, nil
}

// contentOf is what a message says: a text, or parts of any kind that the call knows. Parts in the words of Responses are put
// into those of Chat Completions.
func contentOf(what string, v gjson.Result) (json.RawMessage, error) {
	switch {
	case v.Type == gjson.String, v.Type == gjson.Null:
		return json.RawMessage(cmp.Or(v.Raw, "null")), nil
	case !v.IsArray():
		return nil, badOrder("%s must be a text or an array of parts", what)
	}
	parts := []json.RawMessage{}
	for i, part := range v.Array() {
		if !part.IsObject() {
			return nil, badOrder("%s[%d] must be an object", what, i)
		}
		parts = append(parts, partOf(part))
	}
	return json.Marshal(parts)
}

func partOf(part gjson.Result) json.RawMessage {
	var said any
	switch part.Get("type").Str {
	case "input_text", "output_text":
		said = map[string]any{"type": "text", "text": part.Get("text").Str}
	case "input_image":
		image := map[string]string{"url": part.Get("image_url").Str}
		if detail := part.Get("detail").Str; detail != "" {
			image["detail"] = detail
		}
		said = map[string]any{"type": "image_url", "image_url": image}
	default:
		return json.RawMessage(part.Raw)
	}
	text, _ := json.Marshal(said) // maps of texts cannot fail
	return text
}

// message is a message of the call; content is JSON.
func message(role string, content []byte) json.RawMessage {
	one, _ := sjson.SetRawBytes([]byte(`{"role":"`+role+`"}`), "content", content) // fails for empty names only
	return one
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	body, _ := json.Marshal(text) // a text cannot fail
	return body
}

func badOrder(format string, args ...any) *Refused {
	return &Refused{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: fmt.Sprintf(format, args...)}
}
