package quota

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// event is one reading with the call that it belongs to.
type event struct {
	reading Reading
	call    Call
}

var someModels = []string{"gpt-5", "gpt-5-mini", "claude-opus-4", "o3", ""}

// drawEvent draws a reading; stated ones say until when, the others leave it to the policy. With windows it may measure those
// that decide about calls.
func drawEvent(t *rapid.T, classes []Class, stated, windows bool) event {
	started := rapid.IntRange(0, 500).Draw(t, "started")
	answered := started + rapid.IntRange(0, 100).Draw(t, "took")
	e := event{call: callFrom(rapid.SampledFrom(someModels).Draw(t, "model"), started, answered)}
	e.reading.Class = rapid.SampledFrom(classes).Draw(t, "class")
	e.reading.Scope = rapid.SampledFrom([]Scope{ScopeModel, ScopeFamily, ScopeAccount, ScopeProvider, ScopeRequest}).Draw(t, "scope")
	e.reading.Reason = rapid.SampledFrom([]string{"status:429", "code:a"}).Draw(t, "reason")
	if stated {
		e.reading.ResetAt = e.call.At.Add(time.Duration(rapid.IntRange(1, 1000).Draw(t, "wait")) * time.Second)
	}
	if rapid.Bool().Draw(t, "measured") {
		id := rapid.SampledFrom([]string{"p.a", "p.b"}).Draw(t, "bucket")
		e.reading.Buckets = []Bucket{{ID: id, Remaining: Known(float64(answered))}}
	}
	if windows && rapid.Bool().Draw(t, "window measured") {
		id := rapid.SampledFrom([]string{"p.5h", "p.7d", "p.claude.5h", "p.weekly.opus", "p.10m", "p.balance"}).Draw(t, "window")
		b := Bucket{ID: id}.withUsed(rapid.SampledFrom([]float64{0, 50, 100}).Draw(t, "used"))
		if rapid.Bool().Draw(t, "resets") {
			b.ResetAt = e.call.At.Add(time.Duration(rapid.IntRange(-10, 1000).Draw(t, "reset")) * time.Second)
		}
		e.reading.Buckets = append(e.reading.Buckets, b)
	}
	return e
}

func foldAll(events []event) Standing {
	var s Standing
	for _, e := range events {
		s = s.Apply(e.reading, e.call, testPolicy)
	}
	return s
}

// TestOrderOfRefusalsDoesNotMatter: answers of parallel calls come in any order; what they say of windows and credentials
// must come to the same.
func TestOrderOfRefusalsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return drawEvent(t, []Class{RateLimited, QuotaExhausted, AuthInvalid, Billing, Forbidden, ModelNotFound}, true, false)
		}), 1, 12).Draw(t, "events")
		shuffled := rapid.Permutation(events).Draw(t, "order")
		one, other := foldAll(events), foldAll(shuffled)
		now := after(rapid.IntRange(600, 1700).Draw(t, "now")) // when all of them are in
		for _, model := range someModels {
			x, y := one.Check(model, Family(model), now), other.Check(model, Family(model), now)
			if x.State != y.State || !x.Until.Equal(y.Until) {
				t.Fatalf("%q is %+v in one order, %+v in the other", model, x, y)
			}
		}
		for i, b := range one.Buckets() {
			if got := other.Buckets()[i]; got.ID != b.ID || !got.SeenAt.Equal(b.SeenAt) {
				t.Fatalf("bucket %+v in one order, %+v in the other", b, got)
			}
		}
	})
}

// TestStandingInvariants: whatever is folded in, in whatever order.
func TestStandingInvariants(t *testing.T) {
	classes := []Class{OK, RateLimited, QuotaExhausted, AuthExpired, Billing, Forbidden, ModelNotFound, Overloaded, ServerError, Timeout, InvalidRequest}
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return drawEvent(t, classes, rapid.Bool().Draw(t, "stated"), true)
		}), 1, 30).Draw(t, "events")
		s := foldAll(events)
		now := after(rapid.IntRange(0, 6000).Draw(t, "now"))
		blocks := s.Blocks(now)
		keys := make(map[string]bool)
		for _, b := range blocks {
			key := fmt.Sprint(b.Key, b.State, b.Bucket, b.Reason == "bucket:"+b.Bucket) // refused, and measured
			if keys[key] {
				t.Fatalf("two blocks of one cause: %+v", blocks)
			}
			keys[key] = true
			if b.State == Ready || b.Class == OK || b.Scope == ScopeRequest {
				t.Fatalf("a block of nothing: %+v", b)
			}
			if (b.State == StateAuthRequired) != b.Until.IsZero() {
				t.Fatalf("only a refused credential has no end: %+v", b)
			}
		}
		for _, model := range someModels {
			got := s.Check(model, Family(model), now)
			inTheWay := slices.DeleteFunc(slices.Clone(blocks), func(b Block) bool { return !b.covers(model, Family(model)) })
			if (got == Block{}) != (len(inTheWay) == 0) {
				t.Fatalf("Check(%q) is %+v with %+v in the way", model, got, inTheWay)
			}
			for _, b := range inTheWay {
				if b.outweighs(&got) {
					t.Fatalf("Check(%q) is %+v although %+v is in the way", model, got, b)
				}
			}
		}
		checkWindows(t, s, now)
		data, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var loaded Standing
		if err := loaded.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.Blocks(now), loaded.Blocks(now)); diff != "" {
			t.Fatalf("saved and loaded:\n%s", diff)
		}
	})
}

// TestStandingIsBounded: names of models come from clients, names of windows from upstreams.
func TestStandingIsBounded(t *testing.T) {
	y := &story{t: t}
	y.hear(AuthInvalid, ScopeAccount, callFrom("m", 0, 0), time.Time{})
	y.hear(QuotaExhausted, ScopeFamily, callFrom("gpt-5", 0, 0), after(60))
	for i := range 3 * keptBlocks {
		rd := Reading{Class: ModelNotFound, Scope: ScopeModel, Buckets: []Bucket{{ID: fmt.Sprint("p.", i)}}}
		y.s = y.s.Apply(rd, callFrom(fmt.Sprint("model-", i), i, i), testPolicy)
		if i == 30 {
			y.expect("gpt-5", 30, StateAuthRequired, time.Time{})
		}
	}
	if n, m := len(y.s.Blocks(noon)), len(y.s.Buckets()); n > keptBlocks || m > keptBuckets {
		t.Errorf("%d blocks and %d buckets are kept", n, m)
	}
	y.expect("anything", 900, StateAuthRequired, time.Time{})
	y.s = y.s.CredentialChanged()
	y.expect(fmt.Sprint("model-", 3*keptBlocks-1), 900, StateNoModel, after(3*keptBlocks-1+3600))
}

// checkWindows: nothing is called whose governing bucket is empty for a stated time, and none governs that was reset. A
// measurement that leaves something everywhere leaves no quota block, and touches nothing else.
func checkWindows(t *rapid.T, s Standing, now time.Time) {
	for _, model := range someModels {
		b, ok := s.Governing(model, Family(model), now)
		if !ok {
			continue
		}
		if !b.ResetAt.IsZero() && !b.ResetAt.After(now) {
			t.Fatalf("%q is governed by %+v, which was reset by %v", model, b, now)
		}
		if b.isSpent() && !b.ResetAt.IsZero() && s.Check(model, Family(model), now).State == Ready {
			t.Fatalf("%q may be called while %+v governs it", model, b)
		}
	}
	var full []Bucket
	for _, b := range s.Buckets() {
		full = append(full, b.withUsed(0))
	}
	later := after(10000)
	refilled := s.Measure(Reading{Class: OK, Scope: ScopeAccount, Buckets: full}, later, testPolicy)
	if diff := cmp.Diff(notQuota(s.blocks), notQuota(refilled.blocks)); diff != "" {
		t.Fatalf("a measurement changed more than quota:\n%s", diff)
	}
	for _, p := range refilled.pools {
		if p.block.State != Ready {
			t.Fatalf("%+v is closed although it is full", p)
		}
	}
}

func notQuota(blocks []Block) []Block {
	return keep(blocks, func(b Block) bool { return b.State != StateQuota })
}
