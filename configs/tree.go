package configs

import (
	"bytes"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes-hub/router"
)

// tree builds a YAML mapping whose keys keep their order.
type tree struct{ node *yaml.Node }

func newTree() *tree { return &tree{&yaml.Node{Kind: yaml.MappingNode}} }

// set adds a key. A Secret is written redacted, a Duration in seconds, a list of plain values on one line.
func (t *tree) set(key string, value any) {
	t.node.Content = append(t.node.Content, encoded(key), encoded(value))
}

func encoded(value any) *yaml.Node {
	n := &yaml.Node{}
	switch v := value.(type) {
	case *tree:
		if len(v.node.Content) == 0 {
			v.node.Style = yaml.FlowStyle
		}
		return v.node
	case []any:
		n.Kind = yaml.SequenceNode
		for _, item := range v {
			n.Content = append(n.Content, encoded(item))
		}
		if len(v) == 0 || n.Content[0].Kind == yaml.ScalarNode {
			n.Style = yaml.FlowStyle
		}
		return n
	case []string:
		return encoded(list(v, func(s string) any { return s }))
	case router.Secret:
		n.SetString(v.String())
	case string:
		n.SetString(v)
	case time.Duration:
		return encoded(v.Seconds())
	default:
		// bool, int, int64, float64: kinds that cannot fail to encode.
		_ = n.Encode(v)
	}
	if n.Tag == "!!str" && strings.ContainsAny(n.Value, "\r\n") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// list turns each of items into a value for set.
func list[T, V any](items []T, value func(T) V) []any {
	values := make([]any, 0, len(items))
	for _, item := range items {
		values = append(values, value(item))
	}
	return values
}

// named turns items into a mapping by name.
func named[T, V any](items []T, name func(T) string, value func(T) V) *tree {
	t := newTree()
	for _, item := range items {
		t.set(name(item), value(item))
	}
	return t
}

func same(s string) string { return s }

func (t *tree) encode() []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	// Nothing in the tree can fail: the kinds are those of encoded, the writer is memory.
	_ = e.Encode(t.node)
	_ = e.Close()
	return b.Bytes()
}
