package chat

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

// body is a client's body while it is read. Its first error stays; what is read after it is thrown away.
type body struct {
	err      *wire.FieldError
	others   []string
	open     map[string]*openCall // calls of the last assistant turn that made any, by their ids
	function *openCall            // the function_call among them, which is answered by its name
	spoken   bool                 // somebody else has spoken since then
}

func (b *body) refuse(field, what string) {
	if b.err == nil {
		b.err = &wire.FieldError{Field: field, What: what}
	}
}

// leaveOut lists a member among the others, without indexes, once. The list ends in a header, and is bounded like one.
func (b *body) leaveOut(path string) {
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

// at is the path of an element of a list.
func at(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// object is one object of the body and what of it was read.
type object struct {
	b       *body
	path    string // "" is the body itself
	whole   []byte
	members []member
}

type member struct {
	name, value []byte
	taken       bool
}

// object reads text, which is well-formed JSON, as an object. A member that stands twice is refused: two readers could
// read it differently.
func (b *body) object(path string, text []byte) object {
	o := object{b: b, path: path, whole: text}
	if len(text) == 0 || text[0] != '{' {
		b.refuse(path, "must be an object, not "+wire.Kind(text))
		return o
	}
	o.members = make([]member, 0, 8)
	m := wire.Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		for i := range o.members {
			if bytes.Equal(o.members[i].name, name) {
				b.refuse(o.field(safe(name)), "stands twice in the request body")
			}
		}
		if len(o.members) == maxMembers {
			b.refuse(path, "holds more than "+strconv.Itoa(maxMembers)+" members")
			break
		}
		o.members = append(o.members, member{name: name, value: value.In(text)})
	}
	return o
}

// field is the path of a member.
func (o *object) field(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
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

// peek returns the value of a member without taking it, nil when it is absent.
func (o *object) peek(name string) []byte {
	for _, m := range o.members {
		if string(m.name) == name {
			return m.value
		}
	}
	return nil
}

// take returns the value of a member, nil when it is absent or null.
func (o *object) take(name string) []byte {
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

// rest lists what nobody took among the others.
func (o *object) rest() {
	for _, m := range o.members {
		if !m.taken && !wire.Null(m.value) {
			o.b.leaveOut(o.field(safe(m.name)))
		}
	}
}

// literal returns a string as it stands, nil when it is absent.
func (o *object) literal(name string) neutral.Literal {
	v := o.take(name)
	if v != nil && v[0] != '"' {
		o.b.refuse(o.field(name), "must be a string, not "+wire.Kind(v))
		return nil
	}
	return v
}

// text returns what a string says, "" when it is absent.
func (o *object) text(name string) string {
	s, _ := wire.Text(o.literal(name))
	return string(s)
}

// needed returns what a string says that must be there and say something.
func (o *object) needed(name string) string {
	s := o.text(name)
	if s == "" {
		o.b.refuse(o.field(name), "is missing or empty")
	}
	return s
}

// list returns the elements of an array.
func (o *object) list(name string) (wire.Elements, bool) {
	v := o.take(name)
	if v == nil {
		return wire.Elements{}, false
	}
	if v[0] != '[' {
		o.b.refuse(o.field(name), "must be an array, not "+wire.Kind(v))
		return wire.Elements{}, false
	}
	return wire.Array(v), true
}

// child returns a member that is an object; ok is false when it is absent.
func (o *object) child(name string) (c object, ok bool) {
	v := o.take(name)
	if v == nil {
		return object{b: o.b, path: o.field(name)}, false
	}
	return o.b.object(o.field(name), v), true
}

// flag returns a boolean, nil when it is absent.
func (o *object) flag(name string) *bool {
	v := o.take(name)
	switch string(v) {
	case "":
	case "true":
		return new(true)
	case "false":
		return new(false)
	default:
		o.b.refuse(o.field(name), "must be a boolean, not "+wire.Kind(v))
	}
	return nil
}

// number returns a number, nil when it is absent.
func (o *object) number(name string) *float64 {
	v := o.take(name)
	if v == nil {
		return nil
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || wire.Kind(v) != "a number" {
		o.b.refuse(o.field(name), "must be a number, not "+wire.Kind(v))
		return nil
	}
	return &f
}

// integer returns a whole number, nil when it is absent.
func (o *object) integer(name string) *int64 {
	v := o.take(name)
	if v == nil {
		return nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		o.b.refuse(o.field(name), "must be a whole number")
		return nil
	}
	return &n
}

// tokens returns a count of tokens, ok is false when it is absent.
func (o *object) tokens(name string, least int64) (n int, ok bool) {
	p := o.integer(name)
	if p == nil {
		return 0, false
	}
	const most = 1 << 30
	if *p < least || *p > most {
		o.b.refuse(o.field(name), "must be a whole number from "+strconv.FormatInt(least, 10)+" on")
		return 0, false
	}
	return int(*p), true
}

// oneOf returns a word of a closed list, "" when it is absent.
func (o *object) oneOf(name string, words ...string) string {
	s := o.text(name)
	if s == "" {
		return ""
	}
	if slices.Contains(words, s) {
		return s
	}
	o.b.refuse(o.field(name), "must be one of "+strings.Join(words, ", "))
	return ""
}
