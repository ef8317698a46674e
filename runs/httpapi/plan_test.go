package httpapi

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/runs"
)

// What an observer of a session is told, by its cursor and what there is.
func TestPlan(t *testing.T) {
	at := time.Unix(1000, 0)
	heads := []runs.Head{ // newest first, two of the same instant
		{RunID: "c", CreatedAt: at.Add(time.Second), First: 1, Last: 10, Rows: 10, Bytes: 100},
		{RunID: "b2", CreatedAt: at, First: 1, Last: 4000, Rows: 4000, Bytes: 1 << 19},
		{RunID: "b1", CreatedAt: at, First: 1, Last: 90, Rows: 90, Bytes: 3 << 20},
		{RunID: "a", CreatedAt: at.Add(-time.Second), First: 1, Last: 5, Rows: 5, Bytes: 4 << 20},
	}
	f := func(cursor, want string) {
		t.Helper()
		legs, instead := plan(cursor, heads)
		var words []string
		for _, l := range legs {
			words = append(words, fmt.Sprint(l.head.RunID, l.after))
		}
		if got := strings.TrimSpace(strings.Join(words, " ") + string(instead)); got != want {
			t.Errorf("%s: %s, want %s", cursor, got, want)
		}
	}
	f("", "replay_limit_rows")
	f("a:5", "replay_limit_rows")
	f("b1:5", "b15 b20 c0")
	f("b1:0", "replay_limit_rows")
	f("b2:10", "b210 c0")
	f("c:10", "c10")
	f("c:11", "cursor_ahead")
	f("nobody:1", "cursor_run_missing")
	f("7", "cursor_malformed")
	f("c", "cursor_malformed")
	heads[1].Last = 10
	heads[1].Rows = 10
	f("", "replay_limit_bytes")
	f("a:5", "a5 b10 b20 c0")
	heads[0].First = 4 // the oldest of its rows are gone
	f("c:3", "c3")
	f("c:2", "replay_gap")
	f("b2:1", "replay_gap")
	heads[0].First, heads[0].JumpFrom, heads[0].JumpTo, heads[0].Last, heads[0].Epoch = 1, 5, 1<<20, 1<<20+2, 1
	f("c:7", "epoch_changed")
	f("c:5", "c5")
	heads = nil
	f("", "")
	f("a:1", "cursor_run_missing")
}
