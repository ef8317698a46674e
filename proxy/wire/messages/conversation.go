package messages

import (
	"hermes-hub/proxy/wire/neutral"
)

// conversation is the turns as the protocol has them: what the system says first, then user and assistant in alternation.
type conversation struct {
	system   []*neutral.Part
	messages []message
	called   []string        // names of the tools that were called, each once
	known    map[string]bool // the same names
}

// message is one turn of the protocol. Results of calls stand in front of anything else that a user says.
type message struct {
	assistant bool
	results   []*neutral.Part
	parts     []*neutral.Part
}

// conversation arranges the turns, leaves out what cannot be said, and refuses what may not be.
func (e *encoder) conversation() *conversation {
	c := &conversation{known: map[string]bool{}}
	turns := e.r.Turns
	leading := 0
	for leading < len(turns)-1 && turns[leading].Role == neutral.System {
		leading++
	}
	for i := range turns {
		t := &turns[i]
		if t.Name != "" {
			e.drop("messages[].name")
		}
		for j := range t.Parts {
			p := &t.Parts[j]
			switch {
			case !e.keep(p):
			case i < leading:
				c.system = append(c.system, p)
			default:
				c.add(t.Role == neutral.Assistant, p)
			}
		}
	}
	if len(c.messages) == 0 {
		e.refuse("messages", "say nothing that a user or an assistant has said")
	}
	e.checkCalls(c)
	return c
}

// add appends a part to the turn that is under way, or begins the next.
func (c *conversation) add(assistant bool, p *neutral.Part) {
	if n := len(c.messages); n == 0 || c.messages[n-1].assistant != assistant {
		c.messages = append(c.messages, message{assistant: assistant})
	}
	m := &c.messages[len(c.messages)-1]
	if p.Kind == neutral.ToolResultPart {
		m.results = append(m.results, p)
	} else {
		m.parts = append(m.parts, p)
	}
	if p.Kind == neutral.ToolCallPart && !c.known[p.Name] {
		c.called, c.known[p.Name] = append(c.called, p.Name), true
	}
}

// keep reports whether a part is written at all.
func (e *encoder) keep(p *neutral.Part) bool {
	switch p.Kind {
	case neutral.TextPart, neutral.RefusalPart:
		return !blank(p.Text)
	case neutral.ReasoningPart:
		switch {
		case e.m.claude && !p.Seal.Is():
			e.drop("messages[].reasoning_content")
			return false
		case e.m.claude && p.Seal.Format != neutral.SealAnthropic, !e.m.claude && p.Text.Empty():
			e.drop("messages[].reasoning_details")
			return false
		}
	case neutral.ToolCallPart:
		if p.Seal.Is() { // Google's; the call stands without it
			e.drop("messages[].tool_calls[].extra_content")
		}
	}
	return true
}

// blank reports whether a literal says nothing but white space, which the API refuses as a text.
func blank(l neutral.Literal) bool {
	inner := l.Inner()
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == ' ':
		case c == '\\' && i+1 < len(inner) && (inner[i+1] == 'n' || inner[i+1] == 't' || inner[i+1] == 'r'):
			i++
		default:
			return false
		}
	}
	return true
}

// checkCalls refuses a call without its result in the next turn.
func (e *encoder) checkCalls(c *conversation) {
	for i := range c.messages {
		m := &c.messages[i]
		if !m.assistant {
			continue
		}
		answered := map[string]bool{}
		if i+1 < len(c.messages) {
			for _, r := range c.messages[i+1].results {
				answered[r.ID] = true
			}
		}
		for _, p := range m.parts {
			if p.Kind == neutral.ToolCallPart && !answered[p.ID] {
				e.refuse(p.Path, "has no result in the messages after it")
			}
		}
	}
}

// ended reports whether the assistant has the last word.
func (c *conversation) ended() bool {
	return len(c.messages) > 0 && c.messages[len(c.messages)-1].assistant
}

// begun reports whether a model that thinks by budget may think in the next turn: in the middle of a tool loop, only if the
// turn that made the calls began with its thoughts.
func (c *conversation) begun() bool {
	n := len(c.messages)
	if n < 2 || len(c.messages[n-1].results) == 0 {
		return true
	}
	first := c.messages[n-2].parts[0]
	return first.Kind == neutral.ReasoningPart
}

// size guesses the length of the body, so that it is allocated once.
func (c *conversation) size() int {
	const frame = 96
	n := 4096
	count := func(p *neutral.Part) {
		n += frame + len(p.Text) + len(p.Arguments) + len(p.Media.Data) + len(p.Seal.Data)
		for i := range p.Result {
			n += frame + len(p.Result[i].Text) + len(p.Result[i].Media.Data)
		}
	}
	for _, p := range c.system {
		count(p)
	}
	for i := range c.messages {
		for _, p := range c.messages[i].results {
			count(p)
		}
		for _, p := range c.messages[i].parts {
			count(p)
		}
	}
	return n
}
