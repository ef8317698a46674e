package messages

import (
	"slices"
	"strings"

	"hermes-hub/proxy/wire"
)

// folding puts the branches of anyOf, oneOf and allOf into one object: the properties of all of them, required where every
// branch requires it, or, of allOf, any does.
type folding struct {
	defs       []byte // the whole schema, for references into it
	properties []keyword
	required   []string // as literals
	seen       map[string]bool
	needed     map[string]bool
}

// newFolding begins with what the object says itself.
func newFolding(object []keyword, defs []byte) *folding {
	f := &folding{defs: defs, seen: map[string]bool{}, needed: map[string]bool{}}
	f.own(value(object, "properties"))
	for _, n := range namesIn(value(object, "required")) {
		f.need(n)
	}
	return f
}

func (f *folding) own(properties []byte) {
	for _, k := range keywordsOf(properties) {
		if !f.seen[k.name] {
			f.seen[k.name] = true
			f.properties = append(f.properties, k)
		}
	}
}

func (f *folding) need(name string) {
	if !f.needed[name] {
		f.needed[name] = true
		f.required = append(f.required, name)
	}
}

// namesIn lists the literals of an array.
func namesIn(list []byte) []string {
	var names []string
	a := wire.Array(list)
	for n, ok := a.Next(); ok; n, ok = a.Next() {
		names = append(names, string(n))
	}
	return names
}

// fold takes the branches of one combination in.
func (f *folding) fold(branches []byte, all bool) {
	times := map[string]int{} // how many branches require it
	var order []string
	total := 0
	a := wire.Array(branches)
	for b, ok := a.Next(); ok; b, ok = a.Next() {
		if b[0] != '{' {
			continue
		}
		total++
		keywords := keywordsOf(f.follow(b))
		f.own(value(keywords, "properties"))
		here := namesIn(value(keywords, "required"))
		slices.Sort(here)
		for _, n := range slices.Compact(here) {
			if times[n] == 0 {
				order = append(order, n)
			}
			times[n]++
		}
	}
	for _, n := range order {
		if all || times[n] == total {
			f.need(n)
		}
	}
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

// into sets what was folded as the object's properties and required names.
func (f *folding) into(object []keyword) []keyword {
	if len(f.properties) > 0 {
		object = with(object, "properties", written(f.properties))
	}
	if len(f.required) > 0 {
		object = with(object, "required", []byte("["+strings.Join(f.required, ",")+"]"))
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
