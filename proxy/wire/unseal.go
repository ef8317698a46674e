package wire

import "strings"

// UnsealMessages appends the edits that take the thinking out of a Messages request whose seals keep does not want, and
// returns where it stood. Every other byte stays, with two exceptions:
//   - A message that held nothing else goes as a whole: an empty one is refused.
//   - Where thinking has a fixed budget, Anthropic refuses an unfinished turn of tool calls that does not begin with a
//     thought ("a final assistant message must start with a thinking block"). Then the request goes without thinking, and
//     without the edits of the context that need it. Adaptive thinking has no such rule.
func UnsealMessages(body []byte, keep func(value []byte) bool, edits []Edit) (all []Edit, removed []string) {
	top := fields(body, whole(body), "messages", "thinking", "context_management")
	c := newCutter()
	thoughtless := false // the last turn of the model calls tools and has lost the thought in front of them
	for i, message := range ElementsOf(body, top[0]) {
		u := unsealed(body, message, keep)
		for _, j := range u.cut {
			removed = append(removed, blockPath(i, j))
		}
		if u.empty() {
			c.cut(message)
			continue
		}
		edits = append(c.keep(message, edits), u.edits...)
		if u.blocks > 0 {
			thoughtless = u.calls && u.beheaded
		}
	}
	edits = c.end(edits)
	if thoughtless && string(fields(body, top[1], "type")[0].In(body)) == `"enabled"` {
		edits = append(edits, Edit{top[1], `{"type":"disabled"}`})
		edits = keepThoughts(body, top[2], edits)
	}
	return Sorted(edits), removed
}

// unsealing is what becomes of one message.
type unsealing struct {
	edits    []Edit
	blocks   int   // of a message that the model has written as a list
	cut      []int // which of them go
	calls    bool  // a tool is called
	beheaded bool  // it began with a thought, and what is left does not
}

// empty reports whether nothing is left of a message that had something.
func (u *unsealing) empty() bool { return u.blocks > 0 && len(u.cut) == u.blocks }

func unsealed(body []byte, message Span, keep func(value []byte) bool) (u unsealing) {
	c := newCutter()
	for j, block := range ElementsOf(body, assistantContent(body, message)) {
		u.blocks++
		kind, value := blockSeal(body, block)
		if len(value) > 0 && !keep(value) {
			c.cut(block)
			u.cut = append(u.cut, j)
			continue
		}
		if c.first {
			u.beheaded = len(u.cut) > 0 && kind != `"thinking"` && kind != `"redacted_thinking"`
		}
		u.calls = u.calls || kind == `"tool_use"`
		u.edits = c.keep(block, u.edits)
	}
	u.edits = c.end(u.edits)
	return u
}

// keepThoughts takes the edits of the context out that are refused when there is no thinking: clear_thinking_20251015.
func keepThoughts(body []byte, management Span, edits []Edit) []Edit {
	c := newCutter()
	for _, e := range ElementsOf(body, fields(body, management, "edits")[0]) {
		if strings.HasPrefix(string(fields(body, e, "type")[0].In(body)), `"clear_thinking_`) {
			c.cut(e)
			continue
		}
		edits = c.keep(e, edits)
	}
	return c.end(edits)
}
