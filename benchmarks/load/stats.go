package main

import (
	"slices"
	"time"
)

// spread is what a few rounds made of one figure.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// spreadOf is the spread of values; the zero spread of none.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	middle := v[len(v)/2]
	if len(v)%2 == 0 {
		middle = (v[len(v)/2-1] + middle) / 2
	}
	return spread{middle, v[0], v[len(v)-1]}
}

// quantile is the smallest of the sorted values that a share q of them does not exceed; 0 of none.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(q * float64(len(sorted)))
	if float64(rank) < q*float64(len(sorted)) {
		rank++
	}
	return sorted[min(max(rank-1, 0), len(sorted)-1)]
}
