package gemini

import (
	"hermes-hub/proxy/wire"
)

// writePlain appends a subschema as JSON Schema.
func (s *schema) writePlain(dst []byte, n *node) []byte {
	s.constant(n)
	s.typed(n)
	dst = append(dst, '{')
	for i := range n.keywords {
		k := &n.keywords[i]
		switch k.name {
		case "$defs", "definitions", "$schema", "$id", "$anchor":
			continue // said nothing, unless something referred to it
		case "$dynamicRef", "$recursiveRef":
			s.changed = true
			s.lose(k.name)
			continue
		}
		dst = s.keyword(dst, k)
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

// keyword appends one keyword, with the schemas in it rewritten.
func (s *schema) keyword(dst []byte, k *keyword) []byte {
	name, value := k.name, k.value
	if name == "items" && value[0] == '[' {
		s.changed = true
		name = "prefixItems"
	}
	dst = append(append(comma(dst), wire.Quote(name)...), ':')
	switch name {
	case "items", "additionalProperties":
		return s.write(dst, value)
	case "anyOf", "oneOf", "prefixItems":
		return s.list(dst, value)
	}
	return append(dst, value...)
}

// list appends an array of schemas.
func (s *schema) list(dst, value []byte) []byte {
	dst = append(dst, '[')
	a := wire.Array(value)
	for element, ok := a.Next(); ok; element, ok = a.Next() {
		dst = s.write(comma(dst), element)
	}
	return append(dst, ']')
}

// writeRequired appends the names of the properties that must be there. One that is no property is refused by the API.
func (s *schema) writeRequired(dst []byte, n *node) []byte {
	some := false
	for _, r := range n.required {
		if name, ok := wire.Text(r); !ok || !n.hasProperty(name) {
			s.changed = true
			s.lose("required")
			continue
		}
		if !some {
			dst, some = append(comma(dst), `"required":[`...), true
		}
		dst = append(comma(dst), r...)
	}
	if some {
		dst = append(dst, ']')
	}
	return dst
}

// constant makes a const an enum of one.
func (s *schema) constant(n *node) {
	if value := n.get("const"); value != nil {
		s.changed = true
		n.add("enum", append(append([]byte{'['}, value...), ']'))
		n.remove("const")
	}
}

// typed gives an object, and an enum whose values have one type, that type. What is asked for is an object if nothing says
// otherwise.
func (s *schema) typed(n *node) {
	if n.get("type") != nil {
		return
	}
	kind := ""
	switch enum := n.get("enum"); {
	case len(n.properties) > 0, s.depth == 1 && enum == nil && n.get("anyOf") == nil && n.get("oneOf") == nil:
		kind = `"object"`
	case enum != nil:
		kind = kindOf(enum)
	}
	if kind != "" {
		s.changed = true
		n.add("type", []byte(kind))
	}
}

// kindOf is the type that all values of a list have, as a JSON string; "" where they have several.
func kindOf(list []byte) string {
	kind := ""
	a := wire.Array(list)
	for v, ok := a.Next(); ok; v, ok = a.Next() {
		k := typeOf(v)
		if kind == `"number"` && k == `"integer"` || kind == `"integer"` && k == `"number"` {
			k, kind = `"number"`, `"number"`
		}
		if k == "" || kind != "" && k != kind {
			return ""
		}
		kind = k
	}
	return kind
}

// typeOf is the type of a plain value, as a JSON string.
func typeOf(v []byte) string {
	switch wire.Kind(v) {
	case "a string":
		return `"string"`
	case "a boolean":
		return `"boolean"`
	case "a number":
		for _, c := range v {
			if c == '.' || c == 'e' || c == 'E' {
				return `"number"`
			}
		}
		return `"integer"`
	}
	return ""
}

// comma appends a comma unless an object or array was opened just now.
func comma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' && dst[n-1] != ':' {
		return append(dst, ',')
	}
	return dst
}
