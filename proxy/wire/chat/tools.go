package chat

import (
	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// tools reads what the model may call, and how free it is to.
func (b *body) tools(o *members.Object, r *neutral.Request) {
	list, some := o.List("tools")
	for i := 0; some; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		t := b.Object(members.At("tools", i), text)
		b.onlyFunctions(&t)
		f, ok := t.Child("function")
		if !ok {
			b.Refuse(t.Field("function"), "is missing")
			continue
		}
		cached := b.cached(&t)
		b.tool(&f, t.Path, cached, r)
		t.Rest()
	}
	if list, some := o.List("functions"); some {
		if len(r.Tools) > 0 {
			b.Refuse("functions", "cannot stand beside tools, which replace it")
		}
		for i := 0; ; i++ {
			text, ok := list.Next()
			if !ok {
				break
			}
			f := b.Object(members.At("functions", i), text)
			b.tool(&f, f.Path, false, r)
		}
	}
	b.uniqueTools(r)
	r.Choice = b.choice(o, r)
	r.Parallel = o.Flag("parallel_tool_calls")
}

// onlyFunctions refuses a tool or a call of another type; without a type it is a function.
func (b *body) onlyFunctions(o *members.Object) {
	if t := o.Text("type"); t != "" && t != "function" {
		b.Refuse(o.Field("type"), `must be "function": this account's protocol has no other tools of a client's`)
	}
}

// tool reads one function and appends it.
func (b *body) tool(f *members.Object, path string, cached bool, r *neutral.Request) {
	t := neutral.Tool{
		Name: f.Needed("name"), Description: f.Literal("description"), Strict: f.Flag("strict"), Path: path,
		Cache: b.cached(f) || cached,
	}
	if s, ok := f.Child("parameters"); ok {
		t.Schema = s.Whole
	}
	f.Rest()
	r.Tools = append(r.Tools, t)
}

func (b *body) uniqueTools(r *neutral.Request) {
	seen := make(map[string]bool, len(r.Tools))
	for _, t := range r.Tools {
		if seen[t.Name] {
			b.Refuse(t.Path, "has the name of an earlier tool")
		}
		seen[t.Name] = true
	}
}

// choice reads tool_choice, or the function_call that it replaced.
func (b *body) choice(o *members.Object, r *neutral.Request) neutral.Choice {
	older := o.Take("function_call")
	field, v := "tool_choice", o.Take("tool_choice")
	if v == nil {
		field, v = "function_call", older
	}
	if v == nil {
		return neutral.Choice{}
	}
	c := b.choiceOf(field, v)
	switch {
	case c.Mode == neutral.ChoiceAny && len(r.Tools) == 0:
		b.Refuse(field, "asks for a call, but there are no tools")
	case c.Mode == neutral.ChoiceTool && !hasTool(r, c.Name):
		b.Refuse(field, "names a tool that is not among the tools")
	}
	return c
}

func (b *body) choiceOf(field string, v []byte) neutral.Choice {
	if word, ok := wire.Text(v); ok {
		switch string(word) {
		case "auto":
			return neutral.Choice{Mode: neutral.ChoiceAuto}
		case "none":
			return neutral.Choice{Mode: neutral.ChoiceNone}
		case "required":
			return neutral.Choice{Mode: neutral.ChoiceAny}
		}
		b.Refuse(field, "must be auto, none, required or an object that names a function")
		return neutral.Choice{}
	}
	o := b.Object(field, v)
	if field == "function_call" {
		return neutral.Choice{Mode: neutral.ChoiceTool, Name: o.Needed("name")}
	}
	b.onlyFunctions(&o)
	f, ok := o.Child("function")
	if !ok {
		b.Refuse(o.Field("function"), "is missing")
		return neutral.Choice{}
	}
	return neutral.Choice{Mode: neutral.ChoiceTool, Name: f.Needed("name")}
}

func hasTool(r *neutral.Request, name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// cached reads a cache_control marker and reports whether there is one. How long the provider keeps what it marks cannot be
// said in the neutral form.
func (b *body) cached(o *members.Object) bool {
	c, ok := o.Child("cache_control")
	if !ok {
		return false
	}
	c.Take("type") // ephemeral is the only one
	if string(c.Peek("ttl")) == `"5m"` {
		c.Take("ttl") // what it is without
	}
	c.Rest()
	return true
}
