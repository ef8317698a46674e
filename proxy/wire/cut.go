package wire

import (
	"bytes"
	"iter"
	"slices"
)

// ElementsOf walks an array that stands in a proven body, and says where each element stands in the body. What is no array
// has none.
func ElementsOf(body []byte, at Span) iter.Seq2[int, Span] {
	return func(yield func(int, Span) bool) {
		if !at.Found() {
			return
		}
		a := Array(at.In(body))
		for i := 0; ; i++ {
			e, ok := a.Next()
			if !ok {
				return
			}
			to := at.From + a.c.pos
			if !yield(i, Span{to - len(e), to}) {
				return
			}
		}
	}
}

// fields finds members of an object that stands in a proven body, in the order of their names. Of two with one name the
// last counts, as it does for most readers.
func fields(body []byte, at Span, names ...string) [4]Span {
	var found [4]Span
	if !at.Found() || at.In(body)[0] != '{' {
		return found
	}
	m := Object(at.In(body))
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		for i, n := range names {
			if string(name) == n {
				found[i] = Span{at.From + value.From, at.From + value.To}
			}
		}
	}
	return found
}

// cutter takes elements out of one array, with the commas that they leave behind.
type cutter struct {
	last    Span // the element before
	first   bool // nothing has been kept
	pending Span // elements in a row that go
}

func newCutter() cutter { return cutter{first: true} }

// keep lets the next element stay.
func (c *cutter) keep(at Span, edits []Edit) []Edit {
	if c.pending.Found() {
		cut := Span{c.last.To, c.pending.To}
		if c.first {
			cut = Span{c.pending.From, at.From}
		}
		edits = append(edits, Edit{At: cut})
		c.pending = Span{}
	}
	c.last, c.first = at, false
	return edits
}

// cut takes the next element out.
func (c *cutter) cut(at Span) {
	if !c.pending.Found() {
		c.pending.From = at.From
	}
	c.pending.To = at.To
}

// end closes the array. One that keeps nothing is left empty.
func (c *cutter) end(edits []Edit) []Edit {
	if !c.pending.Found() {
		return edits
	}
	cut := Span{c.last.To, c.pending.To}
	if c.first {
		cut = c.pending
	}
	return append(edits, Edit{At: cut})
}

// Without appends the edits that take top-level members out of a proven body, and returns which of the names were there.
func Without(body []byte, names []string, edits []Edit) (all []Edit, removed []string) {
	c := newCutter()
	m := Object(body)
	for from := m.c.pos; ; {
		name, value, ok := m.Next()
		if !ok {
			return c.end(edits), removed
		}
		member := Span{from + bytes.IndexByte(body[from:], '"'), value.To}
		from = value.To
		if slices.Contains(names, string(name)) {
			removed = append(removed, string(name))
			c.cut(member)
			continue
		}
		edits = c.keep(member, edits)
	}
}
