package admin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/admin/hub"
	"hermes-hub/router"
)

// busy is a plane over the picture of 500 accounts, and what takes in news of them and publishes.
func busy(b *testing.B) (s *show, publish func()) {
	b.Helper()
	var profiles []router.Profile
	var chain []router.ChainItem
	for i := range 500 {
		id := fmt.Sprintf("account-%03d", i)
		profiles = append(profiles, router.Profile{ID: id, Enabled: true, Provider: router.Provider{ID: "openai-codex", Name: "Codex"}, PreferredModels: []string{"gpt-5.5"}, Credential: router.NewSecret(id)})
		chain = append(chain, router.ChainItem{Profile: id})
	}
	table, err := router.NewTable(profiles, []router.Role{{ID: "main", Chain: chain}}, router.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	counter, err := hub.OpenCounter(b.Context(), hub.CounterOptions{NewEpoch: func() string { return "e1" }})
	if err != nil {
		b.Fatal(err)
	}
	store := hub.NewStore(b.Context(), hub.StoreOptions{
		Collect: func(context.Context) hub.Sources { return hub.Sources{Router: router.NewSnapshot(table)} }, Sequence: counter,
	})
	s = newShow(b, func(o *Options) { o.Picture.Store = store })
	return s, func() {
		if err := store.Complete(b.Context(), store.Begin(b.Context(), hub.KeyAll)); err != nil {
			b.Error(err)
		}
	}
}

// sink is a reader who takes everything at once.
type sink struct {
	header  http.Header
	written int
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Write(p []byte) (int, error) {
	s.written += len(p)
	return len(p), nil
}

// WriteString implements io.StringWriter, as net/http's writer does.
func (s *sink) WriteString(p string) (int, error) {
	s.written += len(p)
	return len(p), nil
}

// The contract's number is 5 ms at the 99th percentile, for 500 accounts, while a refresh runs (S14).
func BenchmarkSnapshotWhileRefreshing(b *testing.B) {
	s, publish := busy(b)
	publish()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			publish()
			select {
			case <-stop:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	var took []time.Duration
	for b.Loop() {
		w := &sink{header: http.Header{}}
		r := httptest.NewRequest(http.MethodGet, "/admin/v1/snapshot", nil)
		r.Host = "127.0.0.1:7401"
		r.Header.Set("Authorization", strings.TrimPrefix(s.viewer, "Authorization: "))
		began := time.Now()
		if s.Handler().ServeHTTP(w, r); w.written < 500_000 {
			b.Fatalf("%d bytes", w.written)
		}
		took = append(took, time.Since(began))
	}
	close(stop)
	<-stopped
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1e3, "p99-ms")
}

// The contract's number is 30 MB for 1,000 subscribers; their own ends are in the same process here, and count too.
func BenchmarkThousandSubscribers(b *testing.B) {
	const subscribers = 1000
	for b.Loop() {
		s, publish := busy(b)
		s.Admin.now = time.Now
		s.AllowHosts([]string{"127.0.0.1"})
		server := httptest.NewServer(s.Handler())
		publish()
		before := inUse()
		conns := make([]net.Conn, subscribers)
		first := make([]byte, 12)
		for i := range conns {
			ticket, _ := s.tickets.give(time.Now())
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			fmt.Fprintf(c, "GET /admin/v1/events?ticket=%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", ticket)
			if _, err := io.ReadFull(c, first); err != nil || !strings.HasSuffix(string(first), "200") {
				b.Fatalf("%q %v", first, err)
			}
			conns[i] = c
		}
		publish()
		b.ReportMetric(float64(inUse()-before)/subscribers/1e3, "KB/subscriber")
		for _, c := range conns {
			c.Close()
		}
		s.Close()
		server.Close()
	}
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
