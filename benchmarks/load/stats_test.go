package main

import (
	"fmt"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	f := func(want string, values ...float64) {
		t.Helper()
		if got := fmt.Sprint(spreadOf(values)); got != want {
			t.Errorf("%v: got %s, want %s", values, got, want)
		}
	}
	f("{0 0 0}")
	f("{7 7 7}", 7)
	f("{2.5 1 4}", 4, 1, 3, 2)
	f("{3 1 50}", 50, 1, 3)
}

func TestQuantile(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	f := func(sorted []time.Duration, q float64, want time.Duration) {
		t.Helper()
		if got := quantile(sorted, q); got != want {
			t.Errorf("quantile %v of %d values: got %d, want %d", q, len(sorted), got, want)
		}
	}
	f(nil, 0.5, 0)
	f(hundred[:1], 0.99, 1)
	f(hundred, 0, 1)
	f(hundred, 0.5, 50)
	f(hundred, 0.99, 99)
	f(hundred, 1, 100)
	f(hundred[:3], 0.5, 2)
	f(hundred[:3], 0.99, 3)
}
