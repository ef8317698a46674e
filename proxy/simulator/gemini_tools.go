package simulator

import (
	"fmt"
	"slices"
	"strings"
)

// readTools reads the tools and which of them are to be called.
func (g *geminiReview) readTools() {
	seen := map[string]bool{}
	for _, tool := range g.body.member("tools").items() {
		for _, declaration := range tool.member("functionDeclarations").items() {
			name, parameters := declaration.member("name").text(), declaration.member("parameters")
			switch {
			case !geminiName.MatchString(name):
				g.say("* GenerateContentRequest.%s: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", declaration.member("name").at)
			case seen[name]:
				g.say("Duplicate function declaration found: %s", name)
			case parameters.found && declaration.member("parametersJsonSchema").found:
				g.say("* GenerateContentRequest.%s: only one of parameters and parameters_json_schema may be set.\n", declaration.at)
			case parameters.found:
				g.reviewSchema(parameters, parameters.at)
			}
			seen[name] = true
			schema := parameters.json()
			if !parameters.found {
				schema = declaration.member("parametersJsonSchema").json()
			}
			g.req.Tools = append(g.req.Tools, Tool{Name: name, Parameters: schema})
		}
	}
	calling := g.body.member("toolConfig").member("functionCallingConfig")
	mode, allowed := strings.ToUpper(calling.member("mode").text()), calling.member("allowedFunctionNames").items()
	switch {
	case mode != "" && !slices.Contains([]string{"MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"}, mode):
		g.refuse(violations([]*problem{{param: calling.member("mode").at, message: fmt.Sprintf("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), %s", calling.member("mode").at, calling.member("mode").json())}}))
	case mode == "ANY" && len(g.req.Tools) == 0:
		g.say("Function calling config is set without function_declarations.")
	case len(allowed) > 0 && mode != "ANY" && mode != "VALIDATED":
		g.say("* GenerateContentRequest.%s: allowed_function_names should only be set when the mode is ANY or VALIDATED.\n", calling.member("allowedFunctionNames").at)
	}
	g.req.ToolChoice = map[string]string{"ANY": "required", "NONE": "none", "AUTO": "auto"}[mode]
	for _, name := range allowed {
		if !seen[name.text()] {
			g.say("* GenerateContentRequest.%s: allowed function name %s is not declared.\n", name.at, name.text())
		}
		if len(allowed) == 1 && mode == "ANY" {
			g.req.ToolChoice = name.text()
		}
	}
}

// reviewSchemaForm reviews the names and types of a schema: a subset of OpenAPI's, nothing else of JSON Schema's.
func (g *geminiReview) reviewSchemaForm(schema node) {
	if !g.shaped(schema, geminiSchema) {
		return
	}
	if kind := schema.member("type"); kind.found && !geminiTypes.MatchString(kind.text()) {
		g.refuse(&problem{param: kind.at, message: fmt.Sprintf("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), %s", kind.at, kind.json())})
	}
	for _, word := range []string{"enum", "required"} {
		for _, value := range schema.member(word).items() {
			if kindOf(value.value) != isString {
				g.refuse(g.kind(value, isString))
			}
		}
	}
	properties := schema.member("properties")
	for i, name := range properties.names() {
		g.reviewSchemaForm(properties.entry(i, name))
	}
	for _, inner := range schema.member("anyOf").items() {
		g.reviewSchemaForm(inner)
	}
	if items := schema.member("items"); items.found {
		g.reviewSchemaForm(items)
	}
}

// entry is the entry of a map under exactly that name, as Google names its place: a property may be called what an alias
// of another is.
func (n node) entry(i int, name string) node {
	inner := node{at: fmt.Sprintf("%s[%d].value", n.at, i), style: n.style}
	if o, ok := n.value.(*object); ok {
		inner.value, inner.found = o.values[name]
	}
	return inner
}

// reviewSchema reviews what a schema says. Its place names properties by their name.
func (g *geminiReview) reviewSchema(schema node, at string) {
	kind := strings.ToUpper(schema.member("type").text())
	properties := schema.member("properties")
	switch {
	case kind == "OBJECT" && properties.found && len(properties.names()) == 0 && !strings.HasPrefix(g.req.Model, "claude-"):
		g.say("* GenerateContentRequest.%s.properties: should be non-empty for OBJECT type\n", at)
	case kind == "ARRAY" && !schema.member("items").found:
		g.say("* GenerateContentRequest.%s.items: missing field.\n", at)
	case kind != "OBJECT" && len(properties.names()) > 0:
		g.say("* GenerateContentRequest.%s.properties: only allowed for OBJECT type\n", at)
	}
	if len(schema.member("enum").items()) > 0 && kind != "STRING" {
		g.say("* GenerateContentRequest.%s.enum: only allowed for STRING type\n", at)
	}
	for i, value := range schema.member("enum").items() {
		if value.is("") {
			g.say("* GenerateContentRequest.%s.enum[%d]: cannot be empty\n", at, i)
		}
	}
	if format := schema.member("format").text(); kind == "STRING" && format != "" && format != "enum" && format != "date-time" {
		g.say("* GenerateContentRequest.%s.format: only 'enum' and 'date-time' are supported for STRING type\n", at)
	}
	for i, name := range schema.member("required").items() {
		if !slices.Contains(properties.names(), name.text()) {
			g.say("* GenerateContentRequest.%s.required[%d]: property is not defined\n", at, i)
		}
	}
	for i, name := range properties.names() {
		g.reviewSchema(properties.entry(i, name), fmt.Sprintf("%s.properties[%s]", at, name))
	}
	for i, inner := range schema.member("anyOf").items() {
		g.reviewSchema(inner, fmt.Sprintf("%s.any_of[%d]", at, i))
	}
	if items := schema.member("items"); items.found {
		g.reviewSchema(items, at+".items")
	}
}
