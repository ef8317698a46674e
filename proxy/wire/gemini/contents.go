package gemini

import (
	"hermes-hub/proxy/wire/neutral"
)

const (
	// skipSignature stands for a signature that a call of a Gemini 3 model must have and does not: the call is another
	// provider's or another account's. It is Google's own value for this case
	// (ai.google.dev/gemini-api/docs/thought-signatures, FAQ: history of a different model). Only the first call of a step is
	// checked.
	skipSignature = "skip_thought_signature_validator"
	// opening stands in front of a conversation that an assistant begins.
	opening = `{"role":"user","parts":[{"text":"..."}]}`
)

// conversation writes systemInstruction and contents.
func (e *encoder) conversation() {
	turns := e.r.Turns
	leading := 0
	for leading < len(turns) && turns[leading].Role == neutral.System {
		leading++
	}
	if leading == len(turns) { // somebody must speak
		leading = 0
	}
	if leading > 0 {
		e.member("systemInstruction")
		e.raw(`{"parts":[`)
		for i := range turns[:leading] {
			e.said(&turns[i])
		}
		e.raw("]}")
	}
	e.member("contents")
	e.raw("[")
	e.contents(turns[leading:])
	e.raw("]")
}

// contents writes the turns, neighbours of one role as one content. Results are written where their calls end, wherever the
// client has put them.
func (e *encoder) contents(turns []neutral.Turn) {
	if len(turns) == 0 {
		e.refuse("messages", "say nothing")
		return
	}
	if turns[0].Role == neutral.Assistant {
		e.raw(opening)
	}
	for len(turns) > 0 {
		n := run(turns, true)
		if n > 0 {
			e.model(turns[:n])
		}
		after := turns[n:]
		m := run(after, false)
		if calls := callsIn(turns[:n]); m > 0 || len(calls) > 0 {
			e.user(calls, after[:m])
		}
		if m == 0 && e.m.generation >= 4 {
			e.refuse(turns[n-1].Path, "cannot be an assistant's and the last one: this account's model does not go on with its own words")
		}
		turns = after[m:]
	}
}

// run counts the turns at the front that are an assistant's, or that are not.
func run(turns []neutral.Turn, assistant bool) int {
	for i := range turns {
		if (turns[i].Role == neutral.Assistant) != assistant {
			return i
		}
	}
	return len(turns)
}

// callsIn collects the calls of assistant's turns.
func callsIn(turns []neutral.Turn) []*neutral.Part {
	var calls []*neutral.Part
	for i := range turns {
		for j := range turns[i].Parts {
			if p := &turns[i].Parts[j]; p.Kind == neutral.ToolCallPart {
				calls = append(calls, p)
			}
		}
	}
	return calls
}

// user writes one content of the user's: the results of the calls before it, then everything that was said.
func (e *encoder) user(calls []*neutral.Part, turns []neutral.Turn) {
	e.comma()
	e.raw(`{"role":"user","parts":[`)
	from := len(e.dst)
	results := resultsIn(turns)
	e.answered(calls, results)
	for _, c := range calls {
		if r := resultOf(results, c.ID); r != nil {
			e.result(c, r)
		}
	}
	for _, r := range results {
		e.resultMedia(r, false)
	}
	for i := range turns {
		if turns[i].Role != neutral.ToolRole {
			e.said(&turns[i])
		}
	}
	if len(e.dst) == from { // contents without parts are refused
		e.part(`"text":" "`)
	}
	e.raw("]}")
}

// said writes what a user's or a system's turn holds.
func (e *encoder) said(t *neutral.Turn) {
	e.named(t)
	for i := range t.Parts {
		p := &t.Parts[i]
		e.cached(p)
		switch p.Kind {
		case neutral.TextPart, neutral.RefusalPart:
			e.textPart(p.Text, "")
		case neutral.ImagePart, neutral.AudioPart, neutral.FilePart:
			e.media(p)
		}
	}
}

// model writes one content of the model's.
func (e *encoder) model(turns []neutral.Turn) {
	e.comma()
	e.raw(`{"role":"model","parts":[`)
	from := len(e.dst)
	calls := 0
	for i := range turns {
		e.named(&turns[i])
		e.assistant(turns[i].Parts, &calls)
	}
	if len(e.dst) == from {
		e.part(`"text":" "`)
	}
	e.raw("]}")
}

// assistant writes one assistant's turn. A seal that stands alone goes to the last text behind it, which is what Gemini
// signs when it makes no call.
func (e *encoder) assistant(parts []neutral.Part, calls *int) {
	lone := ""
	for i := range parts {
		p := &parts[i]
		e.cached(p)
		switch p.Kind {
		case neutral.ReasoningPart:
			if seal := e.thought(p); seal != "" {
				if lone != "" {
					e.drop("messages[].reasoning_details")
				}
				lone = seal
			}
		case neutral.TextPart, neutral.RefusalPart:
			signature := ""
			if lastText(parts[i:]) {
				signature, lone = lone, ""
			}
			e.textPart(p.Text, signature)
		case neutral.ToolCallPart:
			if lone != "" { // of a thought before the call
				e.textPart(nil, lone)
				lone = ""
			}
			e.call(p, *calls == 0)
			*calls++
		}
	}
	if lone != "" {
		e.textPart(nil, lone)
	}
}

// lastText reports whether no text stands behind the first of the parts.
func lastText(parts []neutral.Part) bool {
	for _, p := range parts[1:] {
		if p.Kind == neutral.TextPart || p.Kind == neutral.RefusalPart {
			return false
		}
	}
	return true
}

// thought writes what the model may be told of its own thinking, or returns the seal that stands without a text.
func (e *encoder) thought(p *neutral.Part) (lone string) {
	own := neutral.SealGoogle
	if e.m.claude {
		own = neutral.SealAnthropic
	}
	switch {
	case !p.Seal.Is():
		e.drop("messages[].reasoning_content")
	case p.Seal.Format != own, e.m.claude && p.Text.Empty():
		e.drop("messages[].reasoning_details")
	case e.m.claude:
		e.comma()
		e.raw(`{"thought":true,"text":`)
		e.text(p.Text)
		e.signature(p.Seal.Data)
		e.raw("}")
	default:
		// A summary of the thoughts is for the reader; the signature holds what they were.
		return p.Seal.Data
	}
	return ""
}

// named drops the name of a speaker.
func (e *encoder) named(t *neutral.Turn) {
	if t.Name != "" {
		e.drop("messages[].name")
	}
}

// cached drops a marker: Google caches what it likes.
func (e *encoder) cached(p *neutral.Part) {
	if p.Cache {
		e.drop("cache_control")
	}
}
