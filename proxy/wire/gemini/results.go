package gemini

import (
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// resultsIn collects the results of turns.
func resultsIn(turns []neutral.Turn) []*neutral.Part {
	var results []*neutral.Part
	for i := range turns {
		for j := range turns[i].Parts {
			if p := &turns[i].Parts[j]; p.Kind == neutral.ToolResultPart {
				results = append(results, p)
			}
		}
	}
	return results
}

func resultOf(results []*neutral.Part, id string) *neutral.Part {
	for _, r := range results {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// answered refuses what the API refuses with "the number of function response parts is equal to the number of function call
// parts of the function call turn": a call without a result, and a result that is one too many.
func (e *encoder) answered(calls, results []*neutral.Part) {
	open := make(map[string]int, len(calls))
	for _, c := range calls {
		if open[c.ID]++; open[c.ID] > 1 {
			e.refuse(c.Path, "has the id of another call")
		}
	}
	for _, r := range results {
		left, called := open[r.ID]
		switch {
		case !called:
			e.refuse(r.Path+".tool_call_id", "answers no call of the assistant's turn before it")
		case left == 0:
			e.refuse(r.Path+".tool_call_id", "answers a call that is answered already")
		}
		open[r.ID] = 0
	}
	for _, c := range calls {
		if open[c.ID] > 0 {
			e.refuse(c.Path, "has no result: this account's protocol wants one for every call")
		}
	}
}

// result writes the result of a call.
func (e *encoder) result(c, r *neutral.Part) {
	e.cached(r)
	e.comma()
	e.raw(`{"functionResponse":{"id":`)
	e.quote(e.id(c.ID))
	e.raw(`,"name":`)
	e.quote(functionName(c.Name))
	e.raw(`,"response":`)
	e.response(r)
	if e.hasInside(r) {
		e.raw(`,"parts":[`)
		e.resultMedia(r, true)
		e.raw("]")
	}
	e.raw("}}")
}

// response writes what a result says. An object is one already, unless Google would take a part of it for the whole: of an
// object with "output" or "error" the model sees that member (FunctionResponse.response).
func (e *encoder) response(r *neutral.Part) {
	texts := textsIn(r)
	var whole []byte
	if len(texts) == 1 {
		whole = objectIn(texts[0])
	}
	key := `{"result":`
	if r.IsError {
		key = `{"error":`
	} else if whole != nil && !hasMember(whole, "output", "error") {
		e.text(whole)
		return
	}
	e.raw(key)
	switch {
	case whole != nil:
		e.text(whole)
	case len(texts) == 1:
		e.text(texts[0])
	case len(texts) == 0:
		e.raw(`""`)
	default:
		e.raw("[")
		for _, t := range texts {
			e.comma()
			e.text(t)
		}
		e.raw("]")
	}
	e.raw("}")
}

func textsIn(r *neutral.Part) []neutral.Literal {
	var texts []neutral.Literal
	for i := range r.Result {
		if p := &r.Result[i]; p.Kind == neutral.TextPart {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// objectIn returns the JSON object that a text is, nil for any other.
func objectIn(text neutral.Literal) []byte {
	inner := text.Inner()
	for len(inner) > 0 && inner[0] == ' ' {
		inner = inner[1:]
	}
	if len(inner) == 0 || inner[0] != '{' && inner[0] != '\\' {
		return nil
	}
	said, ok := wire.Text(text)
	if !ok || !isObject(said) {
		return nil
	}
	return said
}

func hasMember(object []byte, names ...string) bool {
	m := wire.Object(object)
	for name, _, ok := m.Next(); ok; name, _, ok = m.Next() {
		if slices.Contains(names, string(name)) {
			return true
		}
	}
	return false
}

// resultMedia writes the images of a result: those with data inside its functionResponse, where the model takes them there
// (ai.google.dev/gemini-api/docs/function-calling, multimodal function responses), the others behind all results.
func (e *encoder) resultMedia(r *neutral.Part, inside bool) {
	for i := range r.Result {
		p := &r.Result[i]
		if p.Kind == neutral.TextPart || inside != e.fitsInside(&p.Media) {
			continue
		}
		e.media(p)
	}
}

// fitsInside reports whether an image may be a part of a functionResponse: addresses may not.
func (e *encoder) fitsInside(m *neutral.Media) bool { return e.m.levels() && m.Data != "" }

func (e *encoder) hasInside(r *neutral.Part) bool {
	for i := range r.Result {
		if p := &r.Result[i]; p.Kind != neutral.TextPart && e.fitsInside(&p.Media) {
			return true
		}
	}
	return false
}
