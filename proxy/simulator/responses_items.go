package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// responsesItem is an item of the input as the rules of conversations see it.
type responsesItem struct {
	node
	kind, role string
}

// readInput reads the input: a string, or items.
func (r *responsesReview) readInput() {
	input := r.body.member("input")
	if kindOf(input.value) == isString {
		r.req.LastRole, r.req.LastUser = "user", input.text()
		return
	}
	seen := map[string]bool{}
	for _, n := range input.items() {
		item, ok := r.readItem(n)
		if !ok {
			continue
		}
		if id := n.member("id").text(); id != "" && item.kind != "item_reference" {
			if seen[id] {
				r.refuse(invalid("input", "", fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", id)))
			}
			seen[id] = true
		}
		r.items = append(r.items, item)
	}
	if len(r.items) == 0 && r.first() == nil {
		r.refuse(invalid("input", "empty_array", "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead."))
	}
}

// idPrefixes are how ids of items begin.
var idPrefixes = map[string]string{"message": "msg", "function_call": "fc", "reasoning": "rs"}

func (r *responsesReview) readItem(n node) (responsesItem, bool) {
	item := responsesItem{node: n, kind: n.member("type").text()}
	if item.kind == "" && n.member("role").found {
		item.kind = "message"
	}
	s, known := responsesItems[item.kind]
	if kindOf(n.value) != isObject {
		r.refuse(r.kind(n, isObject))
		return item, false
	}
	if !known {
		words := make([]string, 0, len(responsesItems))
		for word := range responsesItems {
			words = append(words, word)
		}
		slices.Sort(words)
		r.oneOf(node{at: n.at, value: item.kind, found: true, style: n.style}, words...)
		return item, false
	}
	if !r.shaped(n, s) {
		return item, false
	}
	if id, prefix := n.member("id"), idPrefixes[item.kind]; id.text() != "" && !strings.HasPrefix(id.text(), prefix) {
		r.refuse(invalid(id.at, "invalid_value", fmt.Sprintf("Invalid '%s': '%s'. Expected an ID that begins with '%s'.", id.at, id.text(), prefix)))
	}
	switch item.kind {
	case "message":
		item.role = n.member("role").text()
		r.readMessage(n, item.role)
	case "function_call":
		r.reviewName(n.member("name"))
		r.reviewLength(n.member("call_id"), 64)
	case "function_call_output":
		r.readOutput(n)
	case "reasoning":
		r.readReasoning(n)
	case "item_reference":
		r.refuse(itemNotFound(n.member("id").text()))
	}
	if item.role != "" {
		r.req.LastRole = item.role
	}
	return item, true
}

// readMessage reads one message.
func (r *responsesReview) readMessage(n node, role string) {
	if !slices.Contains([]string{"assistant", "system", "developer", "user"}, role) {
		r.oneOf(n.member("role"), "assistant", "system", "developer", "user")
		return
	}
	content := n.member("content")
	var text strings.Builder
	text.WriteString(content.text())
	allowed := []string{"input_text", "input_image", "input_file", "input_audio"}
	if role == "assistant" {
		allowed = []string{"output_text", "refusal"}
	}
	for _, part := range content.items() {
		text.WriteString(r.readPart(part, allowed))
	}
	switch role {
	case "user":
		r.req.LastUser, r.req.Results = text.String(), nil
	case "system", "developer":
		r.req.System += text.String()
	}
}

// readPart reads one part of a message or of a tool's output, and is its text.
func (r *responsesReview) readPart(part node, allowed []string) string {
	kind := part.member("type").text()
	if !slices.Contains(allowed, kind) {
		r.oneOf(node{at: part.at, value: kind, found: true, style: part.style}, allowed...)
		return ""
	}
	if !r.shaped(part, responsesParts[kind]) {
		return ""
	}
	if kind == "input_image" {
		r.req.Images++
		url := part.member("image_url").text()
		switch {
		case url == "" && part.member("file_id").text() == "":
			r.refuse(r.missing(part.member("image_url")))
		case url != "" && !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "data:image/"):
			r.refuse(invalid(part.member("image_url").at, "invalid_value", fmt.Sprintf("Invalid '%s'. Expected a valid URL, but got a value with an invalid format.", part.member("image_url").at)))
		}
	}
	return part.member("text").text()
}

func (r *responsesReview) readOutput(n node) {
	output := n.member("output")
	var text strings.Builder
	text.WriteString(output.text())
	for _, part := range output.items() {
		text.WriteString(r.readPart(part, []string{"input_text", "input_image", "input_file"}))
	}
	r.req.LastRole = "tool"
	r.req.Results = append(r.req.Results, ToolResult{ID: n.member("call_id").text(), Text: text.String()})
}

// readReasoning reviews that reasoning is what this account said.
func (r *responsesReview) readReasoning(n node) {
	if thoughts := len(n.member("content").items()); thoughts > 0 {
		r.refuse(invalid(n.member("content").at, "array_above_max_length", fmt.Sprintf("Invalid '%s': array too long. Expected an array with maximum length 0, but got an array with length %d instead.", n.member("content").at, thoughts)))
	}
	for _, part := range n.member("summary").items() {
		if !part.member("type").is("summary_text") {
			r.oneOf(node{at: part.at, value: part.member("type").text(), found: true, style: part.style}, "summary_text")
		}
	}
	content := n.member("encrypted_content").text()
	if content == "" {
		if id := n.member("id").text(); id != "" && r.body.member("store").value == false {
			r.refuse(itemNotFound(id))
		}
		return
	}
	if own, whole := decrypts(r.in.account.Name, content); !own {
		reason := "Encrypted content could not be decrypted or parsed."
		if whole {
			reason = "Encrypted content organization_id did not match the target organization."
		}
		r.refuse(invalid("", "invalid_encrypted_content", fmt.Sprintf("The encrypted content %s could not be verified. Reason: %s", ends(content), reason)))
	}
}

// ends is the beginning and the end of what is too long to be told.
func ends(text string) string {
	if len(text) < 9 {
		return text
	}
	return text[:4] + "..." + text[len(text)-4:]
}

// reviewPairs reviews that every call of a tool has its output, and every output a call before it.
func (r *responsesReview) reviewPairs() {
	open := map[string]string{} // id of the call → kind
	var order []string
	for _, item := range r.items {
		id := item.member("call_id").text()
		switch item.kind {
		case "function_call", "custom_tool_call":
			open[id] = item.kind
			order = append(order, id)
		case "function_call_output", "custom_tool_call_output":
			if open[id]+"_output" != item.kind {
				r.refuse(invalid("input", "", fmt.Sprintf("No tool call found for %s with call_id %s.", strings.ReplaceAll(item.kind, "_", " "), id)))
			}
			delete(open, id)
		}
	}
	for _, id := range order {
		if kind := open[id]; kind != "" {
			r.refuse(invalid("input", "", fmt.Sprintf("No tool output found for %s %s.", strings.ReplaceAll(kind, "_", " "), id)))
		}
	}
}

// reviewReasoning reviews that reasoning stands before what it led to. What has no id is not looked at.
func (r *responsesReview) reviewReasoning() {
	for i, item := range r.items {
		if item.kind != "reasoning" || item.member("id").text() == "" {
			continue
		}
		next := i + 1
		for next < len(r.items) && r.items[next].kind == "reasoning" {
			next++
		}
		if next == len(r.items) || strings.HasSuffix(r.items[next].kind, "_output") || r.items[next].kind == "message" && r.items[next].role != "assistant" {
			r.refuse(invalid("input", "", fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", item.member("id").text())))
		}
	}
}
