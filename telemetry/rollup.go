package telemetry

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
)

// A rollup is one minute of calls, as it is held and stored. It is never changed. Version 1, numbers as uvarints:
//
//	1, the version as one byte
//	number of names, each its length and its bytes
//	number of lanes, each:
//	    role, provider, profile: places in the names
//	    calls, succeeded, failed, stated, prompt, completion, slowest, priced; if priced is not 0: usd, 8 bytes, big-endian
//	    number of failover reasons, each its place in the names and how often
//	    number of buckets, each its distance from the one before, n, over
//	CRC-32 of all that, 4 bytes, big-endian
type rollup []byte

const rollupVersion = 1

// errNoRollup is what bytes are that no version of this program wrote.
var errNoRollup = errors.New("not a minute of telemetry")

// newRollup writes a minute down. The same minute gives the same bytes.
func newRollup(ts tallies) rollup {
	order := slices.SortedFunc(maps.Keys(ts), lane.compare)
	places := map[string]uint64{}
	var names []string
	place := func(name string) uint64 {
		at, ok := places[name]
		if !ok {
			at = uint64(len(names))
			places[name], names = at, append(names, name)
		}
		return at
	}
	body := binary.AppendUvarint(nil, uint64(len(order)))
	for _, l := range order {
		body = ts[l].append(body, place, l)
	}
	out := make(rollup, 0, len(body)+16*len(names)+16)
	out = binary.AppendUvarint(append(out, rollupVersion), uint64(len(names)))
	for _, name := range names {
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
	}
	out = append(out, body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func (t *tally) append(b []byte, place func(string) uint64, l lane) []byte {
	for _, n := range [...]uint64{place(l.role), place(l.provider), place(l.profile)} {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range [...]int64{t.calls, t.succeeded, t.failed, t.stated, t.prompt, t.completion, t.slowest, t.priced} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	if t.priced > 0 {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(t.usd))
	}
	b = binary.AppendUvarint(b, uint64(len(t.failovers)))
	for _, f := range t.failovers {
		b = binary.AppendUvarint(binary.AppendUvarint(b, place(f.reason)), uint64(f.n))
	}
	b = binary.AppendUvarint(b, uint64(len(t.latency)))
	before := uint16(0)
	for _, c := range t.latency {
		b = binary.AppendUvarint(b, uint64(c.bucket-before))
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.n)), c.over)
		before = c.bucket
	}
	return b
}

// checked returns the bytes as a rollup when they are one, whole and of a version that can be read.
func checked(data []byte) (rollup, error) {
	r := rollup(data)
	if len(r) < 1+crc32.Size {
		return nil, fmt.Errorf("%w: %d bytes", errNoRollup, len(r))
	}
	if r[0] != rollupVersion {
		return nil, fmt.Errorf("%w: version %d, want %d", errNoRollup, r[0], rollupVersion)
	}
	end := len(r) - crc32.Size
	if crc32.ChecksumIEEE(r[:end]) != binary.BigEndian.Uint32(r[end:]) {
		return nil, fmt.Errorf("%w: the checksum is another", errNoRollup)
	}
	if !r.each(func(lane, *tally) {}) {
		return nil, fmt.Errorf("%w: the numbers contradict each other", errNoRollup)
	}
	return r, nil
}

// each calls back with every lane of the minute; the tally is the callee's for the length of the call. It reports whether
// the bytes hold nothing else, as those of newRollup and of checked do.
func (r rollup) each(visit func(lane, *tally)) bool {
	if len(r) == 0 {
		return true
	}
	d := &rollupReader{rest: r[1 : len(r)-crc32.Size]}
	d.readNames()
	t := &tally{}
	for n := d.count(len(d.rest)); n > 0 && !d.bad; n-- {
		if l := d.lane(t); !d.bad {
			visit(l, t)
		}
	}
	return !d.bad && len(d.rest) == 0
}
