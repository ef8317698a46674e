package gemini

import (
	"math"
	"strconv"

	"hermes-hub/proxy/wire/neutral"
)

// mostStops is how many stopSequences there may be.
const mostStops = 5

// generationConfig writes how the answer is made.
func (e *encoder) generationConfig() {
	before := len(e.dst)
	e.member("generationConfig")
	e.raw("{")
	from := len(e.dst)
	thinking, most := e.thinking()
	e.limits(thinking, most)
	e.sampling(e.m.samples() && !(e.m.claude && thinking.said())) // Claude has its own while it thinks
	e.stops()
	e.format()
	if len(e.dst) == from { // nothing was said
		e.dst = e.dst[:before]
		return
	}
	e.raw("}")
}

// limits writes how much may be answered and how much of it thought.
func (e *encoder) limits(thinking thinking, most int) {
	if most > 0 {
		e.member("maxOutputTokens")
		e.number(float64(most))
	}
	if thinking.said() {
		e.member("thinkingConfig")
		thinking.write(e)
	}
}

// sampling writes how the next token is chosen, if the model lets itself be told.
func (e *encoder) sampling(keeps bool) {
	r := e.r
	number := func(name, there string, v *float64) {
		switch {
		case v == nil:
		case keeps:
			e.member(there)
			e.number(*v)
		default:
			e.drop(name)
		}
	}
	number("temperature", "temperature", r.Temperature)
	number("top_p", "topP", r.TopP)
	if r.TopK != nil {
		k := float64(*r.TopK)
		number("top_k", "topK", &k)
	}
	switch s := r.Seed; {
	case s == nil:
	case *s < math.MinInt32 || *s > math.MaxInt32:
		e.drop("seed")
	default:
		e.member("seed")
		e.dst = strconv.AppendInt(e.dst, *s, 10)
	}
}

func (e *encoder) stops() {
	if len(e.r.Stop) == 0 {
		return
	}
	if len(e.r.Stop) > mostStops {
		e.refuse("stop", "must hold at most "+strconv.Itoa(mostStops)+" texts for this account")
	}
	e.member("stopSequences")
	e.raw("[")
	for _, s := range e.r.Stop {
		e.comma()
		e.quote(s)
	}
	e.raw("]")
}

// format writes the shape of the answer.
func (e *encoder) format() {
	f := &e.r.Format
	if f.Kind == 0 {
		return
	}
	if len(e.r.Tools) > 0 && !e.m.both() && e.r.Choice.Mode != neutral.ChoiceNone {
		e.refuse("response_format", "cannot stand beside tools for this account's model, which can have one or the other")
	}
	e.member("responseMimeType")
	e.raw(`"application/json"`)
	if f.Kind != neutral.FormatSchema {
		return
	}
	if !f.Description.Empty() {
		e.drop("response_format.json_schema.description")
	}
	name := "responseSchema"
	if e.m.jsonSchema() {
		name = "responseJsonSchema"
	}
	e.member(name)
	e.schema(f.Schema, "response_format.json_schema.schema")
}

func (e *encoder) number(f float64) {
	e.dst = strconv.AppendFloat(e.dst, f, 'g', -1, 64)
}
