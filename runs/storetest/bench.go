package storetest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"hermes-hub/runs"
)

// Bench measures stores: rows committed in a second one by one and in group commits, how long a row takes to be readable, and
// rows read in a second.
func Bench(b *testing.B, open func(testing.TB) runs.Store) {
	for _, size := range []int{1, 64} {
		b.Run(fmt.Sprintf("append/rows=%d", size), func(b *testing.B) {
			s, first := open(b), int64(1)
			for b.Loop() {
				one := batch("r", "a", first)
				for range size {
					one.Rows = append(one.Rows, row("token"))
				}
				must(b, s, one)
				first += int64(size)
			}
			b.ReportMetric(float64(first-1)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	b.Run("append/writers=64", func(b *testing.B) {
		s, n := open(b), atomic.Int64{}
		b.SetParallelism(64)
		b.RunParallel(func(pb *testing.PB) {
			run := fmt.Sprint("r", n.Add(1))
			for i := int64(1); pb.Next(); i++ {
				must(b, s, batch(run, "a", i, row("token")))
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	b.Run("append then read", func(b *testing.B) {
		s, waits := open(b), []time.Duration(nil)
		for i := int64(0); b.Loop(); i++ {
			begun := b.Elapsed()
			must(b, s, batch("r", "a", i+1, row("token")))
			if rows := page(b, s, "r", i, 1).Rows; len(rows) != 1 {
				b.Fatalf("row %d is not there", i+1)
			}
			waits = append(waits, b.Elapsed()-begun)
		}
		slices.Sort(waits)
		b.ReportMetric(float64(waits[len(waits)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(waits[len(waits)*99/100].Microseconds()), "p99-µs")
	})
	b.Run("read", func(b *testing.B) {
		const total = 8192
		s := open(b)
		long := batch("r", "a", 1)
		for range total {
			long.Rows = append(long.Rows, row("token"))
		}
		must(b, s, long)
		n := 0
		for b.Loop() {
			for after := int64(0); after < total; {
				rows := page(b, s, "r", after, 256).Rows
				after, n = rows[len(rows)-1].Seq, n+len(rows)
			}
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	})
}
