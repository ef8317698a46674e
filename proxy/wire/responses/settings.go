package responses

import (
	"cmp"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// noArguments is the schema of a tool that takes none.
const noArguments = `{"type":"object","properties":{}}`

// tools writes what the model may call, and how free it is to. Without tools there is nothing to choose.
func (e *encoder) tools() {
	if len(e.r.Tools) == 0 {
		return
	}
	e.add(`,"tools":[`)
	for i := range e.r.Tools {
		t := &e.r.Tools[i]
		e.separate()
		e.add(`{"type":"function","name":`)
		e.quote(t.Name)
		if !t.Description.Empty() {
			e.add(`,"description":`)
			e.raw(t.Description)
		}
		e.add(`,"parameters":`)
		e.schema(t.Schema)
		e.strict(t.Strict)
		e.add(`}`)
		e.without("cache_control", t.Cache)
	}
	e.add(`]`)
	e.choice()
	if e.r.Parallel != nil {
		e.flag("parallel_tool_calls", *e.r.Parallel)
	}
}

// schema writes a schema as it came; none at all is one without arguments.
func (e *encoder) schema(s []byte) {
	if m := wire.Object(s); len(s) > 0 {
		if _, _, some := m.Next(); some {
			e.raw(s)
			return
		}
	}
	e.add(noArguments)
}

// strict writes the member always: what is not said means false to a chat completion, and true here.
func (e *encoder) strict(s *bool) { e.flag("strict", s != nil && *s) }

func (e *encoder) flag(name string, on bool) {
	if on {
		e.member(name, "true")
	} else {
		e.member(name, "false")
	}
}

func (e *encoder) choice() {
	switch e.r.Choice.Mode {
	case neutral.ChoiceAuto:
		e.member("tool_choice", `"auto"`)
	case neutral.ChoiceNone:
		e.member("tool_choice", `"none"`)
	case neutral.ChoiceAny:
		e.member("tool_choice", `"required"`)
	case neutral.ChoiceTool:
		e.member("tool_choice", `{"type":"function","name":`+wire.Quote(e.r.Choice.Name)+`}`)
	}
}

// text writes the shape of the answer, and how long it shall be.
func (e *encoder) text() {
	f := &e.r.Format
	if f.Kind == 0 && e.r.Verbosity == "" {
		return
	}
	e.add(`,"text":{`)
	switch f.Kind {
	case neutral.FormatJSON:
		e.add(`"format":{"type":"json_object"}`)
	case neutral.FormatSchema:
		e.add(`"format":{"type":"json_schema","name":`)
		e.quote(cmp.Or(f.Name, "answer"))
		if !f.Description.Empty() {
			e.add(`,"description":`)
			e.raw(f.Description)
		}
		e.add(`,"schema":`)
		e.schema(f.Schema)
		e.strict(f.Strict)
		e.add(`}`)
	}
	if e.r.Verbosity != "" {
		e.separate()
		e.add(`"verbosity":`)
		e.quote(e.r.Verbosity)
	}
	e.add(`}`)
}

// reasoning writes how much the model shall think, and asks for its thoughts: their summary for the reader, and their
// encrypted form, because nothing is stored that the next turn could go on from.
//
// A summary is asked for only where thinking was: OpenAI refuses it to organisations that are not verified.
func (e *encoder) reasoning() {
	effort := e.r.Effort
	if effort == "" && e.r.ReasoningTokens > 0 {
		effort = effortOf(e.r.ReasoningTokens)
	}
	e.without("reasoning.max_tokens", e.r.ReasoningTokens > 0)
	if e.known && !e.family.reasons() {
		e.without("reasoning_effort", e.r.Effort != "" && e.r.Effort != "none")
		return
	}
	if e.known && effort != "" {
		nearest := e.family.nearest(effort)
		e.without("reasoning_effort", nearest != effort && e.r.Effort != "")
		effort = nearest
	}
	switch {
	case effort == "none":
		e.member("reasoning", `{"effort":"none"}`)
	case effort != "":
		e.member("reasoning", `{"effort":`+wire.Quote(effort)+`,"summary":"auto"}`)
	case e.t.Codex:
		e.member("reasoning", `{"summary":"auto"}`)
	}
	e.member("include", `["reasoning.encrypted_content"]`)
}
