package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"hermes-hub/runs"
)

var day = time.Date(2026, 5, 14, 12, 0, 0, 0, time.UTC)

// decided is runs.Decide with what a store keeps for it.
type decided struct {
	head  runs.Head
	known bool
	marks map[string]runs.Mark
	rows  []runs.Event
}

func (d *decided) append(b runs.Batch) runs.Answer {
	v := runs.Decide(d.head, d.known, d.marks[b.Producer], b)
	if v.Outcome == runs.Stored {
		d.head, d.known, d.marks[b.Producer], d.rows = v.Head, true, v.Mark, append(d.rows, v.Rows...)
	}
	return v.Answer
}

// The script comes to the answers, heads and rows of runs.Decide, whatever is sent to it in whatever order.
func TestScriptDecides(t *testing.T) {
	f := func(name string, c redis.UniversalClient) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				s, want := store(c), &decided{marks: map[string]runs.Mark{}}
				for range rapid.IntRange(1, 40).Draw(rt, "batches") {
					b := anyBatch(rt, want)
					a, err := s.Append(t.Context(), []runs.Batch{b})
					if err != nil {
						rt.Fatal(err)
					}
					known := want.known
					expected := want.append(b)
					if !known && b.Begin == nil && b.FirstSeq > 1 {
						expected.Outcome = runs.Missing // nothing at all is there: the store was emptied
					}
					if diff := cmp.Diff(expected, a[0]); diff != "" {
						rt.Fatalf("answer to %+v of %+v: %s", b, want.head, diff)
					}
				}
				if !want.known {
					return
				}
				p, err := s.Read(t.Context(), "r", 0, 1000, 1<<30)
				if diff := cmp.Diff(runs.Page{Head: want.head, Rows: want.rows}, p); diff != "" || err != nil {
					rt.Fatalf("page: %s, %v", diff, err)
				}
			})
		})
	}
	f("double", double(t))
	f("server", serve(t).client(t))
}

// anyBatch is any batch that may come next: often one that fits, and in every way one that does not quite.
func anyBatch(rt *rapid.T, d *decided) runs.Batch {
	draw := func(name string, usual int64, others ...int64) int64 {
		return rapid.SampledFrom(append([]int64{usual, usual, usual, usual}, others...)).Draw(rt, name)
	}
	b := runs.Batch{RunID: "r", Producer: rapid.SampledFrom([]string{"a", "b c:1"}).Draw(rt, "producer"), At: day.Add(time.Minute)}
	mark := d.marks[b.Producer]
	b.Epoch = draw("epoch", max(mark.Epoch, 1), mark.Epoch+1, mark.Epoch-1, 7)
	b.Executor = rapid.Bool().Draw(rt, "executor")
	b.FirstSeq = draw("first", mark.Seq+1, mark.Seq, mark.Seq-1, mark.Seq+2, 1, 1<<40)
	b.Expect = draw("expect", runs.AnySeq, d.head.Last, d.head.Last+1, d.head.Last-1, d.head.Last+1<<21)
	b.Heal = draw("heal", 0, 1) == 1
	if draw("begin", 1, 0) == 1 {
		b.Begin = &runs.Origin{SessionID: "s'\n", Owner: "ö:p", CreatedAt: day}
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 2, 3}).Draw(rt, "rows") {
		e := runs.Event{CreatedAt: day.Add(time.Microsecond), Payload: fmt.Appendf(nil, `{"n":%d}`, rapid.Int().Draw(rt, "payload"))}
		e.Type = rapid.SampledFrom([]runs.Type{
			runs.TypeTokenDelta, runs.TypeTokenDelta, runs.TypeTokenDelta, runs.TypeTokenDelta, runs.TypeTokenDelta, runs.TypeTokenDelta,
			runs.TypeTitleUpdated, runs.TypeUsageFinal, runs.TypeDone, runs.TypeError, runs.TypeCancelled, runs.TypeClosed,
		}).Draw(rt, "type")
		e.Terminal = e.Type == runs.TypeDone || e.Type == runs.TypeError || e.Type == runs.TypeCancelled
		b.Rows = append(b.Rows, e)
	}
	return b
}
