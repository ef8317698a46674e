package configs

import (
	"go.yaml.in/yaml/v3"
)

// maxNodes bounds what aliases may blow a file up to. A file of 200 accounts has some 5,000 nodes.
const maxNodes = 200_000

// flattener replaces aliases and merge keys (<<) by what they stand for, so that nobody above has to know of them. Keys
// that stand twice, keys that are not text and foreign tags are reported here.
type flattener struct {
	r    *reader
	done map[*yaml.Node]*yaml.Node // nil while the node is being worked on: meeting it then is a loop
	size map[*yaml.Node]int        // of the finished copy, shared parts counted each time
}

// flatten returns a copy of root without aliases and merge keys; nil when they loop or explode, which it reports.
func (r *reader) flatten(root *yaml.Node) *yaml.Node {
	f := &flattener{r: r, done: map[*yaml.Node]*yaml.Node{}, size: map[*yaml.Node]int{}}
	flat := f.node(root)
	if flat != nil && f.size[root] > maxNodes {
		r.fail(place{root.Line, root.Column}, "the aliases of this file stand for more than %d values", maxNodes)
		return nil
	}
	return flat
}

func (f *flattener) node(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		copied := f.node(n.Alias)
		f.size[n] = f.size[n.Alias]
		return copied
	}
	if copied, seen := f.done[n]; seen {
		if copied == nil {
			f.r.fail(place{n.Line, n.Column}, "the anchor of this value is used inside the value itself")
		}
		return copied
	}
	f.done[n] = nil
	f.tag(n)
	copied := &yaml.Node{Kind: n.Kind, Tag: n.ShortTag(), Value: n.Value, Style: n.Style, Line: n.Line, Column: n.Column}
	f.size[n] = 1
	switch n.Kind {
	case yaml.MappingNode:
		f.mapping(n, copied)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if flat := f.node(item); flat != nil {
				copied.Content = append(copied.Content, flat)
				f.grow(n, f.size[item])
			}
		}
	}
	f.done[n] = copied
	return copied
}

// mapping copies the entries of n, its own first: what it says itself wins over what it merges.
func (f *flattener) mapping(n, copied *yaml.Node) {
	own := map[string]*yaml.Node{}
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if key = f.node(key); key == nil || !f.textKey(key) {
			continue
		}
		if first := own[key.Value]; first != nil {
			f.r.fail(place{key.Line, key.Column}, "the key %s stands twice; the first is on line %d", shown(key.Value), first.Line)
			continue
		}
		own[key.Value] = key
		if flat := f.node(value); flat != nil {
			copied.Content = append(copied.Content, key, flat)
			f.grow(n, 1+f.size[value])
		}
	}
	for _, m := range merges {
		f.merge(m, n, copied, own)
	}
}

// merge adds the entries of the mapping, or list of mappings, behind a << key; the earlier one wins.
func (f *flattener) merge(source, n, copied *yaml.Node, own map[string]*yaml.Node) {
	flat := f.node(source)
	if flat == nil {
		return
	}
	parts := []*yaml.Node{flat}
	if flat.Kind == yaml.SequenceNode {
		parts = flat.Content
	}
	for _, part := range parts {
		if part.Kind != yaml.MappingNode {
			f.r.fail(place{source.Line, source.Column}, "<< merges %s, want a mapping or a list of mappings", kindOf(part))
			return
		}
		for i := 0; i+1 < len(part.Content); i += 2 {
			key := part.Content[i]
			if own[key.Value] == nil {
				own[key.Value] = key
				copied.Content = append(copied.Content, key, part.Content[i+1])
			}
		}
	}
	f.grow(n, f.size[source])
}

// grow adds to the size of n and saturates, so that no bomb overflows it.
func (f *flattener) grow(n *yaml.Node, by int) { f.size[n] = min(f.size[n]+by, 2*maxNodes) }

func (f *flattener) textKey(key *yaml.Node) bool {
	if key.Kind == yaml.ScalarNode && key.Tag != "!!null" && key.Value != "" {
		return true
	}
	f.r.fail(place{key.Line, key.Column}, "a key is %s, want text", kindOf(key))
	return false
}

// tag refuses tags of other programs. The tag is not quoted: a secret that begins with ! looks like one.
func (f *flattener) tag(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!map", "!!seq", "!!merge":
	default:
		f.r.fail(place{n.Line, n.Column}, "a value that begins with ! is a YAML tag and none is known here; put it in quotes if it is text")
	}
}

// kindOf names what a value is, for messages.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	}
	return "text"
}
