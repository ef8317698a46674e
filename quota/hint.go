package quota

import (
	"time"

	"github.com/tidwall/gjson"
)

// hintKind is what a member of an error object states about time.
type hintKind uint8

const (
	hintResetInstant hintKind = iota // when a window is full again
	hintReset                        // either: the magnitude tells
	hintResetDelay                   // how long until then: a bare number counts seconds
	hintRetryMillis                  // how long to wait: a bare number counts milliseconds
	hintRetryDelay                   // how long to wait: a bare number counts seconds
)

// hint is one of them, as received.
type hint struct {
	kind hintKind
	text string
}

// hintKeys are the names of these members. Sources: Codex (resets_at, resets_in_seconds), Google's RetryInfo (retryDelay)
// and Cloud Code's metadata (quotaReset…), Cloudflare's problem documents (retry_after), and what gateways invent.
var hintKeys = map[string]hintKind{
	"resets_at": hintResetInstant, "reset_at": hintResetInstant, "resetsAt": hintResetInstant, "resetAt": hintResetInstant,
	"reset_time": hintResetInstant, "resetTime": hintResetInstant, "quotaResetTimeStamp": hintResetInstant,
	"reset": hintReset, "resets": hintReset,
	"resets_in": hintResetDelay, "resetsIn": hintResetDelay, "reset_in": hintResetDelay, "resetIn": hintResetDelay,
	"resets_in_seconds": hintResetDelay, "reset_in_seconds": hintResetDelay, "reset_after_seconds": hintResetDelay,
	"quotaResetDelay": hintResetDelay,
	"retry_after_ms":  hintRetryMillis, "retryAfterMs": hintRetryMillis,
	"retry_in": hintRetryDelay, "wait_seconds": hintRetryDelay,
	"retry_after": hintRetryDelay, "retry_after_seconds": hintRetryDelay, "retryAfter": hintRetryDelay,
	"retryAfterSeconds": hintRetryDelay, "retryDelay": hintRetryDelay,
}

// addHint keeps a member that states a time, if it can.
func (f *fault) addHint(kind hintKind, v gjson.Result) {
	if v.Type == gjson.String || v.Type == gjson.Number {
		f.hints = append(f.hints, hint{kind, v.String()})
	}
}

// instantHint is the first hint of an absolute time that is ahead, innermost first.
func (a *answer) instantHint(zone *time.Location) (statedWait, bool) {
	for _, f := range a.faults {
		for _, h := range f.hints {
			var t time.Time
			ok := false
			switch h.kind {
			case hintResetInstant:
				t, ok = parseInstant(h.text, zone)
			case hintReset:
				t, ok = parseReset(h.text, a.At, zone)
			}
			if w, ok := a.untilWait(t, ok); ok {
				return w, true
			}
		}
	}
	return statedWait{}, false
}

// delayHint is the first hint of a kind that can be a wait, innermost first.
func (a *answer) delayHint(kind hintKind) (statedWait, bool) {
	unit := time.Second
	if kind == hintRetryMillis {
		unit = time.Millisecond
	}
	for _, f := range a.faults {
		for _, h := range f.hints {
			if h.kind != kind {
				continue
			}
			d, ok := parseDuration(h.text)
			if n, plain := parseNumber(h.text); plain {
				d, ok = scaled(n, unit), true
			}
			if w, ok := a.afterWait(d, ok); ok {
				return w, true
			}
		}
	}
	return statedWait{}, false
}
