package telemetry

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Every latency is in the bucket that says so, buckets touch, and none is wider than a 64th of what it holds.
func TestBuckets(t *testing.T) {
	next := uint64(0)
	for b := range uint16(buckets) {
		low, width := lowest(b)
		if low != next {
			t.Fatalf("bucket %d begins at %d, the one before ends at %d", b, low, next)
		}
		if first, last := bucketOf(int64(low)), bucketOf(int64(low+width-1)); first != b || last != b {
			t.Fatalf("bucket %d, %d to %d: its ends are in %d and %d", b, low, low+width-1, first, last)
		}
		if width > 1 && width*64 > low {
			t.Fatalf("bucket %d, %d to %d, is too wide", b, low, low+width-1)
		}
		next = low + width
	}
	if next != longest+1 {
		t.Errorf("the last bucket ends at %d, want %d", next, longest)
	}
}

// exact is a percentile of sorted latencies, by the definition.
func exact(sorted []float64, p float64) float64 {
	rank := float64(len(sorted)-1) * p / 100
	low, high := sorted[int(math.Floor(rank))], sorted[int(math.Ceil(rank))]
	return low + (rank-math.Floor(rank))*(high-low)
}

// spreadOf adds up the same latencies in many sketches, as a day does, and returns them exactly as well, in units.
func spreadOf(latencies []time.Duration) (*spread, []float64) {
	s, units := &spread{}, make([]float64, 0, len(latencies))
	for part := range slices.Chunk(latencies, 100) {
		var k sketch
		for _, d := range part {
			k.add(int64((d + unit/2) / unit))
			units = append(units, float64((d+unit/2)/unit))
		}
		s.add(k)
	}
	slices.Sort(units)
	return s, units
}

// The error that is promised, against exact percentiles: a 64th at most, and far less for what a day looks like.
func TestPercentileError(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	f := func(name string, n int, allowed float64, latency func() time.Duration) {
		t.Helper()
		latencies := make([]time.Duration, n)
		for i := range latencies {
			latencies[i] = latency()
		}
		got, want := spreadOf(latencies)
		worst := 0.0
		for p := 0.0; p <= 100; p++ {
			worst = max(worst, math.Abs(got.percentile(p)-exact(want, p))/max(exact(want, p), 1))
		}
		t.Logf("%-28s %7d calls: off by %.4f %% at most", name, n, worst*100)
		if worst > allowed {
			t.Errorf("%s: off by %.4f %%, allowed are %.4f %%", name, worst*100, allowed*100)
		}
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	lognormal := func() time.Duration { return seconds(2 * math.Exp(0.8*draw.NormFloat64())) }
	const bound = 1.0 / 64
	f("a day", 200_000, 0.01, lognormal)
	f("an hour", 1000, bound, lognormal)
	f("a hundred calls", 100, bound, lognormal)
	f("uniform", 50_000, bound, func() time.Duration { return seconds(60 * draw.Float64()) })
	f("fast and slow", 50_000, bound, func() time.Duration {
		if draw.IntN(2) == 0 {
			return seconds(0.001 + 0.002*draw.Float64())
		}
		return seconds(600 + 300*draw.Float64())
	})
	// The worst there is: a bucket with nearly all at one end and one at the other.
	low, width := lowest(bucketOf(1 << 20))
	i := 0
	f("a lopsided bucket", 1000, bound, func() time.Duration {
		if i++; i == 1 {
			return time.Duration(low+width-1) * unit
		}
		return time.Duration(low) * unit
	})
	// Alike latencies give exactly theirs.
	f("alike", 1000, 0, func() time.Duration { return 1234567 * time.Microsecond })
}

// What is negative, or longer than a day, counts as the nearest that can be.
func TestAbsurdLatencies(t *testing.T) {
	var k sketch
	for _, units := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
		k.add(units)
	}
	s := &spread{}
	s.add(k)
	if s.calls != 4 || s.percentile(0) != 0 || s.percentile(50) != 0 || s.percentile(100) != longest {
		t.Errorf("%d calls, %v %v %v", s.calls, s.percentile(0), s.percentile(50), s.percentile(100))
	}
}
