package httpapi

import (
	"slices"
	"strings"

	"hermes-hub/runs"
)

const (
	mostReplayedRows  = 4096    // of a session: an observer that lacks more gets a snapshot
	mostReplayedBytes = 4 << 20 // of payloads
)

// leg is a run of a session that is still to be told, from behind a seq on.
type leg struct {
	head  runs.Head
	after int64
}

// snapshotReason is why an observer of a session gets a snapshot instead of rows. Closed, and a superset of
// runs.ResetReason: it stands in session_snapshot.
type snapshotReason string

const (
	runMissing   snapshotReason = "cursor_run_missing" // the cursor's run is not of this session, or is gone
	rowsTrimmed  snapshotReason = "replay_gap"         // the rows after the cursor are not there any more
	tooManyRows  snapshotReason = "replay_limit_rows"
	tooManyBytes snapshotReason = "replay_limit_bytes"
)

// plan says what an observer of a session is told, in which order. heads are those of the session's runs, newest first;
// without a cursor, all of it. A reason says that instead of the past it gets a snapshot.
func plan(cursor string, heads []runs.Head) (legs []leg, instead snapshotReason) {
	heads = inOrder(heads)
	from := 0
	after := int64(0)
	if cursor != "" {
		run, seq, ok := runs.ParseCursor(cursor)
		if !ok || run == "" {
			return nil, snapshotReason(runs.CursorMalformed)
		}
		from = slices.IndexFunc(heads, func(h runs.Head) bool { return h.RunID == run })
		if from < 0 {
			return nil, runMissing
		}
		at := runs.Resume(cursor, heads[from])
		if at.Reset != "" {
			return nil, snapshotReason(at.Reset)
		}
		after = seq
	}
	var rows, bytes int64
	for _, h := range heads[from:] {
		if runs.Resume(runs.Event{RunID: h.RunID, Seq: after}.ID(), h).Gap != (runs.Gap{}) {
			return nil, rowsTrimmed
		}
		left := min(h.Last-after, h.Rows)
		rows += left
		if h.Rows > 0 {
			bytes += h.Bytes * left / h.Rows
		}
		legs, after = append(legs, leg{h, after}), 0
	}
	switch {
	case rows > mostReplayedRows:
		return nil, tooManyRows
	case bytes > mostReplayedBytes:
		return nil, tooManyBytes
	}
	return legs, ""
}

// inOrder are heads as a session tells them: oldest first.
func inOrder(heads []runs.Head) []runs.Head {
	heads = slices.Clone(heads)
	slices.SortFunc(heads, func(a, b runs.Head) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.RunID, b.RunID)
	})
	return heads
}
