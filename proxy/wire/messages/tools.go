package messages

import "hermes-hub/proxy/wire/neutral"

// checkTools refuses names that the protocol does not take.
func (e *encoder) checkTools(called []string) {
	for i := range e.r.Tools {
		if t := &e.r.Tools[i]; !validName(t.Name, longestName) {
			e.refuse(t.Path+".function.name", nameRule)
		}
	}
}

// tools writes what may be called. Where there is nothing but a history of calls, their tools are declared without a word.
func (e *encoder) tools(called []string) {
	if len(e.r.Tools)+len(called) == 0 {
		return
	}
	e.member("tools")
	sep := "["
	for i := range e.r.Tools {
		e.add(sep)
		e.tool(&e.r.Tools[i])
		sep = ","
	}
	if len(e.r.Tools) == 0 {
		for _, name := range called {
			e.add(sep)
			e.add(`{"name":`)
			e.quote(name)
			e.add(`,"input_schema":` + emptySchema + `}`)
			sep = ","
		}
	}
	e.add("]")
}

func (e *encoder) tool(t *neutral.Tool) {
	if t.Strict != nil && *t.Strict {
		e.drop("tools[].function.strict")
	}
	e.add(`{"name":`)
	e.quote(t.Name)
	if !t.Description.Empty() {
		e.member("description")
		e.out = append(e.out, t.Description...)
	}
	e.member("input_schema")
	e.toolSchema(t)
	e.end(t.Cache)
}

// choice writes how free the model is to call.
func (e *encoder) choice(called []string) {
	c := e.r.Choice
	if len(e.r.Tools) == 0 {
		if len(called) == 0 {
			return
		}
		c = neutral.Choice{Mode: neutral.ChoiceNone}
	}
	if !e.m.forced && (c.Mode == neutral.ChoiceAny || c.Mode == neutral.ChoiceTool) {
		e.drop("tool_choice")
		c = neutral.Choice{Mode: neutral.ChoiceAuto}
	}
	single := e.r.Parallel != nil && !*e.r.Parallel
	kind := ""
	switch c.Mode {
	case neutral.ChoiceNone:
		e.add(`,"tool_choice":{"type":"none"}`)
		return
	case neutral.ChoiceAny:
		kind = "any"
	case neutral.ChoiceTool:
		kind = "tool"
	case neutral.ChoiceAuto:
		kind = "auto"
	default:
		if !single {
			return
		}
		kind = "auto"
	}
	e.add(`,"tool_choice":{"type":"` + kind + `"`)
	if kind == "tool" {
		e.member("name")
		e.quote(c.Name)
	}
	if single {
		e.add(`,"disable_parallel_tool_use":true`)
	}
	e.add("}")
}

// mostMarks is how many cache marks one request may have.
const mostMarks = 4

// countMarks returns how many cache marks are too many. The earliest are left out: what they mark is in front of the later
// ones, and cached with it.
func (e *encoder) countMarks(c *conversation) int {
	n := 0
	count := func(cache bool) {
		if cache {
			n++
		}
	}
	for i := range e.r.Tools {
		count(e.r.Tools[i].Cache)
	}
	for _, p := range c.system {
		count(p.Cache)
	}
	for i := range c.messages {
		for _, p := range c.messages[i].results {
			count(p.Cache)
		}
		for _, p := range c.messages[i].parts {
			count(p.Cache && p.Kind != neutral.ReasoningPart)
		}
	}
	return max(n-mostMarks, 0)
}
