//go:build !race

package benchmarks

// longest is the size of the longest answer, in MB.
const longest = 100
