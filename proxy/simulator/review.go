package simulator

import (
	"encoding/json"
	"slices"
	"strings"
)

// kinds is a set of JSON types.
type kinds uint8

const (
	isString kinds = 1 << iota
	isInteger
	isNumber
	isBool
	isArray
	isObject
	isNull
	isAnything kinds = 0xff
)

// kindWords are the words of shapes.
var kindWords = map[string]kinds{"string": isString, "integer": isInteger, "number": isNumber | isInteger, "bool": isBool, "array": isArray, "object": isObject, "null": isNull, "any": isAnything}

// kindOf is the type of a value as readTree makes it.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case string:
		return isString
	case bool:
		return isBool
	case []any:
		return isArray
	case *object:
		return isObject
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return isNumber
		}
		return isInteger
	}
	return isNull
}

// shape is what members an object may have.
type shape struct {
	members []shapeMember
	open    bool // others too
}

type shapeMember struct {
	name     string
	kinds    kinds
	required bool
}

// shapeOf reads a shape: "model!string system:string,array …" has a member that must be there and one that may; "…" at the
// end lets others in.
func shapeOf(text string) shape {
	var s shape
	for word := range strings.FieldsSeq(text) {
		if word == "…" {
			s.open = true
			continue
		}
		i := strings.IndexAny(word, ":!")
		m := shapeMember{name: word[:i], required: word[i] == '!'}
		for kind := range strings.SplitSeq(word[i+1:], ",") {
			known, ok := kindWords[kind]
			if !ok {
				panic("simulator: no kind " + kind)
			}
			m.kinds |= known
		}
		s.members = append(s.members, m)
	}
	return s
}

func (s shape) find(name string) (shapeMember, bool) {
	i := slices.IndexFunc(s.members, func(m shapeMember) bool { return m.name == name })
	if i < 0 {
		return shapeMember{}, false
	}
	return s.members[i], true
}

// complaints is how a provider says that a body does not have the shape it should have.
type complaints struct {
	missing func(n node) *problem
	extra   func(at node, name string) *problem
	kind    func(n node, want kinds) *problem
}

// review goes through a body and keeps what is wrong with it, in the order it was found.
type review struct {
	complaints
	lenient bool // unknown members pass
	wrong   []*problem
}

// refuse notes what is wrong.
func (r *review) refuse(p *problem) { r.wrong = append(r.wrong, p) }

// first is the first thing that is wrong, nil when there is none.
func (r *review) first() *problem {
	if len(r.wrong) == 0 {
		return nil
	}
	return r.wrong[0]
}

// shaped reviews whether the value is an object of the shape, and reports it.
func (r *review) shaped(n node, s shape) bool {
	before := len(r.wrong)
	if kindOf(n.value) != isObject {
		r.refuse(r.kind(n, isObject))
		return false
	}
	for _, m := range s.members {
		inner := n.member(m.name)
		switch {
		case !inner.found && m.required:
			r.refuse(r.missing(inner))
		case inner.found && kindOf(inner.value)&m.kinds == 0:
			r.refuse(r.kind(inner, m.kinds))
		}
	}
	for _, name := range n.names() {
		if _, known := s.find(n.canonical(name)); !known && !s.open && !r.lenient {
			r.refuse(r.extra(n, name))
		}
	}
	return len(r.wrong) == before
}

// canonical is the member's name as shapes have it.
func (n node) canonical(name string) string {
	if n.style.canonical == nil {
		return name
	}
	return n.style.canonical(name)
}
