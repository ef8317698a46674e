package configs

import "strings"

// didYouMean is the end of a message about an unknown word: the nearest of the known ones, or nothing when none is near.
func didYouMean(word string, known []string) string {
	best, least := "", len([]rune(word))/3+1
	for _, k := range known {
		d := distance(word, k)
		if len(word) > 2 && strings.HasPrefix(k, word) {
			d = 1 // cold for cold_spare, output_cost for output_cost_per_m
		}
		if d <= least && d < len([]rune(k)) && (best == "" || d < least) {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is the number of letters to add, drop, change or swap with a neighbour on the way from a to b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	const longest = 64 // far beyond any key; keeps a hostile key from costing its square
	if len(s) > longest || len(t) > longest {
		return max(len(s), len(t))
	}
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			change := last[j]
			if s[i] != t[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
