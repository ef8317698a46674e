package telemetry

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func unpacked(t testing.TB, r rollup) tallies {
	t.Helper()
	ts := tallies{}
	if !r.each(ts.merge) {
		t.Fatalf("unreadable: %x", []byte(r))
	}
	return ts
}

var tallyFields = cmp.AllowUnexported(tally{}, trigger{}, cell{})

// someMinute is a minute with a bit of everything.
func someMinute() tallies {
	w := newTestWindow(failedOver(), &Exchange{Role: "fast", Outcome: Exhausted, Start: noon})
	for ms := range 300 {
		x := asked("coder", "codex-1", time.Duration(ms*ms)*time.Millisecond)
		x.Attempts[0].Usage = Usage{Input: int64(ms) << 20, Known: ms%2 == 0}
		w.Observe(x)
	}
	ts := tallies{}
	for _, open := range w.open {
		for s, t := range open {
			ts.merge(s, t)
		}
	}
	return ts
}

func TestRollupRoundTrip(t *testing.T) {
	f := func(want tallies) {
		t.Helper()
		r := newRollup(want)
		if diff := cmp.Diff(want, unpacked(t, r), tallyFields); diff != "" {
			t.Error(diff)
		}
		if again, err := checked(newRollup(unpacked(t, r))); err != nil || !slices.Equal(again, r) {
			t.Errorf("written again it is another: %v", err)
		}
	}
	f(someMinute())
	f(tallies{})
	f(tallies{lane{role: "coder"}: {failed: 3}})
}

// No byte of a rollup can be changed, no part of it cut off, without being noticed.
func TestRollupDamaged(t *testing.T) {
	whole := newRollup(someMinute())
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 1 << (i % 8)
		if _, err := checked(bad); !errors.Is(err, errNoRollup) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if _, err := checked(whole[:i]); !errors.Is(err, errNoRollup) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	if _, err := checked(append(slices.Clone(whole), 0)); !errors.Is(err, errNoRollup) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := checked(nil); !errors.Is(err, errNoRollup) {
		t.Errorf("nothing: %v", err)
	}
}

// sealed is a body with its version and a checksum that fits.
func sealed(body []byte) []byte {
	out := append([]byte{rollupVersion}, body...)
	sum := crc32.ChecksumIEEE(out)
	return append(out, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

// Numbers that contradict each other under a checksum that fits, as another program might leave.
func TestRollupContradicts(t *testing.T) {
	usd := func(x float64) []byte { return binary.BigEndian.AppendUint64(nil, math.Float64bits(x)) }
	f := func(name string, good bool, parts ...[]byte) {
		t.Helper()
		// One name; one lane; then what the parts say.
		body := append([]byte{1, 1, 'a', 1}, slices.Concat(parts...)...)
		if _, err := checked(sealed(body)); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
	named := []byte{0, 0, 0}
	one := []byte{1, 1, 0, 0, 0, 0, 5, 0, 0} // a call that worked, no usage, no price, no failover
	f("whole", true, named, one, []byte{1, 5, 1, 0})
	f("two buckets", true, named, []byte{2, 1, 0, 0, 0, 0, 5, 0, 0}, []byte{2, 5, 1, 0, 1, 1, 0})
	f("a failover", true, named, []byte{1, 1, 0, 0, 0, 0, 5, 0, 1, 0, 9}, []byte{1, 5, 1, 0})
	f("an unknown name", false, []byte{0, 1, 0}, one, []byte{1, 5, 1, 0})
	f("a failover of an unknown name", false, named, []byte{1, 1, 0, 0, 0, 0, 5, 0, 1, 7, 9}, []byte{1, 5, 1, 0})
	f("a call without latency", false, named, one, []byte{0})
	f("a latency without call", false, named, one, []byte{1, 5, 2, 0})
	f("an empty bucket", false, named, one, []byte{2, 5, 1, 0, 1, 0, 0})
	f("a bucket twice", false, named, []byte{2, 1, 0, 0, 0, 0, 5, 0, 0}, []byte{2, 5, 1, 0, 0, 1, 0})
	f("over the bucket's end", false, named, one, []byte{1, 5, 1, 1})
	f("a bucket too far", false, named, []byte{2, 1, 0, 0, 0, 0, 5, 0, 0}, []byte{2, 0xbf, 0x0c, 1, 0, 1, 1, 0})
	f("bytes left", false, named, one, []byte{1, 5, 1, 0, 0})
	f("bytes missing", false, named, one, []byte{1, 5, 1})
	f("more lanes than bytes", false, named, one, []byte{200, 5, 1, 0})
	priced := []byte{1, 1, 0, 0, 0, 0, 5, 1}
	f("a price", true, named, priced, usd(2.5), []byte{0, 1, 5, 1, 0})
	for _, absurd := range []float64{-1, math.NaN(), math.Inf(1), 1e300} {
		f("an absurd price", false, named, priced, usd(absurd), []byte{0, 1, 5, 1, 0})
	}
	f("half a price", false, named, priced, usd(2.5)[:4])
}

// Bytes with a good checksum and numbers that contradict each other, as another program might leave.
func FuzzRollup(f *testing.F) {
	whole := newRollup(someMinute())
	f.Add([]byte(whole[1 : len(whole)-crc32.Size]))
	f.Add([]byte{0, 0})
	f.Add([]byte{1, 1, 'a', 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 5, 0, 0, 1, 5, 1, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := checked(sealed(body))
		if err != nil {
			return
		}
		calls := int64(0)
		for s, have := range unpacked(t, r) {
			calls = plus(calls, have.calls)
			for _, n := range []int64{have.calls, have.succeeded, have.failed, have.stated, have.prompt, have.completion, have.slowest, have.priced} {
				if n < 0 {
					t.Errorf("%v: %d", s, n)
				}
			}
		}
		w := newTestWindow()
		if err := w.restore(keyOf(minuteOf(noon)), r); err != nil {
			t.Fatal(err)
		}
		if a := w.Breakdown(noon, time.Hour, Filter{}).Global; a.TotalCalls != calls {
			t.Errorf("%d calls of %d", a.TotalCalls, calls)
		}
	})
}
