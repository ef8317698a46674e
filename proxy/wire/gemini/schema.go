package gemini

import (
	"bytes"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
)

// What becomes of a client's JSON Schema. Gemini from 2.5 on is given JSON Schema (parametersJsonSchema, responseJsonSchema:
// "while the full JSON Schema may be sent, not all features are supported"), so only what would be misread is put in other
// words, and a schema that has nothing of it stays as it is, byte for byte:
//
//	$ref                   what it refers to, in its place; a schema that holds itself is unrolled twice and open then, and
//	                       "$ref" is named as dropped, as it is where it leads out of the document or nowhere
//	allOf                  one schema with the members of all
//	const                  enum of one
//	enum without type      with the type of its values: without one it is ignored
//	items as a list        prefixItems
//	required without one   of the properties by that name: left out
//	$defs, $schema, $id    left out of what is rewritten; they say nothing of the arguments
//
// Every other model has the API's Schema message, which refuses what it does not know; schema_message.go says how.

const (
	unrolled   = 2    // times that a schema may stand inside itself
	mostNodes  = 4000 // subschemas that one schema may be written out to
	mostNested = 64   // levels of subschemas
)

// schema is one schema while it is rewritten.
type schema struct {
	root    []byte
	message bool     // for the Schema message; else JSON Schema
	open    []string // references that are followed around what is written now
	nodes   int
	depth   int
	changed bool
	lost    []string // keywords whose meaning is gone, each once
}

// keyword is one member of a schema, or one of its properties.
type keyword struct {
	name  string
	value []byte
}

// node is one subschema with everything it refers to taken in. Of a keyword that stands twice the first counts.
type node struct {
	keywords   []keyword
	properties []keyword
	required   [][]byte // JSON strings
}

// repairSchema appends text, a JSON object, to dst, in the words that the model takes, and returns the keywords whose meaning
// is lost. It changes nothing where nothing has to be changed.
func repairSchema(dst, text []byte, message bool) (out []byte, lost []string) {
	s := schema{root: text, message: message}
	out = s.write(dst, text)
	if !s.changed {
		return append(dst, text...), nil
	}
	return out, s.lost
}

// schema writes a schema. field is where it stands in the client's body.
func (e *encoder) schema(text []byte, field string) {
	if !isObject(text) {
		e.refuse(field, "must be an object, not "+wire.Kind(text))
		return
	}
	var lost []string
	e.dst, lost = repairSchema(e.dst, text, !e.m.jsonSchema())
	name := field
	if _, rest, ok := strings.Cut(field, "]"); ok {
		name = "tools[]" + rest
	}
	for _, keyword := range lost {
		e.drop(name + "." + keyword)
	}
}

func (s *schema) lose(keyword string) {
	if !slices.Contains(s.lost, keyword) {
		s.lost = append(s.lost, keyword)
	}
}

// write appends one subschema.
func (s *schema) write(dst, text []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		if s.message { // true is any value; false, none, cannot be said
			s.changed = true
			return append(dst, "{}"...)
		}
		return append(dst, text...)
	}
	if s.nodes++; s.nodes > mostNodes || s.depth > mostNested {
		s.changed = true
		s.lose("$ref")
		return append(dst, "{}"...)
	}
	s.depth++
	opened := len(s.open)
	var n node
	n.keywords = make([]keyword, 0, 8)
	s.take(&n, text)
	if s.message {
		dst = s.writeMessage(dst, &n)
	} else {
		dst = s.writePlain(dst, &n)
	}
	s.open = s.open[:opened]
	s.depth--
	return dst
}

// take collects the keywords of text and of what it refers to.
func (s *schema) take(n *node, text []byte) {
	var ref, all []byte
	m := wire.Object(text)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		value := at.In(text)
		switch string(name) {
		case "$ref":
			ref = value
		case "allOf":
			all = value
		case "properties":
			// Twice, or not as it must be: some servers write an empty list for no properties.
			s.changed = s.changed || n.properties != nil || value[0] != '{'
			n.takeProperties(value)
		case "required":
			s.changed = s.changed || n.required != nil || value[0] != '['
			n.takeRequired(value)
		default:
			s.changed = !n.add(string(name), value) || s.changed
		}
	}
	if ref != nil {
		s.follow(n, ref)
	}
	if all != nil {
		s.changed = true
		elements := wire.Array(all)
		for element, ok := elements.Next(); ok; element, ok = elements.Next() {
			if len(element) > 0 && element[0] == '{' && s.nodes < mostNodes {
				s.nodes++
				s.take(n, element)
			}
		}
	}
}

// follow takes in what a reference leads to.
func (s *schema) follow(n *node, ref []byte) {
	s.changed = true
	name, _ := wire.Text(ref)
	target := s.find(string(name))
	times := 0
	for _, o := range s.open {
		if o == string(name) {
			times++
		}
	}
	if target == nil || times >= unrolled || s.nodes >= mostNodes {
		s.lose("$ref")
		if target != nil {
			n.add("type", memberOf(target, "type"))
		}
		return
	}
	s.nodes++
	s.open = append(s.open, string(name))
	s.take(n, target)
}

// find walks a reference inside the document: "#/$defs/Node". nil is nowhere.
func (s *schema) find(ref string) []byte {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := s.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		at = memberOf(at, strings.NewReplacer("~1", "/", "~0", "~", "%24", "$").Replace(step))
		if len(at) == 0 || at[0] != '{' {
			return nil
		}
	}
	return at
}

// memberOf returns the value of a member, nil when it is absent.
func memberOf(object []byte, name string) []byte {
	m := wire.Object(object)
	for n, at, ok := m.Next(); ok; n, at, ok = m.Next() {
		if string(n) == name {
			return at.In(object)
		}
	}
	return nil
}

func (n *node) get(name string) []byte {
	for i := range n.keywords {
		if n.keywords[i].name == name {
			return n.keywords[i].value
		}
	}
	return nil
}

// add takes a keyword in and reports whether it was not there.
func (n *node) add(name string, value []byte) bool {
	if value == nil || n.get(name) != nil {
		return false
	}
	n.keywords = append(n.keywords, keyword{name, value})
	return true
}

func (n *node) remove(name string) {
	n.keywords = slices.DeleteFunc(n.keywords, func(k keyword) bool { return k.name == name })
}

func (n *node) takeProperties(object []byte) {
	if n.properties == nil {
		n.properties = make([]keyword, 0, 8)
	}
	own := len(n.properties)
	m := wire.Object(object)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		if own == 0 || !n.hasProperty(name) {
			n.properties = append(n.properties, keyword{string(name), at.In(object)})
		}
	}
}

func (n *node) takeRequired(list []byte) {
	if n.required == nil {
		n.required = make([][]byte, 0, 4)
	}
	a := wire.Array(list)
	for name, ok := a.Next(); ok; name, ok = a.Next() {
		if !slices.ContainsFunc(n.required, func(r []byte) bool { return bytes.Equal(r, name) }) {
			n.required = append(n.required, name)
		}
	}
}

func (n *node) hasProperty(name []byte) bool {
	for i := range n.properties {
		if n.properties[i].name == string(name) {
			return true
		}
	}
	return false
}

// noProperties reports whether a schema describes an object without any: a function that takes no arguments.
func noProperties(text []byte) bool {
	m := wire.Object(text)
	for name, at, ok := m.Next(); ok; name, at, ok = m.Next() {
		switch string(name) {
		case "properties":
			if at.To-at.From > 2 && hasAny(at.In(text)) {
				return false
			}
		case "$ref", "allOf", "anyOf", "oneOf":
			return false
		}
	}
	return true
}

func hasAny(object []byte) bool {
	m := wire.Object(object)
	_, _, ok := m.Next()
	return ok
}
