package main

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// The budgets, in lines.
const (
	fileBudget     = 400
	testFileBudget = 600
	funcBudget     = 70
	testFuncBudget = 150 // a list of cases is read a line at a time
	medianBudget   = 120
)

// oversized are the files and functions ("proxy/serve.go", "proxy/serve.go walk") that are over budget, each with the
// reason why no smaller one would read better.
var oversized = map[string]string{}

func TestArchSizes(t *testing.T) {
	law := rule{
		"files have at most 400 lines (tests 600), functions 70 (tests 150), and half of the files at most 120",
		"what fits on a screen is read whole; what does not is skimmed. Split by what decides what, or name the exception with its reason",
	}
	needed := map[string]bool{}
	over := func(what, at string, lines, budget int) {
		t.Helper()
		if lines <= budget {
			return
		}
		needed[what] = true
		if oversized[what] == "" {
			law.broken(t, at, "%s has %d lines, the budget is %d", what, lines, budget)
		}
	}
	var sizes []int
	for _, f := range sources(t) {
		inFile, inFunc := fileBudget, funcBudget
		if f.test {
			inFile, inFunc = testFileBudget, testFuncBudget
		} else {
			sizes = append(sizes, f.lines)
		}
		over(f.path, f.path, f.lines, inFile)
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				over(f.path+" "+fn.Name.Name, f.at(fn), f.fset.Position(fn.End()).Line-f.fset.Position(fn.Pos()).Line+1, inFunc)
			}
		}
	}
	slices.Sort(sizes)
	if median := sizes[len(sizes)/2]; median > medianBudget {
		law.broken(t, ".", "the median file has %d lines", median)
	}
	for what, reason := range oversized {
		if !needed[what] || strings.TrimSpace(reason) == "" {
			law.broken(t, what, "is an exception that is no longer needed, or has no reason")
		}
	}
}
