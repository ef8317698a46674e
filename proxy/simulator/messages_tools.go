package simulator

import (
	"fmt"
	"slices"
)

// readTools reads the tools and which of them are to be called.
func (m *messagesReview) readTools() {
	seen := map[string]bool{}
	for _, tool := range m.body.member("tools").items() {
		kind := tool.member("type")
		if kind.found && kindOf(kind.value) != isNull && !kind.is("custom") {
			m.mark(tool.member("cache_control")) // it runs on Anthropic's side, or has a shape of its own
			continue
		}
		custom := tool.under("custom")
		if !m.shaped(custom, messagesTool) {
			continue
		}
		name := custom.member("name").text()
		switch {
		case !toolName.MatchString(name):
			m.refuse(invalidMessages(custom.member("name").at + ": String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"))
		case seen[name]:
			m.refuse(invalidMessages("tools: Tool names must be unique."))
		}
		seen[name] = true
		m.reviewSchema(custom.member("input_schema"), custom.member("strict").yes())
		m.mark(tool.member("cache_control"))
		m.req.Tools = append(m.req.Tools, Tool{Name: name, Parameters: custom.member("input_schema").json()})
	}
	m.readChoice(seen)
}

func (m *messagesReview) readChoice(tools map[string]bool) {
	choice := m.body.member("tool_choice")
	if !choice.found || !m.shaped(choice, messagesChoice) {
		return
	}
	kind, name := choice.member("type").text(), choice.member("name").text()
	switch {
	case !slices.Contains([]string{"auto", "any", "tool", "none"}, kind):
		m.refuse(invalidMessages(fmt.Sprintf("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'", kind)))
	case kind != "none" && len(m.body.member("tools").items()) == 0:
		m.refuse(invalidMessages("tool_choice may only be specified while providing tools."))
	case kind == "tool" && name == "":
		m.refuse(invalidMessages("tool_choice.tool.name: Field required"))
	case kind == "tool" && len(tools) > 0 && !tools[name]:
		m.refuse(invalidMessages(fmt.Sprintf("Tool '%s' not found in provided tools", name)))
	}
	switch m.req.ToolChoice = kind; kind {
	case "any":
		m.req.ToolChoice = "required"
	case "tool":
		m.req.ToolChoice = name
	}
}

// reviewSchema reviews the schema of a tool's arguments.
func (m *messagesReview) reviewSchema(schema node, strict bool) {
	kind := schema.member("type")
	switch {
	case !kind.found:
		m.refuse(m.missing(kind))
	case !kind.is("object"):
		m.refuse(invalidMessages(kind.at + ": Input should be 'object'"))
	}
	for _, word := range []string{"oneOf", "allOf", "anyOf"} {
		if schema.member(word).found {
			m.refuse(invalidMessages(schema.at + ": input_schema does not support oneOf, allOf, or anyOf at the top level"))
			break
		}
	}
	for _, name := range schema.member("properties").names() {
		if !propertyKey.MatchString(name) {
			m.refuse(invalidMessages(schema.at + ".properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"))
		}
	}
	if strict {
		m.reviewStrict(schema.at, schema)
	}
}

// unstrict are the words that a schema by which the answer is forced cannot have.
var unstrict = map[string][]string{
	"integer": {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"},
	"number":  {"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"},
	"string":  {"maxLength", "minLength"},
	"array":   {"maxItems", "uniqueItems"},
}

// reviewStrict reviews a schema by which the answer is forced. All complaints name the place of the whole schema.
func (m *messagesReview) reviewStrict(at string, schema node) {
	kind := schema.member("type").text()
	if extra := schema.member("additionalProperties"); kind == "object" {
		switch {
		case !extra.found:
			m.refuse(invalidMessages(at + ": For 'object' type, 'additionalProperties' must be explicitly set to false"))
		case extra.value != false:
			m.refuse(invalidMessages(fmt.Sprintf("%s: For 'object' type, 'additionalProperties: %s' is not supported. Please set 'additionalProperties' to false", at, extra.json())))
		}
	}
	for _, word := range unstrict[kind] {
		if schema.member(word).found {
			m.refuse(invalidMessages(fmt.Sprintf("%s: For '%s' type, property '%s' is not supported", at, kind, word)))
		}
	}
	for _, inner := range subschemas(schema) {
		m.reviewStrict(at, inner)
	}
}

// subschemas are the schemas that a schema is made of.
func subschemas(schema node) []node {
	var inner []node
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner = append(inner, schema.member(word).members()...)
	}
	for _, word := range []string{"anyOf", "allOf", "oneOf"} {
		inner = append(inner, schema.member(word).items()...)
	}
	if items := schema.member("items"); items.found {
		inner = append(inner, items)
	}
	return inner
}
