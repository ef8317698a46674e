package responses

import (
	"encoding/json"
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/members"
	"hermes-hub/proxy/wire/neutral"
)

// callRead is a call of the conversation.
type callRead struct {
	name     string
	answered bool
}

// leftovers are items that tell of work which OpenAI's own tools have done: what came of it stands in the answer behind them.
var leftovers = []string{
	"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call", "mcp_list_tools",
}

// conversation reads the instructions and the input. Items of the model's that stand side by side are one turn.
func (b *body) conversation(o *members.Object, r *neutral.Request) {
	if words := o.Literal("instructions"); !words.Empty() {
		r.Turns = append(r.Turns, neutral.Turn{Role: neutral.System, Path: "instructions", Parts: []neutral.Part{
			{Kind: neutral.TextPart, Text: words, Path: "instructions"},
		}})
	}
	before := len(r.Turns)
	switch v := o.Take("input"); {
	case len(v) > 0 && v[0] == '"':
		if text := neutral.Literal(v); !text.Empty() {
			r.Turns = append(r.Turns, neutral.Turn{Role: neutral.User, Path: "input", Parts: []neutral.Part{{Kind: neutral.TextPart, Text: text, Path: "input"}}})
		}
	case len(v) > 0 && v[0] != '[':
		b.Refuse("input", "must be a string or an array, not "+wire.Kind(v))
	default:
		items := wire.Array(v)
		for i := 0; ; i++ {
			item, ok := items.Next()
			if !ok {
				break
			}
			one := b.Object(members.At("input", i), item)
			b.item(&one, r)
		}
	}
	if len(r.Turns) == before {
		b.Refuse("input", "says nothing")
	}
	b.seal(r)
}

// item reads one item of the input.
func (b *body) item(o *members.Object, r *neutral.Request) {
	kind := o.Text("type")
	if kind == "" && o.Peek("role") != nil {
		kind = "message"
	}
	for _, of := range [...]string{"id", "status", "phase"} { // of items that an answer held
		o.Take(of)
	}
	switch {
	case kind == "message":
		b.message(o, r)
	case kind == "reasoning":
		b.thought(o, r)
	case kind == "function_call":
		arguments, _ := wire.Text(o.Literal("arguments"))
		b.call(o, arguments, r)
	case kind == "custom_tool_call":
		b.call(o, argumentsOf(o.Literal("input")), r)
	case kind == "function_call_output", kind == "custom_tool_call_output":
		b.result(o, r)
	case slices.Contains(leftovers, kind):
		b.LeaveOut("input[]." + kind)
		return
	case kind == "item_reference":
		b.Refuse(o.Path, "refers to an item that is kept nowhere: send the item itself")
		return
	case kind == "compaction", kind == "compaction_summary":
		b.Refuse(o.Path, "was made by another account, and only that one can go on with it")
		return
	default:
		b.Refuse(o.Field("type"), "is a type of item that this account's protocol has nothing for")
		return
	}
	o.Rest()
}

// add appends parts to the conversation.
func add(r *neutral.Request, role neutral.Role, path string, parts ...neutral.Part) {
	switch n := len(r.Turns); {
	case len(parts) == 0:
	case n > 0 && role == neutral.Assistant && r.Turns[n-1].Role == role:
		r.Turns[n-1].Parts = append(r.Turns[n-1].Parts, parts...)
	default:
		r.Turns = append(r.Turns, neutral.Turn{Role: role, Path: path, Parts: parts})
	}
}

// message reads what somebody said.
func (b *body) message(o *members.Object, r *neutral.Request) {
	var role neutral.Role
	switch o.OneOf("role", "system", "developer", "user", "assistant") {
	case "system", "developer":
		role = neutral.System
	case "user":
		role = neutral.User
	case "assistant":
		role = neutral.Assistant
	default:
		b.Refuse(o.Field("role"), "is missing")
	}
	if o.Peek("content") == nil {
		b.Refuse(o.Field("content"), "is missing")
	}
	add(r, role, o.Path, b.content(o, "content", role)...)
}

// thought reads what the model thought: a text, what only one account can open, or both. An item that holds neither is the
// name of one that is kept nowhere.
func (b *body) thought(o *members.Object, r *neutral.Request) {
	text := b.texts(o, "summary")
	if full := b.texts(o, "content"); text.Empty() {
		text = full
	}
	seal, call := openSeal(o.Text("encrypted_content"))
	switch {
	case call != "":
		b.seals[call] = seal
	case text.Empty() && !seal.Is():
		b.LeaveOut("input[].reasoning")
	default:
		add(r, neutral.Assistant, o.Path, neutral.Part{Kind: neutral.ReasoningPart, Text: text, Seal: seal, Path: o.Path})
	}
}

// texts are the texts of a list of parts, as one.
func (b *body) texts(o *members.Object, name string) (joined neutral.Literal) {
	list, _ := o.List(name)
	for i := 0; ; i++ {
		part, ok := list.Next()
		if !ok {
			break
		}
		p := b.Object(members.At(o.Field(name), i), part)
		p.OneOf("type", "summary_text", "reasoning_text", "text")
		switch text := p.Literal("text"); {
		case text.Empty():
		case joined == nil:
			joined = text
		default:
			joined = slices.Concat([]byte{'"'}, joined.Inner(), paragraph.Inner(), text.Inner(), []byte{'"'})
		}
		p.Rest()
	}
	return joined
}

// call reads a call of a tool.
func (b *body) call(o *members.Object, arguments []byte, r *neutral.Request) {
	p := neutral.Part{Kind: neutral.ToolCallPart, ID: o.Needed("call_id"), Name: namespaced(o.Text("namespace"), o.Needed("name")), Arguments: arguments, Path: o.Path}
	if b.calls[p.ID] != nil {
		b.Refuse(o.Field("call_id"), "is the id of another call")
	}
	b.calls[p.ID] = &callRead{name: p.Name}
	add(r, neutral.Assistant, o.Path, p)
}

// argumentsOf makes a custom tool's text the arguments of the function that it is to other protocols.
func argumentsOf(input neutral.Literal) []byte {
	if input == nil {
		input = neutral.Literal(`""`)
	}
	return slices.Concat([]byte(`{"input":`), input, []byte(`}`))
}

// inputOf is the text among the arguments of such a function; what is no such object is the text itself.
func inputOf(arguments []byte) []byte {
	var said struct{ Input *string }
	if json.Unmarshal(arguments, &said) != nil || said.Input == nil {
		return arguments
	}
	return []byte(*said.Input)
}

// result reads what a call gave.
func (b *body) result(o *members.Object, r *neutral.Request) {
	id := o.Needed("call_id")
	p := neutral.Part{Kind: neutral.ToolResultPart, ID: id, Path: o.Path, Result: b.content(o, "output", neutral.ToolRole)}
	o.Take("name")
	switch c := b.calls[id]; {
	case c == nil:
		b.Refuse(o.Field("call_id"), "answers no call that stands before it")
	case c.answered:
		b.Refuse(o.Field("call_id"), "answers a call that is answered already")
	default:
		p.Name, c.answered = c.name, true
	}
	add(r, neutral.ToolRole, o.Path, p)
}

// seal gives the calls the seals that are theirs.
func (b *body) seal(r *neutral.Request) {
	for t := range r.Turns {
		for i := range r.Turns[t].Parts {
			if p := &r.Turns[t].Parts[i]; p.Kind == neutral.ToolCallPart {
				p.Seal = b.seals[p.ID]
			}
		}
	}
}
