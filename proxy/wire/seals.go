package wire

import "fmt"

// Seal is a part of a request's conversation that only the account which made it can open or check.
type Seal struct {
	Value []byte // opaque: a signature, redacted data, encrypted content
	Path  string // of the part that it closes: "messages[3].content[0]", "input[5]"
	// Vital is set when the part is the conversation itself, compacted: without it nothing is left that could be gone on
	// with. Everything else is reasoning, and may be left out.
	Vital bool
}

// ResponsesSeals lists what is sealed in the body of a Responses request. The body must be one that ReadRequest has taken.
func ResponsesSeals(body []byte) []Seal {
	var seals []Seal
	for i, item := range ElementsOf(body, fields(body, whole(body), "input")[0]) {
		if s := itemSeal(body, item); len(s.Value) > 0 {
			s.Path = fmt.Sprintf("input[%d]", i)
			seals = append(seals, s)
		}
	}
	return seals
}

// UnsealResponses appends the edits that take the reasoning out of a Responses request whose seals keep does not want, and
// returns where it stood. Every other byte stays. A vital seal is never taken out.
func UnsealResponses(body []byte, keep func(value []byte) bool, edits []Edit) (all []Edit, removed []string) {
	c := newCutter()
	for i, item := range ElementsOf(body, fields(body, whole(body), "input")[0]) {
		if s := itemSeal(body, item); len(s.Value) > 0 && !s.Vital && !keep(s.Value) {
			c.cut(item)
			removed = append(removed, fmt.Sprintf("input[%d]", i))
			continue
		}
		edits = c.keep(item, edits)
	}
	return c.end(edits), removed
}

// itemSeal is the seal of one item. Reasoning can be spared; a compaction, or anything else that is encrypted, cannot.
func itemSeal(body []byte, item Span) Seal {
	f := fields(body, item, "type", "encrypted_content")
	if !f[1].Found() {
		return Seal{}
	}
	return Seal{Value: inner(f[1].In(body)), Vital: string(f[0].In(body)) != `"reasoning"`}
}

// MessagesSeals lists what is sealed in the body of a Messages request. The body must be one that ReadRequest has taken.
func MessagesSeals(body []byte) []Seal {
	var seals []Seal
	for i, message := range ElementsOf(body, fields(body, whole(body), "messages")[0]) {
		for j, block := range ElementsOf(body, assistantContent(body, message)) {
			if _, value := blockSeal(body, block); len(value) > 0 {
				seals = append(seals, Seal{Value: value, Path: blockPath(i, j)})
			}
		}
	}
	return seals
}

// whole is where the one value of a body stands, with the white space behind it.
func whole(body []byte) Span {
	c := cursor{data: body}
	c.space()
	return Span{c.pos, len(body)}
}

func blockPath(message, block int) string {
	return fmt.Sprintf("messages[%d].content[%d]", message, block)
}

// assistantContent is the content of a message that the model has written.
func assistantContent(body []byte, message Span) Span {
	f := fields(body, message, "role", "content")
	if string(f[0].In(body)) != `"assistant"` {
		return Span{}
	}
	return f[1]
}

// blockSeal is the type of a content block, and what seals it. A thought of a server that signs nothing has no seal.
func blockSeal(body []byte, block Span) (kind string, value []byte) {
	f := fields(body, block, "type", "signature", "data")
	kind = string(f[0].In(body))
	switch {
	case kind == `"thinking"` && f[1].Found():
		return kind, inner(f[1].In(body))
	case kind == `"redacted_thinking"` && f[2].Found():
		return kind, inner(f[2].In(body))
	}
	return kind, nil
}
