package messages

import (
	"bytes"
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
)

// folding puts the branches of anyOf, oneOf and allOf into one object: the properties of all of them, required where every
// branch requires it, or, of allOf, any does.
type folding struct {
	defs       []byte // the whole schema, for references into it
	properties []byte // an object of them, or nil
	folded     []keyword
	required   [][]byte // quoted names
}

// fold takes the branches of one combination in.
func (f *folding) fold(branches []byte, all bool) {
	var shared [][]byte
	first := true
	a := wire.Array(branches)
	for b, ok := a.Next(); ok; b, ok = a.Next() {
		if b[0] != '{' {
			continue
		}
		keywords := keywordsOf(f.follow(b))
		if p := value(keywords, "properties"); p != nil {
			for _, k := range keywordsOf(p) {
				if value(f.folded, k.name) == nil {
					f.folded = append(f.folded, k)
				}
			}
		}
		var here [][]byte
		names := wire.Array(value(keywords, "required"))
		for n, ok := names.Next(); ok; n, ok = names.Next() {
			here = append(here, n)
		}
		switch {
		case all:
			f.required = append(f.required, here...)
		case first:
			shared = here
		default:
			shared = slices.DeleteFunc(shared, func(s []byte) bool { return !holds(here, s) })
		}
		first = false
	}
	f.required = append(f.required, shared...)
}

// follow is what a branch says that is a reference into the schema: "#/$defs/name" or "#/definitions/name".
func (f *folding) follow(branch []byte) []byte {
	ref, _ := wire.Text(value(keywordsOf(branch), "$ref"))
	path := strings.Split(string(ref), "/")
	if len(path) != 3 || path[0] != "#" {
		return branch
	}
	if found := value(keywordsOf(value(keywordsOf(f.defs), path[1])), path[2]); len(found) > 0 && found[0] == '{' {
		return found
	}
	return branch
}

func holds(list [][]byte, s []byte) bool {
	return slices.ContainsFunc(list, func(l []byte) bool { return bytes.Equal(l, s) })
}

// into puts what was folded into the object's own properties and required names.
func (f *folding) into(object []keyword) []keyword {
	if len(f.folded) > 0 {
		var properties []keyword
		if f.properties != nil {
			properties = keywordsOf(f.properties)
		}
		for _, k := range f.folded {
			if value(properties, k.name) == nil {
				properties = append(properties, k)
			}
		}
		object = with(object, "properties", written(properties))
	}
	if len(f.required) > 0 {
		var required [][]byte
		names := wire.Array(value(object, "required"))
		for n, ok := names.Next(); ok; n, ok = names.Next() {
			required = append(required, n)
		}
		for _, n := range f.required {
			if !holds(required, n) {
				required = append(required, n)
			}
		}
		object = with(object, "required", slices.Concat([]byte("["), bytes.Join(required, []byte(",")), []byte("]")))
	}
	return object
}

// with sets a member.
func with(object []keyword, name string, v []byte) []keyword {
	for i := range object {
		if object[i].name == name {
			object[i].value = v
			return object
		}
	}
	return append(object, keyword{name, v})
}
