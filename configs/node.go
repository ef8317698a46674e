package configs

import (
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// place is a position in the file, both from 1.
type place struct{ line, column int }

// reader gathers what one file says and what is wrong with it. Reading never stops at a problem: a value that is wrong
// is reported, and its default stands in for it until the end, when any error refuses the whole file.
type reader struct {
	file   string // as it is named in messages
	dir    string // what relative paths in the file are relative to
	getenv func(string) string

	errors   Problems
	warnings Problems
	notYet   []NotYet
	places   map[string]place // of the blocks with a name of their own, by path
	rows     map[string]bool  // every key that was asked for, as node.row writes it

	profiles map[string]bool   // declared profile ids
	roles    map[string]string // declared role ids and aliases, to ids
}

func (r *reader) fail(at place, format string, args ...any) { r.report(Error, at, format, args...) }
func (r *reader) warn(at place, format string, args ...any) { r.report(Warning, at, format, args...) }

func (r *reader) report(s Severity, at place, format string, args ...any) {
	p := Problem{File: r.file, Line: at.line, Column: at.column, Severity: s, Message: fmt.Sprintf(format, args...)}
	if s == Error {
		r.errors = append(r.errors, p)
	} else {
		r.warnings = append(r.warnings, p)
	}
}

// node is a cursor on one value of the file. Its methods read the value as what it should be, report what it is instead,
// and return the default for a value that is absent, empty (null) or wrong.
type node struct {
	r     *reader
	value *yaml.Node // nil = absent; never an alias
	at    place      // of a scalar the value's place, else its key's; of an absent value, its parent's
	path  string     // as people write it: profiles.codex-orch.probe.enabled
	row   string     // the same with * for free names: profiles.*.probe.enabled
}

func (n node) absent() bool {
	return n.value == nil || n.value.Kind == yaml.ScalarNode && n.value.Tag == "!!null"
}

// blank reports whether there is nothing to read: absent, null or "".
func (n node) blank() bool {
	return n.absent() || n.value.Kind == yaml.ScalarNode && n.value.Value == ""
}

// fail reports an error about the value.
func (n node) fail(format string, args ...any) { n.report(Error, format, args...) }

// warn reports a warning about the value.
func (n node) warn(format string, args ...any) { n.report(Warning, format, args...) }

func (n node) report(s Severity, format string, args ...any) {
	n.r.report(s, n.at, "%s%s", n.path, fmt.Sprintf(format, args...))
}

// mappingKind is the kind of a block.
const mappingKind = yaml.MappingNode

// scalar is the text of the value and whether there is one. A mapping or a list is reported without what is in it.
func (n node) scalar(want string) (string, bool) {
	if n.absent() {
		return "", false
	}
	if n.value.Kind != yaml.ScalarNode {
		n.fail(": found %s, want %s", kindOf(n.value), want)
		return "", false
	}
	return n.value.Value, true
}

// items is the values of a list.
func (n node) items() []node {
	if n.absent() {
		return nil
	}
	if n.value.Kind != yaml.SequenceNode {
		n.fail(": found %s, want a list, as in [a, b]", kindOf(n.value))
		return nil
	}
	items := make([]node, 0, len(n.value.Content))
	for i, v := range n.value.Content {
		items = append(items, node{
			r: n.r, value: v, at: place{v.Line, v.Column},
			path: fmt.Sprintf("%s[%d]", n.path, i), row: n.row + "[]",
		})
	}
	return items
}

// shown is a word of the file as a message quotes it: on one line, and not endless.
func shown(word string) string {
	const longest = 80 // more than any id
	if r := []rune(word); len(r) > longest {
		word = string(r[:longest]) + "…"
	}
	plain := strings.IndexFunc(word, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) || c == '"' }) < 0
	if plain && word != "" {
		return word
	}
	return fmt.Sprintf("%q", word)
}
