package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/memstore"
)

// benchmarked is a journal with one run of so many rows, and an API over it.
func benchmarked(b *testing.B, rows int) (*httpapi.API, *runs.Writer) {
	b.Helper()
	j := runs.New(runs.Options{Store: new(memstore.Store), Instance: "here", MaxRunRows: 1 << 40, MaxRunBytes: 1 << 40, MaxWaiting: 1 << 30})
	life, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = j.Run(life) })
	b.Cleanup(func() { end(); wg.Wait() })
	w, err := j.Begin("r", runs.Origin{SessionID: "s"}, runs.Redacted, runs.RunStarted{Status: runs.Running})
	if err != nil {
		b.Fatal(err)
	}
	for i := range rows {
		if err := w.Append(runs.Progress{Text: fmt.Sprint("step ", i)}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Sync(context.Background()); err != nil {
		b.Fatal(err)
	}
	return httpapi.New(httpapi.Options{Journal: j, MaxStreams: 1 << 20}), w
}

// counting counts bytes and goes away after the last row.
type counting struct {
	header http.Header
	n      int64
	last   []byte
	leave  context.CancelFunc
}

func (w *counting) Header() http.Header { return w.header }
func (w *counting) WriteHeader(int)     {}
func (w *counting) Flush()              {}
func (w *counting) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	if bytes.Contains(p, w.last) {
		w.leave()
	}
	return len(p), nil
}

// BenchmarkReplay is how fast one observer gets a run's rows, each framed for the wire.
func BenchmarkReplay(b *testing.B) {
	const rows = 20_000
	api, _ := benchmarked(b, rows)
	b.ReportAllocs()
	for b.Loop() {
		ctx, leave := context.WithCancel(context.Background())
		w := &counting{header: http.Header{}, last: []byte("journal.caught_up"), leave: leave}
		api.Serve(w, httptest.NewRequest("GET", "/v1/runs/r/events", nil).WithContext(ctx), httpapi.Client{})
		leave()
		b.SetBytes(w.n)
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkIdleObservers is what one idle observer costs, with its connection and the server's goroutines for it; and what
// a connection costs whose handler does nothing but wait.
func BenchmarkIdleObservers(b *testing.B) {
	api, _ := benchmarked(b, 100)
	b.Run("api", func(b *testing.B) {
		idle(b, func(w http.ResponseWriter, r *http.Request) { api.Serve(w, r, httpapi.Client{}) })
	})
	b.Run("bare", func(b *testing.B) {
		idle(b, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "journal.caught_up\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
	})
}

func idle(b *testing.B, handler http.HandlerFunc) {
	const observers = 5000
	for b.Loop() {
		alone := runtime.NumGoroutine()
		network := make(pipes)
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(network) }()
		before := inUse()
		conns := make([]net.Conn, observers)
		for i := range conns {
			ours, theirs := net.Pipe()
			network <- theirs
			conns[i] = ours
			if _, err := io.WriteString(ours, "GET /v1/runs/r/events?cursor=101 HTTP/1.1\r\nHost: hub\r\n\r\n"); err != nil {
				b.Fatal(err)
			}
			readUntil(b, ours, "journal.caught_up")
		}
		b.ReportMetric(float64(inUse()-before)/observers, "B/observer")
		for _, c := range conns {
			c.Close()
		}
		_ = server.Close()
		for runtime.NumGoroutine() > alone {
			runtime.Gosched()
		}
	}
}

// readUntil reads the bytes of a stream until they hold a word.
func readUntil(b *testing.B, r io.Reader, word string) {
	b.Helper()
	var all []byte
	piece := make([]byte, 512)
	for !bytes.Contains(all, []byte(word)) {
		n, err := r.Read(piece)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, piece[:n]...)
	}
}

// inUse is the memory of the heap and of all stacks, after a collection.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
