package configs

import (
	"cmp"
	"fmt"
	"slices"
)

// NotYet is a key of the file that is read and checked, and that nothing acts on yet.
type NotYet struct {
	Key    string // as it stands in the file: profiles.codex-orch.lease_mode
	Line   int
	Column int
	Why    string // what it waits for
}

// String is the line that check prints about it.
func (n NotYet) String() string {
	return fmt.Sprintf("%s is read but not yet effective: %s", n.Key, n.Why)
}

// notYet is the table of such keys; * stands for a name of the user's choice. A key leaves it when it takes effect.
var notYet = map[string]string{
	"server.instances":      "state shared by several instances",
	"profiles.*.main":       "the accounts of the admin plane",
	"profiles.*.lease_mode": "leases shared by several instances",
}

// noteNotYet remembers n if it is in the file and in the table.
func (r *reader) noteNotYet(n node) {
	if why, ok := notYet[n.row]; ok && !n.absent() {
		r.notYet = append(r.notYet, NotYet{Key: n.path, Line: n.at.line, Column: n.at.column, Why: why})
	}
}

func sortNotYet(keys []NotYet) {
	slices.SortStableFunc(keys, func(a, b NotYet) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Findings is all that check prints about a file that loads: the warnings, the keys that nothing acts on yet and the
// planes left open, in file order. Only the last are errors.
func (c *Config) Findings() Problems {
	found := append(Problems(nil), c.Warnings...)
	for _, n := range c.NotYet {
		found = append(found, Problem{File: c.Path, Line: n.Line, Column: n.Column, Severity: Warning, Message: n.String()})
	}
	found = append(found, c.OpenListen()...)
	found.sort()
	return found
}
