package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity tells what stops the program from what does not.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the file is not used
	Warning Severity = "warning" // the file is used; somebody should look
)

// Problem is one thing about the file, with the place it stands at. It never holds a secret.
type Problem struct {
	File     string // as it was named to Load or Parse; of a flag, the flag
	Line     int    // from 1; 0 = the file as a whole
	Column   int    // from 1, in characters
	Severity Severity
	Message  string // one line: what, and how to mend it
}

// String prints the problem as compilers do, so that editors can jump to it.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s: %s", p.File, p.Severity, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.File, p.Line, p.Column, p.Severity, p.Message)
}

// Problems is everything found about one file, in file order. As an error it holds nothing but errors.
type Problems []Problem

// maxProblems bounds what one broken file can print.
const maxProblems = 100

// Error prints one problem a line.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// sort brings the problems into file order.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// capped is the problems in file order, at most maxProblems of them; what was left out is counted in the last one.
func (ps Problems) capped() Problems {
	ps.sort()
	if len(ps) <= maxProblems {
		return ps
	}
	last := ps[maxProblems-1]
	last.Message = fmt.Sprintf("… and %d more; mend these first", len(ps)-maxProblems+1)
	return append(ps[:maxProblems-1:maxProblems-1], last)
}
