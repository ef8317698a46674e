package chat

import (
	"bytes"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
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
	o := b.Object("", bytes.TrimLeft(text, " \t\r\n"))
	b.sampling(&o, r)
	b.reasoning(&o, r)
	b.tools(&o, r)
	b.format(&o, r)
	b.turns(&o, r)
	b.known(&o)
	o.Rest()
	if err := b.Err(); err != nil {
		return nil, err
	}
	r.Others = b.Others()
	return r, nil
}

// body is a client's body while it is read.
type body struct {
	members.Reader
	open     map[string]*openCall // calls of the last assistant turn that made any, by their ids
	function *openCall            // the function_call among them, which is answered by its name
	spoken   bool                 // somebody else has spoken since then
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
func (b *body) known(o *members.Object) {
	for _, name := range [...]string{"model", "stream", "stream_options"} {
		o.Take(name)
	}
	if n := o.Integer("n"); n != nil && *n != 1 {
		b.Refuse("n", "must be 1: this account's protocol gives one answer")
	}
	if v := o.Take("audio"); v != nil {
		b.Refuse("audio", "cannot be given: this account's protocol answers in text")
	}
	for _, i := range idle {
		if v := o.Peek(i.name); string(v) == i.value {
			o.Take(i.name)
		}
	}
}

// sampling reads how the next token is chosen, how many there may be, and whom they are for.
func (b *body) sampling(o *members.Object, r *neutral.Request) {
	r.Temperature, r.TopP, r.TopK = o.Number("temperature"), o.Number("top_p"), o.Integer("top_k")
	r.FrequencyPenalty, r.PresencePenalty = penalty(o.Number("frequency_penalty")), penalty(o.Number("presence_penalty"))
	r.Seed = o.Integer("seed")
	r.Stop = b.stop(o)
	r.Verbosity = o.OneOf("verbosity", "low", "medium", "high")
	r.ServiceTier = o.Text("service_tier")
	r.CacheKey = o.Text("prompt_cache_key")
	if r.User = o.Text("user"); r.User == "" {
		r.User = o.Text("safety_identifier")
	}
	r.Metadata = o.Take("metadata") // an object: the body was read before
	older, said := o.Tokens("max_tokens", 1)
	newer, saidToo := o.Tokens("max_completion_tokens", 1)
	if said && saidToo && older != newer {
		b.Refuse("max_tokens", "contradicts max_completion_tokens")
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
func (b *body) stop(o *members.Object) []string {
	v := o.Take("stop")
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		s, _ := wire.Text(v)
		return nonEmpty(nil, s)
	case v[0] != '[':
		b.Refuse("stop", "must be a string or an array, not "+wire.Kind(v))
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
			b.Refuse(members.At("stop", i), "must be a string, not "+wire.Kind(element))
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
func (b *body) format(o *members.Object, r *neutral.Request) {
	f, ok := o.Child("response_format")
	if !ok {
		return
	}
	switch f.OneOf("type", "text", "json_object", "json_schema") {
	case "":
		b.Refuse("response_format.type", "is missing")
	case "json_object":
		r.Format.Kind = neutral.FormatJSON
	case "json_schema":
		s, ok := f.Child("json_schema")
		if !ok {
			b.Refuse("response_format.json_schema", "is missing")
			return
		}
		r.Format = neutral.Format{
			Kind: neutral.FormatSchema, Name: s.Text("name"), Description: s.Literal("description"), Strict: s.Flag("strict"),
		}
		if schema, ok := s.Child("schema"); ok {
			r.Format.Schema = schema.Whole
		} else {
			b.Refuse("response_format.json_schema.schema", "is missing")
		}
		s.Rest()
	}
	f.Rest()
}
