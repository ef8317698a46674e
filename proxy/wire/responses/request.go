package responses

import (
	"bytes"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// Decode reads a Responses request. The Request's texts are slices of text. The error is a *wire.SyntaxError or a
// *wire.FieldError that names the member.
func Decode(text []byte) (*neutral.Request, error) {
	if _, err := wire.ReadRequest(text, wire.Responses); err != nil {
		return nil, err
	}
	b := &body{calls: map[string]*callRead{}, seals: map[string]neutral.Seal{}}
	r := &neutral.Request{}
	o := b.Object("", bytes.TrimLeft(text, " \t\r\n"))
	b.settings(&o, r)
	b.reasons(&o, r)
	b.offered(&o, r)
	b.shape(&o, r)
	b.conversation(&o, r)
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
	calls map[string]*callRead    // by their ids
	seals map[string]neutral.Seal // of calls, by their ids
}

// passive are members with the one value that asks for nothing another protocol would have to be told.
var passive = []struct{ name, value string }{
	{"store", "false"},
	{"truncation", `"disabled"`},
	{"top_logprobs", "0"},
	{"service_tier", `"auto"`},
}

// known takes the members that the hub itself reads, and those that say nothing.
func (b *body) known(o *members.Object) {
	for _, name := range [...]string{"model", "stream", "stream_options", "background"} {
		o.Take(name)
	}
	if o.Take("prompt") != nil {
		b.Refuse("prompt", "cannot be sent to this account: its protocol has no templates; send the instructions and the input")
	}
	for _, p := range passive {
		if string(o.Peek(p.name)) == p.value {
			o.Take(p.name)
		}
	}
	b.included(o)
}

// included reads what the answer shall hold besides. Sealed reasoning is always in it, where there is any.
func (b *body) included(o *members.Object) {
	list, _ := o.List("include")
	for element, ok := list.Next(); ok; element, ok = list.Next() {
		if string(element) != `"reasoning.encrypted_content"` {
			b.LeaveOut("include")
		}
	}
}

// settings reads how the next token is chosen, how many there may be, and whom they are for.
func (b *body) settings(o *members.Object, r *neutral.Request) {
	r.Temperature, r.TopP = o.Number("temperature"), o.Number("top_p")
	r.MaxTokens, _ = o.Tokens("max_output_tokens", 1)
	if string(o.Peek("service_tier")) != `"auto"` {
		r.ServiceTier = o.Text("service_tier")
	}
	r.CacheKey = o.Text("prompt_cache_key")
	if r.User = o.Text("user"); r.User == "" {
		r.User = o.Text("safety_identifier")
	}
	r.Metadata = o.Take("metadata") // an object: the body was read before
}

// reasons reads how much the model shall think. Whether its thoughts are told is the account's to say: an answer holds what
// is told of them.
func (b *body) reasons(o *members.Object, r *neutral.Request) {
	c, ok := o.Child("reasoning")
	if !ok {
		return
	}
	r.Effort = c.OneOf("effort", "none", "minimal", "low", "medium", "high", "xhigh", "max")
	if r.Effort == "max" {
		r.Effort = "xhigh"
	}
	c.Take("summary")
	c.Take("generate_summary")
	c.Rest()
}

// shape reads the shape that the answer must have, and how long it shall be.
func (b *body) shape(o *members.Object, r *neutral.Request) {
	c, ok := o.Child("text")
	if !ok {
		return
	}
	r.Verbosity = c.OneOf("verbosity", "low", "medium", "high")
	if f, ok := c.Child("format"); ok {
		switch f.OneOf("type", "text", "json_object", "json_schema") {
		case "":
			b.Refuse(f.Field("type"), "is missing")
		case "json_object":
			r.Format.Kind = neutral.FormatJSON
		case "json_schema":
			r.Format = neutral.Format{
				Kind: neutral.FormatSchema, Name: f.Text("name"), Description: f.Literal("description"), Strict: f.Flag("strict"),
			}
			if schema, ok := f.Child("schema"); ok {
				r.Format.Schema = schema.Whole
			} else {
				b.Refuse(f.Field("schema"), "is missing")
			}
		}
		f.Rest()
	}
	c.Rest()
}
