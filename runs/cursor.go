package runs

import (
	"net/url"
	"regexp"
	"strconv"
)

var cursorGrammar = regexp.MustCompile(`^(?:([A-Za-z0-9_-]{1,128}):)?([0-9]{1,15})$`)

// ParseCursor reads `<seq>` or `<run id>:<seq>`; run is "" for the former. The text never goes anywhere else: no store sees
// it.
func ParseCursor(text string) (run string, seq int64, ok bool) {
	m := cursorGrammar.FindStringSubmatch(text)
	if m == nil {
		return "", 0, false
	}
	seq, err := strconv.ParseInt(m[2], 10, 64)
	return m[1], seq, err == nil
}

// AskedCursor is the cursor of a request: the first of after_seq, after_event_id and cursor that the query has, though it be
// empty, else the header Last-Event-ID.
func AskedCursor(query url.Values, lastEventID string) string {
	for _, name := range []string{"after_seq", "after_event_id", "cursor"} {
		if query.Has(name) {
			return query.Get(name)
		}
	}
	return lastEventID
}

// ResetReason is why an observer is sent back to the start. Closed: it stands in journal.reset.
type ResetReason string

// The reasons of a reset.
const (
	CursorMalformed ResetReason = "cursor_malformed"
	CursorForeign   ResetReason = "cursor_foreign" // of another run
	CursorAhead     ResetReason = "cursor_ahead"   // of a row that is not there
	EpochChanged    ResetReason = "epoch_changed"  // of a row that was lost: what followed it has other ids now
)

// Gap is a stretch of seqs that an observer will not get: journal.gap. The zero Gap is none.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Reason string `json:"reason"` // trimmed, or lost
}

// Resumption is where an observer goes on.
type Resumption struct {
	After int64       // it has seen the rows up to this seq
	Reset ResetReason // tell it to forget what it has: After is the start
	Gap   Gap         // tell it what it misses
	Done  bool        // it has all there will ever be
}

// Resume places a cursor in a run. No cursor, and one that does not fit, means from the start of what is there: replaying
// too much is harmless, for rows have ids, and skipping is not.
func Resume(cursor string, h Head) Resumption {
	run, seq, ok := ParseCursor(cursor)
	switch {
	case cursor == "":
		return place(0, "", h)
	case !ok:
		return place(0, CursorMalformed, h)
	case run != "" && run != h.RunID:
		return place(0, CursorForeign, h)
	}
	return resumeAt(seq, h)
}

// resumeAt places a seq of this run.
func resumeAt(seq int64, h Head) Resumption {
	switch {
	case seq > h.Last:
		return place(0, CursorAhead, h)
	case h.JumpTo != 0 && seq > h.JumpFrom && seq <= h.JumpTo:
		return place(0, EpochChanged, h)
	}
	return place(seq, "", h)
}

func place(after int64, reset ResetReason, h Head) Resumption {
	r := Resumption{After: after, Reset: reset}
	switch {
	case h.First > after+1 && !(after >= h.JumpFrom && h.First == h.JumpTo+1):
		r.Gap = Gap{after + 1, h.First - 1, "trimmed"}
		r.After = h.First - 1
	case h.First == 0 && h.Last > after:
		r.Gap = Gap{after + 1, h.Last, "lost"}
		r.After = h.Last
	}
	r.Done = h.Closed && r.After >= h.Last
	return r
}
