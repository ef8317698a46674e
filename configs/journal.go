package configs

import (
	"time"

	"hermes-hub/proxy"
)

// Journal is the block journal: what is kept of runs, and for how long.
type Journal struct {
	Content       string        // redacted or metadata
	RecordCalls   string        // off, metadata or content
	Retention     time.Duration // after the terminal event
	MaxEventBytes int64
}

// readJournal reads the block journal.
func readJournal(b *block) Journal {
	defer b.done()
	return Journal{
		Content:       b.get("content").oneOf("redacted", "metadata"),
		RecordCalls:   b.get("record_calls").oneOf("metadata", "off", "content"),
		Retention:     hours(b.get("retention_hours"), 168*time.Hour),
		MaxEventBytes: b.get("max_event_bytes").whole(262144, 1024),
	}
}

// depth is how much a plain call leaves: no words where none are to be kept at all.
func (j Journal) depth() proxy.Depth {
	switch {
	case j.RecordCalls == "off":
		return proxy.KeepNothing
	case j.RecordCalls == "content" && j.Content == "redacted":
		return proxy.KeepWords
	default:
		return proxy.KeepFacts
	}
}

// maxHours is ten years: more is a slip of the unit.
const maxHours = 10 * 366 * 24

func hours(n node, def time.Duration) time.Duration {
	v, ok := n.number("number of hours", 0, maxHours)
	if ok && v == 0 {
		n.fail(": 0 would keep nothing, want more than 0 hours")
	}
	if !ok || v == 0 {
		return def
	}
	return seconds(v * 3600)
}
