package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// column is one column of the table: a figure, or its ratio.
type column struct {
	title, figure, show string // show is a format
	ratio, bare         bool   // bare: without its spread, which the JSON has
	unit                float64
}

// columns are those of the table, from left to right. One that nobody has a figure for is left out.
var columns = []column{
	{title: "CPU µs", figure: figCPU, show: "%.1f"},
	{title: "×", figure: figCPU, show: "%.2f", ratio: true},
	{title: "per s", figure: figRate, show: "%.0f", bare: true},
	{title: "×", figure: figRate, show: "%.2f", ratio: true, bare: true},
	{title: "p50 ms", figure: figP50, show: "%.2f", bare: true, unit: 1000},
	{title: "added", figure: figAddedP50, show: "%.2f", bare: true, unit: 1000},
	{title: "×", figure: figAddedP50, show: "%.2f", ratio: true},
	{title: "p99 ms", figure: figP99, show: "%.2f", bare: true, unit: 1000},
	{title: "×", figure: figP99, show: "%.2f", ratio: true, bare: true},
	{title: "allocs", figure: figAllocations, show: "%.1f", bare: true},
	{title: "KiB", figure: figAllocated, show: "%.1f", bare: true},
	{title: "KiB held", figure: figStream, show: "%.1f"},
	{title: "×", figure: figStream, show: "%.2f", ratio: true},
	{title: "RSS MiB", figure: figResident, show: "%.0f", bare: true, unit: 1024},
	{title: "dials", figure: figConnections, show: "%.0f", bare: true},
	{title: "broken", figure: figBroken, show: "%.0f", bare: true},
}

// table writes one block a scenario: medians, with the least and the most of the rounds in brackets.
func (r *report) table(out io.Writer) {
	fmt.Fprintf(out, "%s; %.0f s. Median (least–most); × = against %s in the same round.\n", r.Machine, r.Seconds, r.Against)
	for i := range r.Scenarios {
		sc := &r.Scenarios[i]
		fmt.Fprintf(out, "\n%s, %d rounds, costs per %s\n", sc.Name, sc.Rounds, sc.Unit)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		shown := slices.DeleteFunc(slices.Clone(columns), func(c column) bool {
			return !slices.ContainsFunc(sc.Targets, func(t targetReport) bool { _, ok := c.of(t); return ok })
		})
		fmt.Fprint(w, "  target")
		for _, c := range shown {
			fmt.Fprint(w, "\t", c.title)
		}
		for _, t := range sc.Targets {
			fmt.Fprint(w, "\n  ", t.Name)
			for _, c := range shown {
				fmt.Fprint(w, "\t", c.cell(t))
			}
		}
		fmt.Fprintln(w)
		w.Flush()
	}
}

// of is a column's figure of a target.
func (c column) of(t targetReport) (spread, bool) {
	if c.ratio {
		s, ok := t.Ratios[c.figure]
		return s, ok
	}
	s, ok := t.Figures[c.figure]
	return s, ok
}

func (c column) cell(t targetReport) string {
	s, ok := c.of(t)
	if !ok {
		return ""
	}
	show := func(v float64) string { return fmt.Sprintf(c.show, v/cmp.Or(c.unit, 1)) }
	if c.bare || s.Min == s.Max {
		return show(s.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", show(s.Median), show(s.Min), show(s.Max))
}
