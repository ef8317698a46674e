package runs

import (
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
