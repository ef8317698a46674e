package responses

import (
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// customSchema is what a custom tool, which takes a text, is to a protocol whose tools take objects.
const customSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// mereOffers are tools of OpenAI's own that a model may do without: they are left out where an account does not have them.
var mereOffers = []string{"web_search", "web_search_preview", "web_search_2025_08_26", "image_generation"}

// offered reads what the model may call, and how free it is to.
func (b *body) offered(o *members.Object, r *neutral.Request) {
	list, some := o.List("tools")
	for i := 0; some; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		t := b.Object(members.At("tools", i), text)
		b.tool(&t, "", r)
	}
	r.Choice = b.choice(o, r)
	r.Parallel = o.Flag("parallel_tool_calls")
}

// namespaced is the name of a tool of a namespace where there are none.
func namespaced(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "__" + name
}

// tool reads one tool and appends it; of a namespace, all of its tools.
func (b *body) tool(o *members.Object, namespace string, r *neutral.Request) {
	t := neutral.Tool{Path: o.Path, Namespace: namespace}
	switch kind := o.Needed("type"); {
	case kind == "function":
		t.Name, t.Description, t.Strict = namespaced(namespace, o.Needed("name")), o.Literal("description"), o.Flag("strict")
		if s, ok := o.Child("parameters"); ok {
			t.Schema = s.Whole
		}
	case kind == "custom":
		t.Name, t.Custom, t.Schema = namespaced(namespace, o.Needed("name")), true, []byte(customSchema)
		t.Description = b.grammar(o)
	case kind == "namespace" && namespace == "":
		b.namespace(o, r)
		return
	case slices.Contains(mereOffers, kind):
		b.LeaveOut("tools[]." + kind)
		return
	default:
		b.Refuse(o.Field("type"), "must be function or custom: this account's protocol has no other tools")
		return
	}
	o.Rest()
	if hasTool(r, t.Name) {
		b.Refuse(o.Path, "has the name of an earlier tool")
	}
	r.Tools = append(r.Tools, t)
}

// namespace reads tools that have a name in common.
func (b *body) namespace(o *members.Object, r *neutral.Request) {
	name := o.Needed("name")
	list, _ := o.List("tools")
	for i := 0; ; i++ {
		text, ok := list.Next()
		if !ok {
			break
		}
		t := b.Object(members.At(o.Field("tools"), i), text)
		b.tool(&t, name, r)
	}
	o.Rest()
}

// grammar reads what a custom tool does. What its text must look like nothing but the model's good will can hold: it is told.
func (b *body) grammar(o *members.Object) neutral.Literal {
	said := o.Literal("description")
	f, ok := o.Child("format")
	if !ok || f.OneOf("type", "text", "grammar") != "grammar" {
		return said
	}
	syntax, definition := f.OneOf("syntax", "lark", "regex"), f.Literal("definition")
	f.Rest()
	b.LeaveOut(f.Path)
	words := neutral.Literal{'"'}
	words = append(words, said.Inner()...)
	if !said.Empty() {
		words = append(words, `\n\n`...)
	}
	words = append(append(words, "The input must match this grammar ("+syntax+`):\n`...), definition.Inner()...)
	return append(words, '"')
}

// choice reads tool_choice.
func (b *body) choice(o *members.Object, r *neutral.Request) neutral.Choice {
	const field = "tool_choice"
	v := o.Take(field)
	if v == nil {
		return neutral.Choice{}
	}
	if word, ok := wire.Text(v); ok {
		switch string(word) {
		case "auto":
			return neutral.Choice{Mode: neutral.ChoiceAuto}
		case "none":
			return neutral.Choice{Mode: neutral.ChoiceNone}
		case "required":
			if len(r.Tools) == 0 {
				b.Refuse(field, "asks for a call, but there are no tools that this account's protocol has")
			}
			return neutral.Choice{Mode: neutral.ChoiceAny}
		}
		b.Refuse(field, "must be auto, none, required or an object that names a tool")
		return neutral.Choice{}
	}
	c := b.Object(field, v)
	if kind := c.Text("type"); kind != "function" && kind != "custom" {
		b.Refuse(c.Field("type"), "must be function or custom: this account's protocol can be made to call no others")
		return neutral.Choice{}
	}
	name := namespaced(c.Text("namespace"), c.Needed("name"))
	c.Rest()
	if !hasTool(r, name) {
		b.Refuse(field, "names a tool that is not among the tools")
	}
	return neutral.Choice{Mode: neutral.ChoiceTool, Name: name}
}

func hasTool(r *neutral.Request, name string) bool {
	return slices.ContainsFunc(r.Tools, func(t neutral.Tool) bool { return t.Name == name })
}
