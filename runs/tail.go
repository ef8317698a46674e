package runs

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// complete puts the tail that waited before the draft, and keeps back the draft's own: what comes out holds no half of a
// secret whose other half is in the message's next delta. With w.mu held.
func (w *Writer) complete(d draft) (ready []draft) {
	if w.j.o.Hold == nil || w.content != Redacted {
		return []draft{d}
	}
	if d.beside() != "" {
		ready, w.tail = w.tail.handOn(d, w.j.o.Hold)
		return ready
	}
	if one, ok := merged(w.tail, d); ok {
		d = one
	} else if w.tail.kind != "" {
		ready = append(ready, w.tail)
	}
	w.tail = draft{}
	front, back := d.split(w.j.o.Hold)
	w.tail = back
	if front.kind != "" {
		ready = append(ready, front)
	}
	return ready
}

// release lets the tail go as it is: nothing follows, or somebody waits for all of it. With w.mu held.
func (w *Writer) release() {
	if d := w.tail; d.kind != "" && w.err == nil {
		w.tail = draft{}
		w.takeIn(d)
	}
}

// beside names what a delta of OpenAI's belongs to that stands in the row's raw, "" when there is none. A tool's arguments
// have such deltas, too.
func (d draft) beside() string {
	raw := gjson.GetBytes(d.payload, "raw")
	if raw.Get("delta").Type != gjson.String || !raw.Get("sequence_number").Exists() {
		return ""
	}
	var name strings.Builder
	name.WriteString(raw.Get("type").Str)
	for _, member := range []string{"item_id", "output_index", "content_index", "summary_index"} {
		name.WriteString("|" + raw.Get(member).Raw)
	}
	return name.String()
}

// handOn puts the tail that waited before a delta with an event of OpenAI's beside it. Each event keeps its number, which
// observers count on, and the words move: what is whole goes with the one that waited, and the rest waits with the new one.
func (tail draft) handOn(d draft, hold func(string) int) (ready []draft, rest draft) {
	text, before := gjson.GetBytes(d.payload, "raw.delta").Str, ""
	if tail.kind != "" {
		if tail.beside() != d.beside() {
			ready = append(ready, tail)
		} else {
			before = gjson.GetBytes(tail.payload, "raw.delta").Str
		}
	}
	all := before + text
	at := len(all) - hold(all)
	for at > 0 && at < len(all) && !utf8.RuneStart(all[at]) {
		at--
	}
	switch {
	case tail.kind != "" && len(ready) == 0:
		ready, rest = append(ready, tail.saying(all[:at])), d.saying(all[at:])
	default:
		rest = d
	}
	if at == len(all) {
		return append(ready, rest), draft{}
	}
	return ready, rest
}

// saying is a delta with other words than it came with, in both places. What tells of single tokens would tell the old ones.
func (d draft) saying(text string) draft {
	d.payload, _ = sjson.SetBytes(d.payload, "raw.delta", text) // these fail for empty names only
	if gjson.GetBytes(d.payload, "delta").Exists() {
		d.payload, _ = sjson.SetBytes(d.payload, "delta", text)
	}
	if gjson.GetBytes(d.payload, "raw.logprobs.0").Exists() {
		d.payload, _ = sjson.SetRawBytes(d.payload, "raw.logprobs", []byte("[]"))
	}
	return d
}

// split takes the bytes that are to wait from the end of a delta. Either half may be the zero draft. A delta that has the
// runtime's own event beside it is not split, for that one says it all.
func (d draft) split(hold func(string) int) (front, back draft) {
	if d.kind != TypeTokenDelta && d.kind != TypeReasoningDelta {
		return d, draft{}
	}
	delta := gjson.GetBytes(d.payload, "delta")
	if delta.Type != gjson.String || gjson.GetBytes(d.payload, "raw").Exists() {
		return d, draft{}
	}
	at := len(delta.Str) - hold(delta.Str)
	for at > 0 && at < len(delta.Str) && !utf8.RuneStart(delta.Str[at]) {
		at--
	}
	switch {
	case at >= len(delta.Str):
		return d, draft{}
	case at <= 0:
		return draft{}, d
	}
	front, back = d, d
	front.payload, _ = sjson.SetBytes(d.payload, "delta", delta.Str[:at]) // fails for empty names only
	back.payload, _ = sjson.SetBytes(d.payload, "delta", delta.Str[at:])
	return front, back
}
