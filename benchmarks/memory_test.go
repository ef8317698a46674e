package benchmarks

import (
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// long is an upstream that streams so many pieces without having them in memory.
type long struct {
	script
	pieces int
}

func (l long) RoundTrip(req *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, req.Body) //nolint:errcheck // it reads memory
	return answering(l.contentType, -1, io.MultiReader(
		strings.NewReader(l.head), &again{piece: l.piece, left: l.pieces - 2}, strings.NewReader(l.tail),
	)), nil
}

// again is a piece over and over.
type again struct {
	piece string
	left  int    // pieces that are still to come, besides
	rest  string // of the one that is being read
}

func (a *again) Read(p []byte) (n int, err error) {
	for n < len(p) && (a.rest != "" || a.left > 0) {
		if a.rest == "" {
			a.rest = a.piece
			a.left--
		}
		copied := copy(p[n:], a.rest)
		a.rest, n = a.rest[copied:], n+copied
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// scale is a client that weighs the heap eight times in a stream of a known size: what is held then, garbage left out.
type scale struct {
	sink
	every int // bytes
	held  uint64
}

func (s *scale) Write(b []byte) (int, error) {
	if before := s.bytes; before/s.every != (before+len(b))/s.every {
		s.held = max(s.held, held())
	}
	return s.sink.Write(b)
}

// held is what the heap holds that somebody can still reach.
func held() uint64 {
	runtime.GC()
	runtime.GC() // what a pool keeps goes with the second
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.HeapAlloc
}

// The hub holds as much of an answer of 100 MB as of one of 1 MB, on whatever way: a few buffers.
func TestMemoryOfLongAnswers(t *testing.T) {
	word := strings.Repeat("x", 1<<10)
	const slack = 64 << 10 // it was 31 KiB at most
	for _, w := range ways() {
		s := scriptOf(t, w, word)
		s.check(t, w, word)
		grown := func(megabytes int) int {
			pieces := megabytes << 10
			h := hub(t, w.account, long{s, pieces})
			serve(t, h, w.path, w.ask) // what is needed once
			client := &scale{sink: sink{header: make(http.Header, 16)}, every: pieces << 10 / 8}
			before := held()
			h.ServeHTTP(client, ask(t, w.path, w.ask))
			if client.bytes < pieces<<10 {
				t.Fatalf("%s: %d bytes of %d MB", w.name, client.bytes, megabytes)
			}
			return int(client.held) - int(before)
		}
		short, long := grown(1), grown(longest)
		t.Logf("%s: %d KiB of 1 MB, %d KiB of %d MB", w.name, short>>10, long>>10, longest)
		if max(short, long) > slack {
			t.Errorf("%s: the hub holds %d KiB of an answer of 1 MB, and %d KiB of one of %d MB", w.name, short>>10, long>>10, longest)
		}
	}
}
