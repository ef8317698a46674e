package members

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// maxMembers bounds the members of one object that is read.
const maxMembers = 128

// Reader is a client's body while it is read. Its first error stays; what is read after it is thrown away. The zero Reader is
// ready.
type Reader struct {
	err    *wire.FieldError
	others []string
}

// Err is the first error, a *wire.FieldError; nil = there is none.
func (b *Reader) Err() error {
	if b.err == nil {
		return nil
	}
	return b.err
}

// Others are the members that nobody took, in the order of the body, each once and without indexes.
func (b *Reader) Others() []string { return b.others }

// Refuse says that a member cannot be as it is.
func (b *Reader) Refuse(field, what string) {
	if b.err == nil {
		b.err = &wire.FieldError{Field: field, What: what}
	}
}

// LeaveOut lists a member among the others, without indexes, once. The list ends in a header, and is bounded like one.
func (b *Reader) LeaveOut(path string) {
	const most, more = 32, "and-more"
	if len(b.others) > most {
		return
	}
	path = withoutIndexes(path)
	if len(b.others) == most {
		path = more
	}
	if !slices.Contains(b.others, path) {
		b.others = append(b.others, path)
	}
}

// withoutIndexes makes "messages[3].name" of one message the name of all of them: "messages[].name".
func withoutIndexes(path string) string {
	var out strings.Builder
	for piece := range strings.SplitAfterSeq(path, "[") {
		if at := strings.IndexByte(piece, ']'); at > 0 && out.Len() > 0 {
			piece = piece[at:]
		}
		out.WriteString(piece)
	}
	return out.String()
}

// At is the path of an element of a list.
func At(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// Object is one object of the body and what of it was read.
type Object struct {
	Path  string // "" is the body itself
	Whole []byte // its text

	b       *Reader
	members []member
}

type member struct {
	name, value []byte
	taken       bool
}

// Object reads text, which is well-formed JSON, as an object. A member that stands twice is refused: two readers could
// read it differently.
func (b *Reader) Object(path string, text []byte) Object {
	o := Object{b: b, Path: path, Whole: text}
	if len(text) == 0 || text[0] != '{' {
		b.Refuse(path, "must be an object, not "+wire.Kind(text))
		return o
	}
	o.members = make([]member, 0, 8)
	m := wire.Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		for i := range o.members {
			if bytes.Equal(o.members[i].name, name) {
				b.Refuse(o.Field(safe(name)), "stands twice in the request body")
			}
		}
		if len(o.members) == maxMembers {
			b.Refuse(path, "holds more than "+strconv.Itoa(maxMembers)+" members")
			break
		}
		o.members = append(o.members, member{name: name, value: value.In(text)})
	}
	return o
}

// Field is the path of a member.
func (o *Object) Field(name string) string {
	if o.Path == "" {
		return name
	}
	return o.Path + "." + name
}

// safe is a member's name as it may stand in a header and in a message; one that is no plain word is not repeated.
func safe(name []byte) string {
	const longest = 64
	if len(name) == 0 || len(name) > longest {
		return "?"
	}
	for _, c := range name {
		word := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
		if !word {
			return "?"
		}
	}
	return string(name)
}

// Peek returns the value of a member without taking it, nil when it is absent.
func (o *Object) Peek(name string) []byte {
	for _, m := range o.members {
		if string(m.name) == name {
			return m.value
		}
	}
	return nil
}

// Take returns the value of a member, nil when it is absent or null.
func (o *Object) Take(name string) []byte {
	for i := range o.members {
		if m := &o.members[i]; string(m.name) == name {
			m.taken = true
			if wire.Null(m.value) {
				return nil
			}
			return m.value
		}
	}
	return nil
}

// Rest lists what nobody took among the others.
func (o *Object) Rest() {
	for _, m := range o.members {
		if !m.taken && !wire.Null(m.value) {
			o.b.LeaveOut(o.Field(safe(m.name)))
		}
	}
}

// Literal returns a string as it stands, nil when it is absent.
func (o *Object) Literal(name string) neutral.Literal {
	v := o.Take(name)
	if v != nil && v[0] != '"' {
		o.b.Refuse(o.Field(name), "must be a string, not "+wire.Kind(v))
		return nil
	}
	return v
}

// Text returns what a string says, "" when it is absent.
func (o *Object) Text(name string) string {
	s, _ := wire.Text(o.Literal(name))
	return string(s)
}

// Needed returns what a string says that must be there and say something.
func (o *Object) Needed(name string) string {
	s := o.Text(name)
	if s == "" {
		o.b.Refuse(o.Field(name), "is missing or empty")
	}
	return s
}

// List returns the elements of an array.
func (o *Object) List(name string) (wire.Elements, bool) {
	v := o.Take(name)
	if v == nil {
		return wire.Elements{}, false
	}
	if v[0] != '[' {
		o.b.Refuse(o.Field(name), "must be an array, not "+wire.Kind(v))
		return wire.Elements{}, false
	}
	return wire.Array(v), true
}

// Child returns a member that is an object; ok is false when it is absent.
func (o *Object) Child(name string) (c Object, ok bool) {
	v := o.Take(name)
	if v == nil {
		return Object{b: o.b, Path: o.Field(name)}, false
	}
	return o.b.Object(o.Field(name), v), true
}

// Flag returns a boolean, nil when it is absent.
func (o *Object) Flag(name string) *bool {
	v := o.Take(name)
	switch string(v) {
	case "":
	case "true":
		return new(true)
	case "false":
		return new(false)
	default:
		o.b.Refuse(o.Field(name), "must be a boolean, not "+wire.Kind(v))
	}
	return nil
}

// Number returns a number, nil when it is absent.
func (o *Object) Number(name string) *float64 {
	v := o.Take(name)
	if v == nil {
		return nil
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || wire.Kind(v) != "a number" {
		o.b.Refuse(o.Field(name), "must be a number, not "+wire.Kind(v))
		return nil
	}
	return &f
}

// Integer returns a whole number, nil when it is absent.
func (o *Object) Integer(name string) *int64 {
	v := o.Take(name)
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		o.b.Refuse(o.Field(name), "must be a whole number")
		return nil
	}
	return &n
}

// Tokens returns a count of tokens, ok is false when it is absent.
func (o *Object) Tokens(name string, least int64) (n int, ok bool) {
	p := o.Integer(name)
	if p == nil {
		return 0, false
	}
	const most = 1 << 30
	if *p < least || *p > most {
		o.b.Refuse(o.Field(name), "must be a whole number from "+strconv.FormatInt(least, 10)+" on")
		return 0, false
	}
	return int(*p), true
}

// OneOf returns a word of a closed list, "" when it is absent.
func (o *Object) OneOf(name string, words ...string) string {
	s := o.Text(name)
	if s == "" {
		return ""
	}
	if slices.Contains(words, s) {
		return s
	}
	o.b.Refuse(o.Field(name), "must be one of "+strings.Join(words, ", "))
	return ""
}
