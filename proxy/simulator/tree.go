package simulator

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// object is a JSON object in the order of its text. Of members of one name the last counts.
type object struct {
	names  []string
	values map[string]any
}

// MarshalJSON writes the members in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(name))
		b.WriteByte(':')
		b.Write(encode(o.values[name]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// readTree reads a JSON text into nil, bool, string, json.Number, []any and *object.
func readTree(text []byte) (any, bool) {
	if !json.Valid(text) { // which also bounds how deep it may be
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return readValue(d), true
}

// readValue reads the next value of a text that is known to be valid.
func readValue(d *json.Decoder) any {
	token, _ := d.Token()
	switch token {
	case json.Delim('{'):
		o := &object{values: map[string]any{}}
		for d.More() {
			name, _ := d.Token()
			word, _ := name.(string)
			if _, again := o.values[word]; !again {
				o.names = append(o.names, word)
			}
			o.values[word] = readValue(d)
		}
		_, _ = d.Token()
		return o
	case json.Delim('['):
		items := []any{}
		for d.More() {
			items = append(items, readValue(d))
		}
		_, _ = d.Token()
		return items
	}
	return token
}

// node is a value of a body and the place where it stands, in its provider's way of naming places.
type node struct {
	at    string
	value any
	found bool // false = the body has no such value
	style *placing
}

// placing is how a provider names places in a body.
type placing struct {
	member    func(at, name string) string
	item      func(at string, i int) string
	alias     func(name string) string // another name that a member may have; nil = none
	canonical func(name string) string // the inverse of alias
}

// dotted is messages.0.content.1, as Anthropic writes.
var dotted = placing{
	member: joined,
	item:   func(at string, i int) string { return joined(at, strconv.Itoa(i)) },
}

// bracketed is input[0].content[1], as OpenAI writes.
var bracketed = placing{
	member: joined,
	item:   func(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" },
}

func joined(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// member is the object's member of the name.
func (n node) member(name string) node {
	inner := node{at: n.style.member(n.at, name), style: n.style}
	o, ok := n.value.(*object)
	if !ok {
		return inner
	}
	inner.value, inner.found = o.values[name]
	if !inner.found && n.style.alias != nil {
		inner.value, inner.found = o.values[n.style.alias(name)]
	}
	return inner
}

// members are the object's members in their order, none of what is no object.
func (n node) members() []node {
	o, ok := n.value.(*object)
	if !ok {
		return nil
	}
	members := make([]node, 0, len(o.names))
	for _, name := range o.names {
		members = append(members, node{at: n.style.member(n.at, name), value: o.values[name], found: true, style: n.style})
	}
	return members
}

// names are the names of the object's members.
func (n node) names() []string {
	if o, ok := n.value.(*object); ok {
		return o.names
	}
	return nil
}

// items are the array's items, none of what is no array.
func (n node) items() []node {
	list, ok := n.value.([]any)
	if !ok {
		return nil
	}
	items := make([]node, 0, len(list))
	for i, v := range list {
		items = append(items, node{at: n.style.item(n.at, i), value: v, found: true, style: n.style})
	}
	return items
}

// under is the same value at a place further down, as unions of types are named.
func (n node) under(name string) node {
	n.at = n.style.member(n.at, name)
	return n
}

// text is the string, "" of what is none.
func (n node) text() string {
	s, _ := n.value.(string)
	return s
}

// number is the number, and whether it is one.
func (n node) number() (float64, bool) {
	f, err := strconv.ParseFloat(n.digits(), 64)
	return f, err == nil
}

// integer is the whole number, 0 of what is none.
func (n node) integer() int {
	i, _ := strconv.Atoi(n.digits())
	return i
}

func (n node) digits() string {
	digits, _ := n.value.(json.Number)
	return digits.String()
}

// yes reports whether the value is true.
func (n node) yes() bool { return n.value == true }

// is reports whether the value is the string.
func (n node) is(word string) bool { return n.value == word }

// has reports whether the array has the string.
func (n node) has(word string) bool {
	return slices.ContainsFunc(n.items(), func(i node) bool { return i.is(word) })
}

// json is the value as text, nil where there is none.
func (n node) json() json.RawMessage {
	if !n.found {
		return nil
	}
	return encode(n.value)
}
