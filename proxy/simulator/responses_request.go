package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// responsesReview goes through a Responses body.
type responsesReview struct {
	review
	in    inbound
	body  node
	req   Request
	items []responsesItem
}

// parseResponses reads a body as OpenAI does, and refuses what OpenAI refuses, in its words.
func parseResponses(in inbound) (Request, *problem) {
	tree, ok := readTree(in.body)
	if !ok || kindOf(tree) != isObject {
		return Request{}, invalid("", "", "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)")
	}
	r := &responsesReview{in: in, body: node{value: tree, found: true, style: &bracketed}}
	r.complaints = openAIComplaints
	if r.outline(); r.first() == nil {
		r.readTools()
		r.readInput()
		r.reviewPairs()
		r.reviewReasoning()
	}
	if wrong := r.first(); wrong != nil {
		return Request{}, wrong
	}
	r.req.PromptTokens = tokens(len(r.body.member("input").json()) + len(r.body.member("instructions").json()) + len(r.body.member("tools").json()))
	return r.req, nil
}

// outline reviews the body's own members.
func (r *responsesReview) outline() {
	b := r.body
	r.req = Request{Model: b.member("model").text(), Stream: b.member("stream").yes(), IncludeUsage: true, N: 1, System: b.member("instructions").text(), codex: r.in.codex}
	if r.in.codex {
		r.reviewCodex()
	}
	r.shaped(b, responsesBody)
	if r.first() != nil {
		return
	}
	r.req.echo = responsesEchoOf(b)
	if kindOf(b.member("input").value) == isNull && !b.member("previous_response_id").found && !b.member("prompt").found {
		r.refuse(invalid("", "missing_required_parameter", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."))
	}
	if most := b.member("max_output_tokens"); kindOf(most.value) == isInteger && most.integer() < 16 {
		r.refuse(invalid(most.at, "integer_below_min_value", fmt.Sprintf("Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", most.integer())))
	}
	if id := b.member("previous_response_id").text(); id != "" {
		r.refuse(invalid("previous_response_id", "previous_response_not_found", fmt.Sprintf("Previous response with id '%s' not found.", id)))
	}
	r.reviewSampling()
	r.reviewFormat()
	r.reviewEffort()
}

// reviewCodex reviews what the Codex backend wants before anything else. Codex CLI says its instructions as a developer, in
// front of everything (0.169).
func (r *responsesReview) reviewCodex() {
	for _, name := range []string{"max_output_tokens", "temperature", "top_p", "metadata", "user", "truncation", "previous_response_id", "safety_identifier", "prompt_cache_retention", "background", "max_tool_calls", "top_logprobs"} {
		if r.body.member(name).found {
			r.refuse(codexDetail("Unsupported parameter: " + name))
		}
	}
	items := r.body.member("input").items()
	instructed := r.req.System != "" || len(items) > 0 && items[0].member("role").is("developer")
	switch {
	case !instructed:
		r.refuse(codexDetail("Instructions are required"))
	case kindOf(r.body.member("input").value) != isArray:
		r.refuse(codexDetail("Input must be a list"))
	case r.body.member("store").value != false:
		r.refuse(codexDetail("Store must be set to false"))
	case !r.req.Stream:
		r.refuse(codexDetail("Stream must be set to true"))
	}
	for _, item := range items {
		if item.member("role").is("system") {
			r.refuse(codexDetail("System messages are not allowed"))
		}
	}
}

func (r *responsesReview) reviewSampling() {
	for _, limit := range []struct {
		name string
		most float64
	}{{"temperature", 2}, {"top_p", 1}} {
		name, most := limit.name, limit.most
		value, given := r.body.member(name).number()
		switch {
		case given && unsampled.MatchString(r.req.Model):
			r.refuse(invalid(name, "", fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", name)))
		case given && value < 0:
			r.refuse(invalid(name, "decimal_below_min_value", fmt.Sprintf("Invalid '%s': decimal below minimum value. Expected a value >= 0, but got %v instead.", name, value)))
		case given && value > most:
			r.refuse(invalid(name, "decimal_above_max_value", fmt.Sprintf("Invalid '%s': decimal above maximum value. Expected a value <= %v, but got %v instead.", name, most, value)))
		}
	}
}

// reviewFormat reviews what shape the answer shall have.
func (r *responsesReview) reviewFormat() {
	text := r.body.member("text")
	if kindOf(text.value) == isNull || !r.shaped(text, responsesText) {
		return
	}
	r.oneOf(text.member("verbosity"), "low", "medium", "high")
	format := text.member("format")
	if kindOf(format.value) == isNull {
		return
	}
	s, known := responsesFormats[format.member("type").text()]
	switch {
	case !format.member("type").found:
		r.refuse(r.missing(format.member("type")))
	case !known:
		r.oneOf(format.member("type"), "text", "json_object", "json_schema")
	case r.shaped(format, s) && format.member("type").is("json_schema"):
		what := fmt.Sprintf("response_format '%s'", format.member("name").text())
		r.reviewSchema(format.member("schema"), schemaRules{what: what, code: "invalid_json_schema", strict: format.member("strict").yes()})
	}
}

// reviewEffort reviews what the request wants of the model's reasoning.
func (r *responsesReview) reviewEffort() {
	reasoning := r.body.member("reasoning")
	if kindOf(reasoning.value) != isNull && r.shaped(reasoning, responsesReasons) {
		r.oneOf(reasoning.member("effort"), "none", "minimal", "low", "medium", "high", "xhigh")
		r.oneOf(reasoning.member("summary"), "auto", "concise", "detailed")
	}
	for _, word := range r.body.member("include").items() {
		r.oneOf(word, "file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs", "reasoning.encrypted_content", "message.output_text.logprobs")
	}
	r.req.reasons = !reasoning.member("effort").is("none")
	r.req.shows = reasoning.member("summary").text() != ""
	r.req.encrypted = r.body.member("include").has("reasoning.encrypted_content")
}

// oneOf reviews that a value that is given is one of the words.
func (r *responsesReview) oneOf(n node, words ...string) {
	if kindOf(n.value) == isNull || slices.Contains(words, n.text()) {
		return
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "'" + word + "'"
	}
	last := len(quoted) - 1
	list := strings.Join(quoted[:last], ", ") + ", and " + quoted[last]
	if last < 2 {
		list = strings.Join(quoted, " and ")
	}
	r.refuse(invalid(n.at, "invalid_value", fmt.Sprintf("Invalid value: '%s'. Supported values are: %s.", n.text(), list)))
}

// itemNotFound is an item that was never kept.
func itemNotFound(id string) *problem {
	p := invalid("input", "", fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id))
	p.status = http.StatusNotFound
	return p
}
