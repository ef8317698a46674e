package wire

import (
	"bytes"
	"fmt"
)

// UnsealChat appends the edits that take the reasoning out of a chat completion request whose seals keep does not want, and
// returns where it stood: items of reasoning_details, and the extra_content of a call that holds Google's signature. Every
// other byte stays. The body must be one that ReadRequest has taken.
func UnsealChat(body []byte, keep func(value []byte) bool, edits []Edit) (all []Edit, removed []string) {
	if !bytes.Contains(body, []byte(`"reasoning_details"`)) && !bytes.Contains(body, []byte(`"thought_signature"`)) {
		return edits, nil
	}
	for i, message := range ElementsOf(body, fields(body, whole(body), "messages")[0]) {
		f := fields(body, message, "reasoning_details", "tool_calls")
		c := newCutter()
		for j, detail := range ElementsOf(body, f[0]) {
			if value := detailSeal(body, detail); len(value) > 0 && !keep(value) {
				c.cut(detail)
				removed = append(removed, fmt.Sprintf("messages[%d].reasoning_details[%d]", i, j))
				continue
			}
			edits = c.keep(detail, edits)
		}
		edits = c.end(edits)
		for j, call := range ElementsOf(body, f[1]) {
			extra, signature := callSignature(body, call)
			if value := inner(signature.In(body)); len(value) > 0 && !keep(value) {
				edits = append(edits, Edit{extra, "{}"})
				removed = append(removed, fmt.Sprintf("messages[%d].tool_calls[%d].extra_content", i, j))
			}
		}
	}
	return Sorted(edits), removed
}

// detailSeal is what seals an item of reasoning_details: its data, or the signature of its text.
func detailSeal(body []byte, detail Span) []byte {
	f := fields(body, detail, "signature", "data")
	for _, at := range f[:2] {
		if at.Found() {
			if value := inner(at.In(body)); len(value) > 0 {
				return value
			}
		}
	}
	return nil
}

// callSignature is where the signature of a call stands, in Google's own extension of the protocol, and that extension.
func callSignature(body []byte, call Span) (extra, signature Span) {
	extra = fields(body, call, "extra_content")[0]
	return extra, fields(body, fields(body, extra, "google")[0], "thought_signature")[0]
}
