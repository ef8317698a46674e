package gemini

import (
	"strings"

	"hermes-hub/proxy/wire/neutral"
)

// tools writes the functions that the model may call, and how free it is to.
func (e *encoder) tools() {
	tools := e.r.Tools
	// A model that cannot have a shaped answer beside tools can have one if it may call none of them anyway.
	idle := e.r.Choice.Mode == neutral.ChoiceNone && e.r.Format.Kind != 0 && !e.m.both()
	if len(tools) == 0 || idle {
		if e.r.Choice.Mode == neutral.ChoiceAny || e.r.Choice.Mode == neutral.ChoiceTool {
			e.refuse("tool_choice", "asks for a call, but there are no tools")
		}
		return
	}
	e.member("tools")
	e.raw(`[{"functionDeclarations":[`)
	for i := range tools {
		e.tool(&tools[i])
	}
	e.raw("]}]")
	e.choice()
}

func (e *encoder) tool(t *neutral.Tool) {
	if !fits(t.Name) {
		e.refuse(t.Path+".function.name", "must begin with a letter or an underscore and hold at most 128 letters, digits, _ . : - for this account")
	}
	if t.Strict != nil && *t.Strict {
		e.drop("tools[].function.strict")
	}
	if t.Cache {
		e.drop("cache_control")
	}
	e.comma()
	e.raw(`{"name":`)
	e.quote(t.Name)
	if !t.Description.Empty() {
		e.member("description")
		e.text(t.Description)
	}
	e.parameters(t)
	e.raw("}")
}

// parameters writes the schema of a tool's arguments. Without one a function takes none, which Gemini is told by silence;
// Claude wants it said: "tools.0.custom.input_schema: Field required" (router-for-me/CLIProxyAPI#407).
func (e *encoder) parameters(t *neutral.Tool) {
	field := t.Path + ".function.parameters"
	if kind := memberOf(t.Schema, "type"); len(kind) > 0 && kind[0] == '"' && !strings.EqualFold(string(kind), `"object"`) {
		e.refuse(field, "must describe an object")
	}
	switch {
	case e.m.jsonSchema() && t.Schema != nil:
		e.member("parametersJsonSchema")
		e.schema(t.Schema, field)
	case !e.m.claude && (t.Schema == nil || noProperties(t.Schema)):
	case t.Schema == nil:
		e.member("parameters")
		e.raw(`{"type":"object","properties":{}}`)
	default:
		e.member("parameters")
		e.schema(t.Schema, field)
	}
}

// choice writes toolConfig.
func (e *encoder) choice() {
	c := e.r.Choice
	mode := ""
	switch c.Mode {
	case neutral.ChoiceAuto:
		mode = "AUTO"
	case neutral.ChoiceNone:
		mode = "NONE"
	case neutral.ChoiceAny, neutral.ChoiceTool:
		mode = "ANY"
	default:
		return
	}
	e.member("toolConfig")
	e.raw(`{"functionCallingConfig":{"mode":"` + mode + `"`)
	if c.Mode == neutral.ChoiceTool {
		if !e.hasTool(c.Name) {
			e.refuse("tool_choice", "names a tool that is not among the tools")
		}
		e.raw(`,"allowedFunctionNames":[`)
		e.quote(c.Name)
		e.raw("]")
	}
	e.raw("}}")
}

func (e *encoder) hasTool(name string) bool {
	for i := range e.r.Tools {
		if e.r.Tools[i].Name == name {
			return true
		}
	}
	return false
}
