package runs_test

import (
	"fmt"
	"net/url"
	"testing"

	"hermes-hub/runs"
)

// J09 to J15: where a cursor continues.
func TestResume(t *testing.T) {
	live := runs.Head{RunID: "run", First: 1, Last: 10}
	closed := live
	closed.EndSeq, closed.Closed = 9, true
	trimmed := live
	trimmed.First = 4
	emptied := live
	emptied.First = 0
	jumped := runs.Head{RunID: "run", First: 1, Last: 1<<20 + 5, Epoch: 1, JumpFrom: 10, JumpTo: 1 << 20}
	jumpedOnly := jumped
	jumpedOnly.First = 1<<20 + 1

	f := func(h runs.Head, cursor, want string) {
		t.Helper()
		r := runs.Resume(cursor, h)
		got := fmt.Sprintf("after %d", r.After)
		if r.Reset != "" {
			got += " reset " + string(r.Reset)
		}
		if r.Gap != (runs.Gap{}) {
			got += fmt.Sprintf(" gap %d-%d %s", r.Gap.From, r.Gap.To, r.Gap.Reason)
		}
		if r.Done {
			got += " done"
		}
		if got != want {
			t.Errorf("cursor %q: %s, want %s", cursor, got, want)
		}
	}
	f(live, "", "after 0") // J15
	f(live, "0", "after 0")
	f(live, "7", "after 7") // J04
	f(live, "run:7", "after 7")
	f(live, "007", "after 7")
	f(live, "10", "after 10")
	f(closed, "run:10", "after 10 done") // J09
	f(closed, "9", "after 9")
	f(live, "11", "after 0 reset cursor_ahead") // J10
	f(closed, "999999999999999", "after 0 reset cursor_ahead")
	f(live, "other:5", "after 0 reset cursor_foreign") // J11, J23
	for _, bad := range []string{"abc", "run:-1", "-1", "../x:1", "run:", ":5", "5 ", "$", "(1-0", "1e3", "run:5:5", "5\r\nid: 9", "9999999999999999"} {
		f(live, bad, "after 0 reset cursor_malformed") // J12
	}
	f(trimmed, "1", "after 3 gap 2-3 trimmed")
	f(trimmed, "3", "after 3")
	f(trimmed, "", "after 3 gap 1-3 trimmed")
	f(trimmed, "x", "after 3 reset cursor_malformed gap 1-3 trimmed")
	f(emptied, "4", "after 10 gap 5-10 lost")
	f(runs.Head{RunID: "run"}, "", "after 0")
	f(jumped, "10", "after 10")
	f(jumped, "11", "after 0 reset epoch_changed")
	f(jumped, "1048576", "after 0 reset epoch_changed")
	f(jumped, "1048577", "after 1048577")
	f(jumpedOnly, "10", "after 10")
	f(jumpedOnly, "9", "after 1048576 gap 10-1048576 trimmed")
}

// J13, J14: the query wins by being there, whatever it says.
func TestAskedCursor(t *testing.T) {
	for _, c := range []struct{ query, header, want string }{
		{"", "", ""},
		{"", "run:5", "run:5"},
		{"after_seq=3", "run:5", "3"},
		{"cursor=run:4", "run:5", "run:4"},
		{"after_event_id=run:2&cursor=9", "run:5", "run:2"},
		{"cursor=", "run:5", ""},
	} {
		query, err := url.ParseQuery(c.query)
		if got := runs.AskedCursor(query, c.header); got != c.want || err != nil {
			t.Errorf("%q with header %q asks for %q, want %q", c.query, c.header, got, c.want)
		}
	}
}

// Whatever the cursor and the head: nothing before the place is skipped silently, and the place is within the run.
func FuzzResume(f *testing.F) {
	f.Add("run:5", int64(1), int64(10), int64(0), true)
	f.Add("11", int64(3), int64(1<<20+2), int64(5), false)
	f.Add("x\x00:1", int64(0), int64(0), int64(0), false)
	f.Fuzz(func(t *testing.T, cursor string, first, last, jump int64, closed bool) {
		h := runs.Head{RunID: "run", First: first, Last: last, Closed: closed}
		if jump > 0 && jump < 1<<20 && last > 1<<20 {
			h.JumpFrom, h.JumpTo, h.Epoch = jump, 1<<20, 1
		}
		if last < 0 || first < 0 || first > last {
			t.Skip("no head of a run")
		}
		r := runs.Resume(cursor, h)
		run, seq, ok := runs.ParseCursor(cursor)
		fits := ok && (run == "" || run == "run") && seq <= last
		switch {
		case r.After < 0 || r.After > last:
			t.Fatalf("%q goes on after %d of %d", cursor, r.After, last)
		case !fits && cursor != "" && r.Reset == "":
			t.Fatalf("%q does not fit, and there is no reset", cursor)
		case r.Reset == "" && fits && r.After != seq && r.Gap.From != seq+1:
			t.Fatalf("%q goes on after %d without a word", cursor, r.After)
		case r.Done && (!closed || r.After != last):
			t.Fatalf("%q is done after %d of %d, closed %v", cursor, r.After, last, closed)
		}
	})
}
