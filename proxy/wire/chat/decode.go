package chat

import (
	"bytes"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// Decode reads a chat completion request. The Request's texts are slices of text. The error is a *wire.SyntaxError or a
// *wire.FieldError that names the member.
func Decode(text []byte) (*neutral.Request, error) {
	if _, err := wire.ReadRequest(text, wire.Chat); err != nil {
		return nil, err
	}
	b := &body{}
	r := &neutral.Request{}
	o := b.object("", bytes.TrimLeft(text, " \t\r\n"))
	b.sampling(&o, r)
	b.reasoning(&o, r)
	b.tools(&o, r)
	b.format(&o, r)
	b.turns(&o, r)
	b.known(&o)
	o.rest()
	if b.err != nil {
		return nil, b.err
	}
	r.Others = b.others
	return r, nil
}

// idle are members with the one value that asks for nothing another protocol would have to be told.
var idle = []struct{ name, value string }{
	{"store", "false"},
	{"n", "1"},
	{"logprobs", "false"},
	{"top_logprobs", "0"},
	{"logit_bias", "{}"},
	{"modalities", `["text"]`},
	{"include_reasoning", "true"},
}

// known takes the members that the hub itself reads, and those that say nothing.
func (b *body) known(o *object) {
	for _, name := range [...]string{"model", "stream", "stream_options"} {
		o.take(name)
	}
	if n := o.integer("n"); n != nil && *n != 1 {
		b.refuse("n", "must be 1: this account's protocol gives one answer")
	}
	if v := o.take("audio"); v != nil {
		b.refuse("audio", "cannot be given: this account's protocol answers in text")
	}
	for _, i := range idle {
		if v := o.peek(i.name); string(v) == i.value {
			o.take(i.name)
		}
	}
}

// sampling reads how the next token is chosen, how many there may be, and whom they are for.
func (b *body) sampling(o *object, r *neutral.Request) {
	r.Temperature, r.TopP, r.TopK = o.number("temperature"), o.number("top_p"), o.integer("top_k")
	r.FrequencyPenalty, r.PresencePenalty = penalty(o.number("frequency_penalty")), penalty(o.number("presence_penalty"))
	r.Seed = o.integer("seed")
	r.Stop = b.stop(o)
	r.Verbosity = o.oneOf("verbosity", "low", "medium", "high")
	r.ServiceTier = o.text("service_tier")
	r.CacheKey = o.text("prompt_cache_key")
	if r.User = o.text("user"); r.User == "" {
		r.User = o.text("safety_identifier")
	}
	r.Metadata = o.take("metadata") // an object: the body was read before
	older, said := o.tokens("max_tokens", 1)
	newer, saidToo := o.tokens("max_completion_tokens", 1)
	if said && saidToo && older != newer {
		b.refuse("max_tokens", "contradicts max_completion_tokens")
	}
	r.MaxTokens = max(older, newer)
}

// penalty leaves 0 out, which is what no penalty is.
func penalty(p *float64) *float64 {
	if p != nil && *p == 0 {
		return nil
	}
	return p
}

// stop reads one text that ends the answer, or a list of them.
func (b *body) stop(o *object) []string {
	v := o.take("stop")
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		s, _ := wire.Text(v)
		return nonEmpty(nil, s)
	case v[0] != '[':
		b.refuse("stop", "must be a string or an array, not "+wire.Kind(v))
		return nil
	}
	var texts []string
	a := wire.Array(v)
	for i := 0; ; i++ {
		element, ok := a.Next()
		if !ok {
			return texts
		}
		s, isText := wire.Text(element)
		if !isText {
			b.refuse(at("stop", i), "must be a string, not "+wire.Kind(element))
		}
		texts = nonEmpty(texts, s)
	}
}

func nonEmpty(texts []string, s []byte) []string {
	if len(s) == 0 {
		return texts
	}
	return append(texts, string(s))
}

// format reads the shape that the answer must have.
func (b *body) format(o *object, r *neutral.Request) {
	f, ok := o.child("response_format")
	if !ok {
		return
	}
	switch f.oneOf("type", "text", "json_object", "json_schema") {
	case "":
		b.refuse("response_format.type", "is missing")
	case "json_object":
		r.Format.Kind = neutral.FormatJSON
	case "json_schema":
		s, ok := f.child("json_schema")
		if !ok {
			b.refuse("response_format.json_schema", "is missing")
			return
		}
		r.Format = neutral.Format{
			Kind: neutral.FormatSchema, Name: s.text("name"), Description: s.literal("description"), Strict: s.flag("strict"),
		}
		if schema, ok := s.child("schema"); ok {
			r.Format.Schema = schema.whole
		} else {
			b.refuse("response_format.json_schema.schema", "is missing")
		}
		s.rest()
	}
	f.rest()
}
