package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// readTools reads the tools and which of them are to be called.
func (r *responsesReview) readTools() {
	for _, tool := range r.body.member("tools").items() {
		kind := tool.member("type")
		switch {
		case !kind.found:
			r.refuse(r.missing(kind))
		case !kind.is("function"):
			continue // it runs on OpenAI's side, or is Codex's own
		case r.shaped(tool, responsesFunction):
			r.reviewName(tool.member("name"))
			if parameters := tool.member("parameters"); kindOf(parameters.value) == isObject {
				what := fmt.Sprintf("function '%s'", tool.member("name").text())
				r.reviewSchema(parameters, schemaRules{what: what, code: "invalid_function_parameters", strict: tool.member("strict").yes()})
			}
		}
		r.req.Tools = append(r.req.Tools, Tool{Name: tool.member("name").text(), Parameters: tool.member("parameters").json()})
	}
	r.readChoice()
}

// reviewName reviews the name of a function.
func (r *responsesReview) reviewName(n node) {
	switch name := n.text(); {
	case !functionName.MatchString(name):
		r.refuse(invalid(n.at, "invalid_value", fmt.Sprintf("Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", n.at)))
	default:
		r.reviewLength(n, 64)
	}
}

// reviewLength reviews how long a string is.
func (r *responsesReview) reviewLength(n node, most int) {
	if length := len(n.text()); length > most {
		r.refuse(invalid(n.at, "string_above_max_length", fmt.Sprintf("Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", n.at, most, length)))
	}
}

func (r *responsesReview) readChoice() {
	choice := r.body.member("tool_choice")
	switch kindOf(choice.value) {
	case isString:
		r.oneOf(choice, "none", "auto", "required")
		r.req.ToolChoice = choice.text()
	case isObject:
		if !choice.member("type").is("function") {
			return
		}
		name := choice.member("name")
		if !name.found {
			r.refuse(r.missing(name))
			return
		}
		if !slices.ContainsFunc(r.req.Tools, func(t Tool) bool { return t.Name == name.text() }) {
			r.refuse(invalid("tool_choice", "", "Tool choice 'function' not found in 'tools' parameter."))
		}
		r.req.ToolChoice = name.text()
	}
	if choice.is("required") && len(r.req.Tools) == 0 {
		r.refuse(invalid("tool_choice", "", "Tool choice 'required' must be specified with 'tools' parameter."))
	}
}

// schemaRules is whose schema is reviewed and how strictly.
type schemaRules struct {
	what   string // "function 'look'"
	code   string
	strict bool
}

// reviewSchema reviews a schema: of a tool's arguments, or of the answer.
func (r *responsesReview) reviewSchema(schema node, rules schemaRules) {
	if !schema.member("type").is("object") {
		kind := "None"
		if schema.member("type").found {
			kind = schema.member("type").text()
		}
		r.refuse(invalid(schema.at, rules.code, fmt.Sprintf("Invalid schema for %s: schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%s\"'.", rules.what, kind)))
		return
	}
	r.reviewSubschema(schema, schema.at, rules, nil)
}

// reviewSubschema reviews one schema inside, whose place in it is the path.
func (r *responsesReview) reviewSubschema(schema node, at string, rules schemaRules, path []string) {
	refuse := func(format string, args ...any) {
		r.refuse(invalid(at, rules.code, fmt.Sprintf("Invalid schema for %s: In context=(%s), %s", rules.what, contextOf(path), fmt.Sprintf(format, args...))))
	}
	kind := schema.member("type")
	if kind.is("object") || kind.has("object") {
		properties := schema.member("properties")
		switch {
		case rules.strict && schema.member("additionalProperties").value != false:
			refuse("'additionalProperties' is required to be supplied and to be false.")
		case !properties.found && len(path) == 0 && rules.code == "invalid_function_parameters":
			refuse("object schema missing properties.")
		}
		for _, name := range properties.names() {
			if rules.strict && !schema.member("required").has(name) {
				refuse("'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", name)
				break
			}
		}
	}
	if kind.is("array") && !schema.member("items").found {
		refuse("array schema missing items.")
	}
	if rules.strict && (schema.member("oneOf").found || schema.member("allOf").found) {
		refuse("'oneOf' is not permitted.")
	}
	for _, word := range []string{"properties", "$defs"} {
		inner := schema.member(word)
		for _, name := range inner.names() {
			r.reviewSubschema(inner.member(name), at, rules, append(path[:len(path):len(path)], word, name))
		}
	}
	for i, inner := range schema.member("anyOf").items() {
		r.reviewSubschema(inner, at, rules, append(path[:len(path):len(path)], "anyOf", fmt.Sprint(i)))
	}
	if items := schema.member("items"); items.found {
		r.reviewSubschema(items, at, rules, append(path[:len(path):len(path)], "items"))
	}
}

// contextOf writes a path as Python writes a tuple.
func contextOf(path []string) string {
	if len(path) == 1 {
		return "'" + path[0] + "',"
	}
	if len(path) == 0 {
		return ""
	}
	return "'" + strings.Join(path, "', '") + "'"
}
