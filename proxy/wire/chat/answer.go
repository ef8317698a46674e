package chat

import (
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Answer puts the events of an answer together to one chat completion. The exported fields are those of a Stream.
type Answer struct {
	ID      string
	Model   string
	Created int64

	content   []byte // insides of literals
	reasoning []byte
	refusal   []byte
	block     []byte // of the details: the text of the block that is not sealed
	format    neutral.SealFormat
	details   []byte // items, each with a comma behind
	blocks    int
	calls     []callHeard
	finish    neutral.Finish
	usage     wire.Usage
}

// callHeard is one call.
type callHeard struct {
	id, name  string
	arguments []byte
	seal      neutral.Seal
}

// Add takes one event.
func (a *Answer) Add(e *neutral.Event) {
	if e.Kind != neutral.Reasoning && e.Kind != neutral.Sealed && e.Kind != neutral.Counted {
		a.unsealed()
	}
	switch e.Kind {
	case neutral.Text:
		a.content = append(a.content, e.Text.Inner()...)
	case neutral.Refusal:
		a.refusal = append(a.refusal, e.Text.Inner()...)
	case neutral.Reasoning:
		a.reasoning = append(a.reasoning, e.Text.Inner()...)
		if e.Seal.Format != "" {
			a.block, a.format = append(a.block, e.Text.Inner()...), e.Seal.Format
		}
	case neutral.Sealed:
		a.sealed(e.Tool, e.Seal)
	case neutral.ToolStarted:
		a.toolStarted(e)
	case neutral.ToolArguments:
		if e.Tool >= 0 && e.Tool < len(a.calls) {
			c := &a.calls[e.Tool]
			c.arguments = append(c.arguments, e.Text.Inner()...)
		}
	case neutral.Counted:
		a.usage = e.Usage
	case neutral.Finished:
		a.finish = e.Finish
	}
}

func (a *Answer) toolStarted(e *neutral.Event) {
	if e.Tool < 0 {
		return
	}
	for len(a.calls) <= e.Tool {
		a.calls = append(a.calls, callHeard{})
	}
	a.calls[e.Tool].id, a.calls[e.Tool].name = e.ID, e.Name
	if e.Seal.Is() {
		a.sealed(e.Tool, e.Seal)
	}
}

// sealed closes the block, or belongs to a call.
func (a *Answer) sealed(tool int, s neutral.Seal) {
	var text neutral.Literal
	switch {
	case tool >= 0 && tool < len(a.calls):
		a.calls[tool].seal = s
		s.ID = a.calls[tool].id
	case s.Hidden || s.Format != a.format:
		a.unsealed()
	default:
		text = a.takeBlock()
	}
	a.details = append(appendDetail(a.details, s, text, a.blocks), ',')
	a.blocks++
}

// unsealed closes a block whose seal never came.
func (a *Answer) unsealed() {
	if text := a.takeBlock(); text != nil {
		a.details = append(appendDetail(a.details, neutral.Seal{Format: a.format}, text, a.blocks), ',')
		a.blocks++
	}
}

func (a *Answer) takeBlock() neutral.Literal {
	if len(a.block) == 0 {
		return nil
	}
	text := slices.Concat([]byte{'"'}, a.block, []byte{'"'})
	a.block = a.block[:0]
	return text
}

// Append appends the completion.
func (a *Answer) Append(dst []byte) []byte {
	dst = appendHead(dst, "chat.completion", a.ID, a.Model, a.Created)
	dst = append(dst, `"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	dst = appendText(dst, a.content, len(a.calls) == 0 && len(a.refusal) == 0)
	dst = appendText(append(dst, `,"refusal":`...), a.refusal, false)
	if len(a.reasoning) > 0 {
		dst = appendText(append(dst, `,"reasoning_content":`...), a.reasoning, false)
	}
	if len(a.details) > 0 {
		dst = append(append(dst, `,"reasoning_details":[`...), a.details[:len(a.details)-1]...)
		dst = append(dst, ']')
	}
	dst = append(a.appendCalls(dst), `},"finish_reason":"`...)
	dst = append(append(dst, finishReason(a.finish)...), `"}]`...)
	if a.usage.Known {
		dst = appendUsage(append(dst, `,"usage":`...), a.usage)
	}
	return append(dst, '}')
}

func (a *Answer) appendCalls(dst []byte) []byte {
	for i, c := range a.calls {
		open := byte(',')
		if i == 0 {
			dst, open = append(dst, `,"tool_calls":`...), '['
		}
		dst = appendCall(append(dst, open, '{'), c.id, c.name)
		if len(c.arguments) == 0 && a.finish != neutral.FinishLength {
			c.arguments = noArguments.Inner()
		}
		dst = append(append(dst, c.arguments...), `"}`...)
		dst = append(appendExtra(dst, c.seal), '}')
	}
	if len(a.calls) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// appendText appends a text by its inside; without any, it is "" or null.
func appendText(dst, inside []byte, empty bool) []byte {
	if len(inside) == 0 && !empty {
		return append(dst, "null"...)
	}
	return append(append(append(dst, '"'), inside...), '"')
}
