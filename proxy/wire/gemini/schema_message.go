package gemini

import (
	"bytes"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// What becomes of a schema that is to be the API's Schema message (ai.google.dev/api/caching#Schema), as it reaches a model of
// another provider's: a keyword that it does not have is a 400 ("Unknown name …: Cannot find field"), a whole number in it
// reaches Claude as a string, which is a 400 again. So that nothing is lost that the model could mind, a keyword that cannot
// stand is told in the description: "(minLength: 3)".
//
//	type, description, properties, required, items, minimum, maximum   kept
//	enum                   kept if its values are strings; else told, with the type of its values
//	type as a list         nullable for null; several others become anyOf
//	anyOf, oneOf           anyOf, which must stand alone; null in it becomes nullable; one of one is that one. Beside
//	                       properties it is told
//	anyOf at the top       the properties of all, of which none must be there: "anyOf" is named as dropped
//	additionalProperties   left out as true or false; told if it is a schema
//	an array without items with items of any kind
//	true, false            any value
//	any other keyword      told; named as dropped if it is too long for that (maxTold)
//	titles, examples, $comment, deprecated, x-… left out: they say nothing of what is allowed

// maxTold is the longest value of a keyword that a description is told of.
const maxTold = 240

// silent are the keywords that say nothing of what is allowed.
var silent = []string{
	"$defs", "definitions", "$schema", "$id", "$anchor", "$comment", "$vocabulary", "title", "examples", "example",
	"deprecated", "readOnly", "writeOnly", "propertyOrdering", "discriminator", "externalDocs", "xml", "nullable",
}

// writeMessage appends a subschema as a Schema message.
func (s *schema) writeMessage(dst []byte, n *node) []byte {
	m := message{nullable: string(n.get("nullable")) == "true"}
	s.settle(n, &m)
	branches := s.branches(n, &m)
	if s.depth == 1 && branches != nil {
		s.flatten(n, branches)
		branches = nil
	}
	if s.depth == 1 && n.add("type", []byte(`"object"`)) {
		s.changed = true
	}
	for i := range n.keywords {
		s.tell(&n.keywords[i], &m)
	}
	if branches == nil {
		return s.writeNode(dst, n, &m)
	}
	dst = append(dst, `{"anyOf":[`...)
	for _, b := range branches {
		dst = s.branch(comma(dst), b, n, &m)
	}
	return append(dst, "]}"...)
}

// message is what is known of one Schema message before it is written.
type message struct {
	nullable bool
	told     []byte // of the description, as the inside of a JSON string
}

// settle decides the type and the values.
func (s *schema) settle(n *node, m *message) {
	s.constant(n)
	s.types(n, m)
	s.typed(n)
	s.enum(n, m)
}

// types takes null out of a list of types. Several others become branches.
func (s *schema) types(n *node, m *message) {
	t := n.get("type")
	switch {
	case string(t) == `"null"`:
		s.changed = true
		n.remove("type")
		m.nullable = true
	case len(t) > 0 && t[0] == '[':
		s.changed = true
		n.remove("type")
		var kinds [][]byte
		a := wire.Array(t)
		for kind, ok := a.Next(); ok; kind, ok = a.Next() {
			if string(kind) == `"null"` {
				m.nullable = true
				continue
			}
			kinds = append(kinds, kind)
		}
		switch {
		case len(kinds) == 1:
			n.add("type", kinds[0])
		case len(kinds) > 1:
			n.add("anyOf", anyOfTypes(kinds))
		}
	}
}

// anyOfTypes is a list of schemas, one a type.
func anyOfTypes(kinds [][]byte) []byte {
	list := []byte{'['}
	for _, kind := range kinds {
		list = append(append(append(comma(list), `{"type":`...), kind...), '}')
	}
	return append(list, ']')
}

// enum keeps one of strings only, and tells any other.
func (s *schema) enum(n *node, m *message) {
	list := n.get("enum")
	if list == nil {
		return
	}
	kept, strings, null := []byte{'['}, true, false
	a := wire.Array(list)
	for v, ok := a.Next(); ok; v, ok = a.Next() {
		switch {
		case wire.Null(v):
			null = true
		case v[0] == '"':
			kept = append(comma(kept), v...)
		default:
			strings = false
		}
	}
	kept = append(kept, ']')
	m.nullable = m.nullable || null
	switch {
	case strings && len(kept) > 2 && (n.get("type") == nil || string(n.get("type")) == `"string"`):
		if null || n.get("type") == nil {
			s.changed = true
			n.remove("enum")
			n.add("enum", kept)
			n.add("type", []byte(`"string"`))
		}
	default:
		n.remove("enum")
		s.note("enum", list, m)
	}
}

// branches returns what is to stand in anyOf, nil for nothing. A single one is taken in.
func (s *schema) branches(n *node, m *message) [][]byte {
	name := "anyOf"
	list := n.get(name)
	if list == nil {
		name = "oneOf"
		list = n.get(name)
	}
	if list == nil || list[0] != '[' {
		return nil
	}
	var branches [][]byte
	a := wire.Array(list)
	for b, ok := a.Next(); ok; b, ok = a.Next() {
		if string(memberOf(b, "type")) == `"null"` {
			s.changed, m.nullable = true, true
			continue
		}
		branches = append(branches, b)
	}
	switch {
	case n.properties != nil && s.depth > 1:
		return nil // cannot stand beside properties: it is told
	case len(branches) == 1 && branches[0][0] == '{':
		s.changed = true
		n.remove(name)
		s.take(n, branches[0])
		s.settle(n, m)
		return s.branches(n, m)
	}
	if name == "oneOf" || len(n.keywords) > 1 {
		s.changed = true
	}
	n.remove(name)
	return branches
}

// flatten takes the properties of branches in, which may not stand at the top of a function's schema.
func (s *schema) flatten(n *node, branches [][]byte) {
	s.changed = true
	s.lose("anyOf")
	for _, b := range branches {
		if b[0] != '{' {
			continue
		}
		var inner node
		s.take(&inner, b)
		for _, p := range inner.properties {
			if !n.hasProperty([]byte(p.name)) {
				n.properties = append(n.properties, p)
			}
		}
	}
}

// branch appends one schema of anyOf, with what stood beside it: it may have no neighbours.
func (s *schema) branch(dst, text []byte, around *node, m *message) []byte {
	if text[0] != '{' {
		text = []byte("{}")
	}
	inner := make([]byte, 0, len(text)+len(m.told)+64)
	inner = append(inner, text[:len(text)-1]...)
	if m.nullable {
		inner = append(comma(inner), `"nullable":true`...)
	}
	if memberOf(text, "description") == nil {
		if d := m.description(around); d != nil {
			inner = append(append(comma(inner), `"description":`...), d...)
		}
	}
	for _, name := range []string{"items", "minimum", "maximum"} {
		if v := around.get(name); v != nil && memberOf(text, name) == nil && suits(name, memberOf(text, "type")) {
			inner = append(append(append(append(comma(inner), '"'), name...), `":`...), v...)
		}
	}
	return s.write(dst, append(inner, '}'))
}

// suits reports whether a keyword says something of values of a type.
func suits(name string, kind []byte) bool {
	switch name {
	case "items":
		return strings.EqualFold(string(kind), `"array"`)
	case "properties", "required":
		return strings.EqualFold(string(kind), `"object"`)
	}
	return strings.EqualFold(string(kind), `"number"`) || strings.EqualFold(string(kind), `"integer"`)
}

// tell puts a keyword that cannot stand into the description.
func (s *schema) tell(k *keyword, m *message) {
	switch k.name {
	case "type", "enum":
	case "items":
		switch k.value[0] {
		case '{':
		case '[':
			s.note("items", k.value, m)
		default: // of any kind
			s.changed = true
		}
	case "description":
		s.changed = s.changed || k.value[0] != '"'
	case "minimum", "maximum":
		if wire.Kind(k.value) != "a number" {
			s.note(k.name, k.value, m)
		}
	case "nullable":
		if string(k.value) != "true" {
			s.changed = true
		}
	case "additionalProperties", "unevaluatedProperties":
		if s.changed = true; k.value[0] == '{' && hasAny(k.value) {
			s.note(k.name, k.value, m)
		}
	default:
		if slices.Contains(silent, k.name) || strings.HasPrefix(k.name, "x-") {
			s.changed = true
			return
		}
		s.note(k.name, k.value, m)
	}
}

// note adds "(keyword: value)" to the description.
func (s *schema) note(name string, value []byte, m *message) {
	s.changed = true
	if len(value) > maxTold || bytes.Contains(value, []byte(`"$ref"`)) {
		s.lose(name)
		return
	}
	if len(m.told) > 0 {
		m.told = append(m.told, ' ')
	}
	m.told = append(m.told, '(')
	m.told = appendInside(m.told, []byte(name))
	m.told = append(m.told, ": "...)
	m.told = append(appendInside(m.told, value), ')')
}

// description is the description with what is told, nil for none.
func (m *message) description(n *node) neutral.Literal {
	d := neutral.Literal(n.get("description"))
	if len(d) > 0 && d[0] != '"' {
		d = nil
	}
	if len(m.told) == 0 {
		return d
	}
	all := append([]byte{'"'}, d.Inner()...)
	if !d.Empty() {
		all = append(all, ' ')
	}
	return append(append(all, m.told...), '"')
}

// writeNode appends the keywords that a Schema message has.
func (s *schema) writeNode(dst []byte, n *node, m *message) []byte {
	dst = append(dst, '{')
	array := strings.EqualFold(string(n.get("type")), `"array"`)
	for i := range n.keywords {
		k := &n.keywords[i]
		switch k.name {
		case "type", "enum", "minimum", "maximum":
			if k.name[0] == 'm' && wire.Kind(k.value) != "a number" {
				continue
			}
			dst = append(append(append(append(comma(dst), '"'), k.name...), `":`...), k.value...)
		case "items":
			if k.value[0] == '{' {
				dst = s.write(append(comma(dst), `"items":`...), k.value)
				array = false
			}
		}
	}
	if array {
		s.changed = true
		dst = append(comma(dst), `"items":{}`...)
	}
	if m.nullable {
		dst = append(comma(dst), `"nullable":true`...)
	}
	if d := m.description(n); d != nil {
		dst = append(append(comma(dst), `"description":`...), d...)
	}
	if n.properties != nil {
		dst = append(comma(dst), `"properties":{`...)
		for i := range n.properties {
			p := &n.properties[i]
			dst = append(append(comma(dst), wire.Quote(p.name)...), ':')
			dst = s.write(dst, p.value)
		}
		dst = append(dst, '}')
	}
	return append(s.writeRequired(dst, n), '}')
}
