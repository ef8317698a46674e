package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// split feeds stream in pieces of size bytes and prints each event; raw is the concatenation of the events' bytes.
func split(stream string, size int) (events []string, raw, rest string) {
	var s Splitter
	var buf []byte
	feed := []byte(stream)
	for len(feed) > 0 {
		n := min(size, len(feed))
		buf = append(buf, feed[:n]...)
		feed = feed[n:]
		for {
			e, n := s.Split(buf)
			if n == 0 {
				break
			}
			line := fmt.Sprintf("%q", e.Data)
			if e.Name != nil {
				line = fmt.Sprintf("[%s] %s", e.Name, line)
			}
			if e.Odd {
				line += " odd"
			}
			if e.Comment() {
				line = "comment"
			}
			events = append(events, line)
			raw += string(e.Raw)
			buf = buf[n:]
		}
	}
	return events, raw, string(buf)
}

func TestSplit(t *testing.T) {
	f := func(stream, want string) {
		t.Helper()
		for _, size := range []int{1, 2, 3, 7, len(stream) + 1} {
			events, raw, rest := split(stream, size)
			if got := strings.Join(events, "; "); got != want {
				t.Errorf("%q by %d\n got %s\nwant %s", stream, size, got, want)
			}
			if whole := strings.TrimPrefix(stream, "\xef\xbb\xbf"); raw+rest != whole && raw != "" {
				t.Errorf("%q by %d: bytes changed: %q + %q", stream, size, raw, rest)
			}
		}
	}
	f("data: a\n\ndata: b\n\n", `"a"; "b"`)
	f("data:a\n\ndata:  b\n\n", `"a"; " b"`)
	f("data: a\ndata: b\n\n", `"a\nb"`)
	f("event: ping\ndata: {}\n\n", `[ping] "{}"`)
	f(": ka\n\ndata: a\n\n", `comment; "a"`)
	f(": ka\ndata: a\n\n", `"a"`)
	f("data: a\r\n\r\ndata: b\r\n\r\n", `"a"; "b"`)
	f("id: 7\ndata: a\n\n", `"a" odd`)
	f("retry: 3000\n\n", `"" odd`)
	f("event: ping\n\n", `[ping] "" odd`)
	f("data: \n\n", `""`)
	f("\xef\xbb\xbfdata: a\n\n", `"a"`)
	f("data: half", ``)
	f("data: half\n", ``)
	f("data: a\n\ndata: тест\n\n", `"a"; "тест"`)
	f("data\n\n", `""`)
	f("data: a\xffb\n\n", `"a�b" odd`)
	f(": \xff\n\n", `"" odd`)
}

// A carriage return alone ends a line too. When it stands at the end of what was read it may be half of a CRLF, so the
// cut between two events depends on how the bytes arrive; the events and the bytes do not.
func TestSplitCarriageReturns(t *testing.T) {
	for _, size := range []int{1, 2, 100} {
		events, raw, rest := split("data: a\r\rdata: b\r\rdata: c\r\r:", size)
		if got := strings.Join(events, "; "); got != `"a"; "b"; "c"` {
			t.Errorf("by %d: %s", size, got)
		}
		if raw+rest != "data: a\r\rdata: b\r\rdata: c\r\r:" {
			t.Errorf("by %d: bytes changed", size)
		}
	}
}

// A line larger than MaxEvent passes byte for byte without being held, and the stream is understood again behind it.
func TestOverflowPassesUnread(t *testing.T) {
	huge := "data: " + strings.Repeat("x", 10<<20) + "\n\n"
	stream := []byte("data: a\n\n" + huge + "data: b\n\n")
	var s Splitter
	var buf, out []byte
	var events []string
	largest := 0
	for len(stream) > 0 {
		n := min(32<<10, len(stream))
		buf = append(buf, stream[:n]...)
		stream = stream[n:]
		for {
			e, n := s.Split(buf)
			if n == 0 {
				break
			}
			out = append(out, e.Raw...)
			events = append(events, fmt.Sprintf("%s unread=%t", e.Data, e.Unread))
			buf = buf[n:]
		}
		n = s.Overflow(buf)
		out = append(out, buf[:n]...)
		buf = append([]byte(nil), buf[n:]...)
		largest = max(largest, len(buf))
	}
	if want := "data: a\n\n" + huge + "data: b\n\n"; !bytes.Equal(out, []byte(want)) {
		t.Errorf("%d bytes came out of %d", len(out), len(want))
	}
	if got := strings.Join(events, "; "); got != "a unread=false;  unread=true; b unread=false" {
		t.Error(got)
	}
	if largest > MaxEvent+64<<10 {
		t.Errorf("held %d bytes", largest)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("data: a\n\n: c\r\n\r\nid: 1\ndata: b\ndata: c\r\rdata: [DONE]\n\n", 3)
	f.Add("\xef\xbb\xbfdata: x\n\nevent: e\n\n", 1)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		if size < 1 || len(stream) > 1<<16 {
			return
		}
		whole, raw, rest := split(stream, len(stream)+1)
		pieces, raw2, rest2 := split(stream, size)
		unmarked := strings.TrimPrefix(stream, "\xef\xbb\xbf")
		if raw+rest != unmarked && raw+rest != stream || raw2+rest2 != raw+rest && !strings.Contains(stream, "\r") {
			t.Fatalf("bytes changed: %q then %q", raw+rest, raw2+rest2)
		}
		// How comments are grouped may depend on the chunking around a lone CR; what is said may not.
		if a, b := said(whole), said(pieces); a != b && !strings.Contains(stream, "\r") {
			t.Fatalf("events differ:\n%s\n%s", a, b)
		}
	})
}

func said(events []string) string {
	var b strings.Builder
	for _, e := range events {
		if e != "comment" {
			b.WriteString(e + "\n")
		}
	}
	return b.String()
}
