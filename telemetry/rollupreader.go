package telemetry

import (
	"encoding/binary"
	"math"
)

// rollupReader reads the parts of a rollup in their order. After the first one that is none, bad is set and everything
// reads as 0.
type rollupReader struct {
	rest  []byte
	names []string
	bad   bool
}

// number is the next number, at most limit.
func (d *rollupReader) number(limit uint64) uint64 {
	if len(d.rest) > 0 && uint64(d.rest[0]) <= min(limit, 0x7f) { // as most are
		v := uint64(d.rest[0])
		d.rest = d.rest[1:]
		return v
	}
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > limit {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count is a number of things, of which there are at most so many.
func (d *rollupReader) count(most int) int { return int(d.number(uint64(most))) }

// sum is a sum of a tally.
func (d *rollupReader) sum() int64 { return int64(d.number(math.MaxInt64)) }

func (d *rollupReader) take(n int) []byte {
	if n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	part := d.rest[:n]
	d.rest = d.rest[n:]
	return part
}

func (d *rollupReader) readNames() {
	n := d.count(len(d.rest))
	d.names = make([]string, 0, n)
	for range n {
		d.names = append(d.names, string(d.take(d.count(len(d.rest)))))
	}
}

func (d *rollupReader) name() string {
	at := d.number(math.MaxInt32)
	if at >= uint64(len(d.names)) {
		d.bad = true
		return ""
	}
	return d.names[at]
}

// lane reads one lane into t, whose space is used again.
func (d *rollupReader) lane(t *tally) lane {
	*t = tally{failovers: t.failovers[:0], latency: t.latency[:0]}
	l := lane{d.name(), d.name(), d.name()}
	for _, field := range [...]*int64{&t.calls, &t.succeeded, &t.failed, &t.stated, &t.prompt, &t.completion, &t.slowest, &t.priced} {
		*field = d.sum()
	}
	if t.priced > 0 {
		if bits := d.take(8); !d.bad {
			t.usd = math.Float64frombits(binary.BigEndian.Uint64(bits))
		}
		d.bad = d.bad || !(t.usd >= 0 && t.usd <= mostUSD*float64(t.priced))
	}
	for n := d.count(len(d.rest)); n > 0 && !d.bad; n-- {
		t.failovers = append(t.failovers, trigger{d.name(), d.sum()})
	}
	d.latency(t)
	return l
}

// latency reads the buckets, in which every call must be found again.
func (d *rollupReader) latency(t *tally) {
	at, calls := uint64(0), uint64(0)
	for n := d.count(len(d.rest)); n > 0 && !d.bad; n-- {
		step := d.number(buckets - 1)
		at += step
		if at >= buckets || step == 0 && len(t.latency) > 0 {
			d.bad = true
			return
		}
		_, width := lowest(uint16(at))
		c := cell{bucket: uint16(at), n: uint32(d.number(math.MaxUint32))}
		c.over = d.number(uint64(c.n) * (width - 1))
		d.bad = d.bad || c.n == 0
		calls += uint64(c.n)
		t.latency = append(t.latency, c)
	}
	d.bad = d.bad || calls != uint64(t.calls)
}
