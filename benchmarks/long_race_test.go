//go:build race

package benchmarks

// longest is the size of the longest answer, in MB. The race detector takes twenty times as long for each.
const longest = 4
