package wire

// Members walks the members of one JSON object, in order. A loop over Next sees every member once; Err says afterwards
// whether the text was one well-formed object with nothing behind it.
type Members struct {
	c     cursor
	state int // 0 before the first, 1 between, 2 done
}

// Object starts a walk over text.
func Object(text []byte) Members {
	m := Members{c: cursor{data: text}}
	m.c.space()
	if m.c.peek() != '{' {
		m.c.fail("expected an object")
		m.state = 2
		return m
	}
	m.c.pos++
	return m
}

// Next returns the next member: its name, unescaped, and where its value stands.
func (m *Members) Next() (name []byte, value Span, ok bool) {
	if m.state == 2 {
		return nil, Span{}, false
	}
	m.c.space()
	switch b := m.c.peek(); {
	case b == '}':
		m.c.pos++
		m.end()
		return nil, Span{}, false
	case m.state == 1 && b == ',':
		m.c.pos++
		m.c.space()
	case m.state == 1:
		m.c.fail("expected a comma or a closing bracket")
	}
	m.state = 1
	name = m.c.key()
	value = m.c.value()
	if m.c.err != nil {
		m.state = 2
		return nil, Span{}, false
	}
	return name, value, true
}

// end checks that nothing stands behind the object.
func (m *Members) end() {
	m.state = 2
	m.c.space()
	if m.c.pos != len(m.c.data) {
		m.c.fail("text after the end of the document")
	}
}

// Err returns the walk's error, if any.
func (m *Members) Err() error {
	if m.c.err != nil {
		return m.c.err
	}
	return nil
}

// Elements walks the elements of one JSON array of text that was already proven to be well-formed.
type Elements struct{ c cursor }

// Array starts a walk; a text that is not an array has no elements.
func Array(text []byte) Elements {
	e := Elements{c: cursor{data: text}}
	if e.c.peek() != '[' {
		e.c.pos = len(text)
		return e
	}
	e.c.pos++
	return e
}

// Next returns the next element's text.
func (e *Elements) Next() ([]byte, bool) {
	e.c.space()
	if e.c.peek() == ',' {
		e.c.pos++
		e.c.space()
	}
	if b := e.c.peek(); b == 0 || b == ']' {
		return nil, false
	}
	v := e.c.value()
	if e.c.err != nil {
		return nil, false
	}
	return v.In(e.c.data), true
}

// Text returns what a JSON string says; ok is false for any other kind.
func Text(value []byte) (text []byte, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return nil, false
	}
	return unescape(value), true
}

// Null reports whether value is the literal null.
func Null(value []byte) bool { return string(value) == "null" }

// Kind names the JSON kind of value, for messages: "an object", "a number".
func Kind(value []byte) string {
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
