package redisshare

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"hermes-hub/quota"
)

// record is what Redis has of one cause. Instants are ms of Redis's clock.
type record struct {
	until   int64 // forever = until something else changes
	since   int64 // when it was seen last
	cleared int64 // what was seen up to here has been disproved
	block   quota.Block
	ours    bool // this hub knew of it: once it does not any more, it has disproved it
	missing bool // Redis does not have it: it has lost it, or is being told
}

// forever is the end of a block that has none.
const forever = 9e13

// farthest is as far ahead as an end may be: beyond it, it is none.
const farthest = 400 * 24 * time.Hour

// stands reports whether the block is in the way at an instant.
func (r *record) stands(now int64) bool {
	return r.since > r.cleared && r.until > now && (r.until == forever || r.until-now <= farthest.Milliseconds())
}

// wire is a block as Redis keeps it, but for its times.
type wire struct {
	State    quota.State  `json:"state"`
	Class    quota.Class  `json:"class"`
	Scope    quota.Scope  `json:"scope"`
	Key      string       `json:"key,omitempty"`
	Bucket   string       `json:"bucket,omitempty"`
	Stated   bool         `json:"stated,omitempty"`
	Failures int          `json:"failures,omitempty"`
	Source   quota.Source `json:"source,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

func written(b quota.Block) []byte {
	data, err := json.Marshal(wire{b.State, b.Class, b.Scope, b.Key, b.Bucket, b.Stated, b.Failures, b.Source, b.Reason})
	if err != nil {
		panic(err) // strings and numbers can be written
	}
	return data
}

// readRecord reads a field and its value; false for what no hub of this kind wrote.
func readRecord(cause, value string) (r record, ok bool) {
	rest := value
	for _, n := range []*int64{&r.until, &r.since, &r.cleared} {
		var word string
		var err error
		word, rest, ok = strings.Cut(rest, ":")
		if *n, err = strconv.ParseInt(word, 10, 64); !ok || err != nil || *n < 0 {
			return record{}, false
		}
	}
	var w wire
	if err := json.Unmarshal([]byte(rest), &w); err != nil {
		return record{}, false
	}
	r.block = quota.Block{
		State: w.State, Class: w.Class, Scope: w.Scope, Key: w.Key, Bucket: w.Bucket,
		Stated: w.Stated, Failures: w.Failures, Source: w.Source, Reason: w.Reason,
	}
	return r, r.block.Shareable() && r.block.Cause() == cause
}

// instant is one moment by both clocks. What is asked of Redis is answered somewhere between sending and receiving.
type instant struct {
	sent, received time.Time
	redis          int64
}

// at is when something was, or will be, by this hub's clock.
func (i instant) at(ms int64) time.Time {
	return i.sent.Add(i.received.Sub(i.sent) / 2).Add(time.Duration(ms-i.redis) * time.Millisecond)
}

// atLatest is the latest that something can have been, by this hub's clock.
func (i instant) atLatest(ms int64) time.Time {
	return i.received.Add(time.Duration(ms-i.redis+2) * time.Millisecond) // both are cut to the ms
}

// here is the record's block by this hub's clock.
func (r *record) here(i instant) quota.Block {
	b := r.block
	if b.Since = i.at(r.since); r.until != forever {
		b.Until = i.at(r.until)
	}
	return b
}
