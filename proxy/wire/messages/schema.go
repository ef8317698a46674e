package messages

import (
	"bytes"
	"slices"

	"hermes-hub/proxy/wire"
	"hermes-hub/proxy/wire/neutral"
)

// emptySchema is the schema of a tool without arguments.
const emptySchema = `{"type":"object","properties":{}}`

// deepest is how deep a schema is mended; what lies deeper goes as it is.
const deepest = 64

// toolSchema writes the schema of a tool's arguments. The API takes JSON Schema 2020-12, with an object at its top and no
// combination of schemas there. What older drafts and careless serialisers write otherwise is mended: tuples in items, a
// boolean exclusiveMinimum, a required that is no list, keywords that are null.
func (e *encoder) toolSchema(t *neutral.Tool) {
	if t.Schema == nil {
		e.add(emptySchema)
		return
	}
	m := mender{}
	out := m.schema(t.Schema, 0)
	out = m.top(out, t.Schema)
	if m.wrong != "" {
		e.refuse(t.Path+".function.parameters", m.wrong)
	}
	for _, k := range m.dropped {
		e.drop("tools[].function.parameters." + k)
	}
	e.out = append(e.out, out...)
}

// answerSchema writes the schema of the answer. Anthropic compiles it to a grammar, which has no numbers' bounds, no lengths,
// and closed objects only: https://platform.claude.com/docs/en/build-with-claude/structured-outputs.
func (e *encoder) answerSchema(f neutral.Format) {
	const field = "response_format.json_schema.schema"
	if !e.m.schemas {
		e.refuse("response_format", "cannot be held by this model: it has no structured outputs")
	}
	m := mender{closed: true}
	out := m.schema(f.Schema, 0)
	if m.wrong != "" {
		e.refuse(field, m.wrong)
	}
	for _, k := range m.dropped {
		e.drop(field + "." + k)
	}
	if !f.Description.Empty() {
		e.drop("response_format.json_schema.description")
	}
	e.out = append(e.out, out...)
}

// mender makes a schema one that the API takes. An object that needs nothing stays byte for byte what it was.
type mender struct {
	closed  bool     // for answers
	dropped []string // keywords that were left out and bind the model less without them
	wrong   string   // why it cannot be mended
}

// keyword is one member of a schema.
type keyword struct {
	name  string
	value []byte
}

func (m *mender) drop(name string) {
	if !slices.Contains(m.dropped, name) {
		m.dropped = append(m.dropped, name)
	}
}

// schema mends one schema and those inside it.
func (m *mender) schema(text []byte, depth int) []byte {
	if len(text) == 0 || text[0] != '{' || depth == deepest {
		return text // true and false are schemas, too
	}
	keywords, changed := keywordsOf(text), false
	kept := make([]keyword, 0, len(keywords)+1)
	for _, k := range keywords {
		name, value, keep := m.keyword(k, depth)
		if !keep {
			changed = true
			continue
		}
		changed = changed || name != k.name || !unchanged(value, k.value)
		kept = append(kept, keyword{name, value})
	}
	if m.closed {
		var shut bool
		kept, shut = m.shut(kept)
		changed = changed || shut
	}
	if !changed {
		return text
	}
	return written(kept)
}

// unchanged reports whether two slices are one, so that what was not mended is not compared.
func unchanged(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// keyword mends one keyword. keep is false where it goes.
func (m *mender) keyword(k keyword, depth int) (name string, value []byte, keep bool) {
	name, value = k.name, k.value
	if wire.Null(value) && name != "default" && name != "const" {
		return name, value, false
	}
	if m.closed {
		if name, keep = m.answerKeyword(k); !keep {
			return name, value, false
		}
	}
	switch name {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return name, m.each(value, depth), true
	case "items":
		if value[0] == '[' {
			return "prefixItems", m.list(value, depth), true
		}
		return name, m.schema(value, depth+1), true
	case "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		return name, m.schema(value, depth+1), true
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return name, m.list(value, depth), true
	case "exclusiveMinimum", "exclusiveMaximum":
		return name, value, wire.Kind(value) == "a number"
	case "required":
		return name, value, value[0] == '['
	}
	return name, value, true
}

// answerKeywords are what a schema of an answer may say.
var answerKeywords = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "allOf", "$ref", "$defs", "definitions",
	"default", "description", "title", "examples", "format", "pattern", "minItems", "$schema", "$id", "$comment",
}

// answerFormats are the formats of strings that it may name.
var answerFormats = []string{
	`"date-time"`, `"time"`, `"date"`, `"duration"`, `"email"`, `"hostname"`, `"uri"`, `"ipv4"`, `"ipv6"`, `"uuid"`,
}

// answerKeyword leaves out what a schema of an answer may not say. Of several possibilities, one is enough.
func (m *mender) answerKeyword(k keyword) (name string, keep bool) {
	switch {
	case k.name == "oneOf":
		return "anyOf", true
	case !slices.Contains(answerKeywords, k.name),
		k.name == "items" && k.value[0] == '[', // a tuple
		k.name == "format" && !slices.Contains(answerFormats, string(k.value)),
		k.name == "minItems" && string(k.value) != "0" && string(k.value) != "1":
		m.drop(k.name)
		return k.name, false
	}
	return k.name, true
}

// shut closes an object. One whose members are not all named cannot be closed without saying something else.
func (m *mender) shut(keywords []keyword) (closed []keyword, changed bool) {
	var properties, additional *keyword
	object := false
	for i := range keywords {
		switch k := &keywords[i]; k.name {
		case "type":
			object = string(k.value) == `"object"`
		case "properties":
			properties = k
		case "additionalProperties":
			additional = k
		}
	}
	switch {
	case !object && properties == nil, additional != nil && string(additional.value) == "false":
		return keywords, false
	case properties == nil, additional != nil && string(additional.value) != "true":
		m.wrong = "must name every member of every object (additionalProperties: false) for this account"
		return keywords, false
	case additional != nil:
		additional.value = []byte("false")
		return keywords, true
	}
	return append(keywords, keyword{"additionalProperties", []byte("false")}), true
}

// each mends the schemas that stand under names of the client's.
func (m *mender) each(text []byte, depth int) []byte {
	if text[0] != '{' {
		return text
	}
	members, changed := keywordsOf(text), false
	for i := range members {
		mended := m.schema(members[i].value, depth+1)
		changed = changed || !unchanged(mended, members[i].value)
		members[i].value = mended
	}
	if !changed {
		return text
	}
	return written(members)
}

// list mends the schemas of an array.
func (m *mender) list(text []byte, depth int) []byte {
	if text[0] != '[' {
		return text
	}
	var mended [][]byte
	changed := false
	a := wire.Array(text)
	for s, ok := a.Next(); ok; s, ok = a.Next() {
		out := m.schema(s, depth+1)
		changed = changed || !unchanged(out, s)
		mended = append(mended, out)
	}
	if !changed {
		return text
	}
	return slices.Concat([]byte("["), bytes.Join(mended, []byte(",")), []byte("]"))
}

// top makes an object of the top of a tool's schema: an object's type, and its branches folded into it.
func (m *mender) top(text, original []byte) []byte {
	if len(text) == 0 || text[0] != '{' {
		m.wrong = "must be an object's schema"
		return text
	}
	keywords, changed := keywordsOf(text), false
	var f *folding
	kept := make([]keyword, 0, len(keywords)+3)
	for _, k := range keywords {
		switch k.name {
		case "anyOf", "oneOf", "allOf":
			m.drop(k.name)
			if f == nil {
				f = newFolding(keywords, original)
			}
			f.fold(k.value, k.name == "allOf")
			continue
		case "type":
			if string(k.value) != `"object"` {
				if !isListOf(k.value, "object") {
					m.wrong = "must be an object's schema"
				}
				changed = true
				continue
			}
		}
		kept = append(kept, k)
	}
	if value(kept, "type") == nil {
		kept, changed = slices.Insert(kept, 0, keyword{"type", []byte(`"object"`)}), true
	}
	switch {
	case f != nil:
		return written(f.into(kept))
	case changed:
		return written(kept)
	}
	return text
}

// isListOf reports whether value is a list that holds the word.
func isListOf(v []byte, word string) bool {
	a := wire.Array(v)
	for w, ok := a.Next(); ok; w, ok = a.Next() {
		if string(w) == `"`+word+`"` {
			return true
		}
	}
	return false
}

// keywordsOf lists the members of an object. Of two with one name the later counts, as for most readers.
func keywordsOf(text []byte) []keyword {
	var list []keyword
	at := map[string]int{}
	o := wire.Object(text)
	for name, v, ok := o.Next(); ok; name, v, ok = o.Next() {
		k := keyword{string(name), v.In(text)}
		if i, twice := at[k.name]; twice {
			list[i] = k
			continue
		}
		at[k.name] = len(list)
		list = append(list, k)
	}
	return list
}

func value(list []keyword, name string) []byte {
	for _, k := range list {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

// written is an object of the members.
func written(list []keyword) []byte {
	out := []byte{'{'}
	for i, k := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, wire.Quote(k.name)...), ':'), k.value...)
	}
	return append(out, '}')
}
