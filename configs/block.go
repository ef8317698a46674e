package configs

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// block is a cursor on a mapping. The keys that are asked for are the keys it may have: done reports all others, so a
// block's reader is at the same time its schema.
type block struct {
	node
	order  []string
	keys   map[string]*yaml.Node
	values map[string]*yaml.Node
	asked  []string
	legacy *block // where keys that are not here are looked up too; what stands here wins
	hushed bool   // an unknown key is not quoted: it may be a secret that lacks its key
}

// block reads the value as a mapping; absent and wrong ones are empty.
func (n node) block() *block {
	b := &block{node: n, keys: map[string]*yaml.Node{}, values: map[string]*yaml.Node{}}
	if n.absent() {
		return b
	}
	if n.value.Kind != yaml.MappingNode {
		n.fail(": found %s, want a mapping, as in key: value", kindOf(n.value))
		return b
	}
	for i := 0; i+1 < len(n.value.Content); i += 2 {
		key := n.value.Content[i]
		b.order = append(b.order, key.Value)
		b.keys[key.Value], b.values[key.Value] = key, n.value.Content[i+1]
	}
	return b
}

// get is the value of one of the block's own keys; absent is a value too.
func (b *block) get(key string) node {
	b.asked = append(b.asked, key)
	n := b.entry(key, key)
	b.r.rows[n.row] = true
	if b.legacy != nil {
		n = b.legacyEntry(key, n)
	}
	b.r.noteNotYet(n)
	return n
}

// legacyEntry is n, or what the old form has for the key.
func (b *block) legacyEntry(key string, n node) node {
	b.legacy.asked = append(b.legacy.asked, key)
	old := b.legacy.entry(key, key)
	switch {
	case old.value == nil:
		return n
	case n.value != nil:
		old.warn(" is ignored: %s stands in its block and wins", n.path)
		return n
	}
	old.warn(" at the top level is the old form; move it under %s:", b.path)
	old.path, old.row = n.path, n.row
	return old
}

// each walks a block whose keys are names of the user's choice, in file order.
func (b *block) each() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		for _, key := range b.order {
			n := b.entry(key, "*")
			b.r.places[n.path] = n.at
			if !yield(key, n) {
				return
			}
		}
	}
}

func (b *block) entry(key, row string) node {
	n := node{r: b.r, value: b.values[key], at: b.at, path: dotted(b.path, shown(key)), row: dotted(b.row, row)}
	switch {
	case n.value == nil:
	case n.value.Kind == yaml.ScalarNode:
		n.at = place{n.value.Line, n.value.Column}
	default:
		n.at = place{b.keys[key].Line, b.keys[key].Column}
	}
	return n
}

// done reports the keys nobody asked for.
func (b *block) done() {
	known := map[string]bool{}
	for _, key := range b.asked {
		known[key] = true
	}
	for _, key := range b.order {
		if known[key] {
			continue
		}
		at, near := place{b.keys[key].Line, b.keys[key].Column}, didYouMean(key, b.asked)
		if b.hushed && near == "" {
			b.r.fail(at, "%s holds a key that is not known here", b.path)
			continue
		}
		b.r.fail(at, "%s is not a known key%s", dotted(b.path, shown(key)), near)
	}
}

func dotted(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
