package wire

// Chunk is what the relay needs to know of one chunk of a chat completion stream.
type Chunk struct {
	Valid    bool // a JSON object
	Done     bool // the literal [DONE]
	Failed   bool // a finish reason that means an error, not an end
	Content  bool // text, reasoning, a refusal or part of a tool call reaches the reader
	Error    Span // the error member, when it says something
	Nulled   Span // an "error": null member with its comma, which some clients take for an error
	NoList   Span // the value of a "choices": null member, which clients that count the choices die of
	Usage    Usage
	Bare     bool // usage with no choices: the chunk that a client gets only if it asked
	Choices  uint64
	Finished uint64 // indexes of choices whose finish reason stands in this chunk, one bit each
}

// ReadChunk looks at the data of one event. Data that is not a JSON object is not Valid.
func ReadChunk(data []byte) Chunk {
	if string(data) == "[DONE]" {
		return Chunk{Done: true}
	}
	var c Chunk
	empty := false
	m := Object(data)
	before := m.c.pos // offset behind the previous member, or behind the opening brace
	first := true
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		v := value.In(data)
		switch string(name) {
		case "choices":
			empty = c.choices(v)
			if Null(v) {
				c.NoList = value
			}
		case "usage":
			if !Null(v) {
				c.Usage = chatUsage(v)
			}
		case "error":
			if saysNothing(v) {
				c.Nulled = memberWithComma(data, before, value.To, first)
			} else {
				c.Error = value
			}
		}
		before, first = value.To, false
	}
	if m.Err() != nil {
		return Chunk{}
	}
	c.Valid = true
	c.Bare = empty && c.Usage.Known
	return c
}

// Mends are the edits that make the chunk one that every client takes; mostly there are none.
func (c *Chunk) Mends() []Edit {
	var edits []Edit
	if c.Nulled.Found() {
		edits = append(edits, Edit{At: c.Nulled})
	}
	if c.NoList.Found() {
		edits = append(edits, Edit{c.NoList, "[]"})
	}
	if len(edits) == 2 && edits[1].At.From < edits[0].At.From {
		edits[0], edits[1] = edits[1], edits[0]
	}
	return edits
}

// saysNothing reports whether an error member stands for "no error".
func saysNothing(v []byte) bool { return Null(v) || string(v) == `""` || string(v) == "false" }

// memberWithComma returns the span to cut so that the object stays well-formed: with the comma in front, or, for the first
// member, with the one behind.
func memberWithComma(data []byte, before, end int, first bool) Span {
	if !first {
		return Span{before, end}
	}
	c := cursor{data: data, pos: end}
	c.space()
	if c.peek() == ',' {
		return Span{before, c.pos + 1}
	}
	return Span{before, end}
}

// choices looks at each choice and reports whether there was none.
func (c *Chunk) choices(text []byte) (empty bool) {
	empty = true
	a := Array(text)
	position := 0
	for choice, ok := a.Next(); ok; choice, ok = a.Next() {
		empty = false
		index := int64(position)
		position++
		finished := false
		m := Object(choice)
		for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
			v := value.In(choice)
			switch string(name) {
			case "index":
				count(v, &index)
			case "finish_reason":
				finished = !Null(v) && string(v) != `""`
				c.Failed = c.Failed || string(v) == `"error"` || string(v) == `"error_finish"`
			case "delta", "message":
				c.Content = c.Content || meaningful(v)
			case "text":
				c.Content = c.Content || says(v)
			}
		}
		bit := uint64(1) << min(index, 63)
		c.Choices |= bit
		if finished {
			c.Finished |= bit
		}
	}
	return empty
}

// meaningful reports whether a delta or message carries anything for the reader: any member but the role that says
// something. Unknown members count, so that a provider's own reasoning field is content too.
func meaningful(text []byte) bool {
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) != "role" && says(value.In(text)) {
			return true
		}
	}
	return false
}

// says reports whether a value is anything but null, "" or an empty array or object.
func says(v []byte) bool {
	switch v[0] {
	case 'n':
		return false
	case '"':
		return len(v) > 2
	case '[':
		a := Array(v)
		_, some := a.Next()
		return some
	case '{':
		return !emptyObject(v)
	default:
		return true
	}
}
