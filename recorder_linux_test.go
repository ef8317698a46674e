package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy"
	"hermes-hub/router"
	"hermes-hub/runs"
	"hermes-hub/runs/memstore"
	"hermes-hub/runs/redact"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/telemetry"
)

// BenchmarkRecording (X04) is what it costs to keep calls: the processor time of the whole process, a request, with every
// depth and store beside none, over sockets. A round measures all of them; run it with -benchtime=9x, and read the ratios.
func BenchmarkRecording(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 {
			_, _ = w.Write(recordedPieces)
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer upstream.Close()
	type mode struct {
		name string
		url  string
		each []float64 // µs a request, a round
	}
	modes := []*mode{}
	for _, m := range []struct {
		name  string
		depth proxy.Depth
		store runs.Store
	}{
		{"off", proxy.KeepNothing, nil},
		{"facts-mem", proxy.KeepFacts, &memstore.Store{}},
		{"facts-sqlite", proxy.KeepFacts, openBenchStore(b)},
		{"words-mem", proxy.KeepWords, &memstore.Store{}},
		{"words-sqlite", proxy.KeepWords, openBenchStore(b)},
	} {
		modes = append(modes, &mode{name: m.name, url: recordingHub(b, upstream.URL, m.depth, m.store)})
	}
	const requests = 300
	body := `{"model":"gpt-5.5","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 80) + `"}]}`
	for i := 0; b.Loop(); i++ {
		for n := range modes {
			m := modes[(n+i)%len(modes)]
			askMany(b, m.url, body, requests/10)
			before := processorTime(b)
			askMany(b, m.url, body, requests)
			m.each = append(m.each, float64((processorTime(b)-before).Microseconds())/requests)
		}
	}
	for _, m := range modes {
		ratios := make([]float64, len(m.each))
		for i := range ratios {
			ratios[i] = m.each[i] / modes[0].each[i]
		}
		slices.Sort(ratios)
		slices.Sort(m.each)
		b.Logf("%-13s %6.0f µs (%.0f–%.0f)  × %.3f (%.3f–%.3f)", m.name, m.each[len(m.each)/2], m.each[0], m.each[len(m.each)-1],
			ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
		b.ReportMetric(ratios[len(ratios)/2], "×-"+m.name)
	}
}

// recordedPieces are ten chunks of a stream.
var recordedPieces = bytes.Repeat([]byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5.5","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`+"\n\n"), 10)

func openBenchStore(b *testing.B) runs.Store {
	b.Helper()
	db, err := sqlitestore.Open(b.Context(), filepath.Join(b.TempDir(), "hub.db"), sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db.Runs()
}

// recordingHub is a proxy plane with everything on whose calls leave so much in the store.
func recordingHub(b *testing.B, upstream string, depth proxy.Depth, store runs.Store) string {
	b.Helper()
	compatible, _ := router.ProviderByID("openai-compatible")
	table, err := router.NewTable([]router.Profile{{
		ID: "a", Provider: compatible, Enabled: true, BaseURL: upstream, Protocol: router.ProtocolChat,
		PreferredModels: []string{"gpt-5.5"}, MaxConcurrency: 100, Credential: router.NewSecret("sk-a"),
	}}, []router.Role{{ID: "main", Chain: []router.ChainItem{{Profile: "a"}}, Affinity: true}},
		router.Settings{Failover: true, DefaultRole: "main", AffinityTTL: time.Hour, Protocols: proxy.Protocols()})
	if err != nil {
		b.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	o := proxy.Options{
		Config: proxy.Config{
			Keys:         []proxy.Key{{Name: "bench", Secret: router.NewSecret("key")}},
			MaxBodyBytes: 64 << 20, RequestTimeout: time.Minute, CommitDeadline: time.Minute, ConnectTimeout: time.Second,
			FirstTokenTimeout: time.Minute, IdleTimeout: time.Minute, Record: depth,
		},
		Router: router.New(table, router.Options{}), Trails: &router.Trails{}, Logger: log, Version: "bench", Ready: http.NotFoundHandler(),
		Telemetry: newLedger(telemetry.NewMetrics(telemetry.NewRegistry(), labels(table), telemetry.Build{}), nil, telemetry.NewWindow(telemetry.WindowOptions{}), log),
	}
	if store != nil {
		r := redact.New(nil)
		j := runs.New(runs.Options{
			Store: store, Instance: "bench", Redact: func(_ runs.Type, payload json.RawMessage) json.RawMessage { return r.JSON(payload) },
		})
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- j.Run(ctx) }()
		b.Cleanup(func() {
			stop()
			if err := <-done; err != nil {
				b.Error(err)
			}
		})
		o.Recorder = newCallRecorder(j, r.Text, log)
	}
	hub := httptest.NewServer(proxy.New(o).Handler())
	b.Cleanup(hub.Close)
	return hub.URL
}

// askMany asks so many times, four at a time.
func askMany(b *testing.B, url, body string, n int) {
	b.Helper()
	askers := make(chan error, 4)
	for range cap(askers) {
		go func() {
			for range n / cap(askers) {
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
				if err != nil {
					askers <- err
					return
				}
				req.Header.Set("Authorization", "Bearer key")
				req.Header.Set("X-Hub-Session", "s")
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					askers <- err
					return
				}
				_, err = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if err != nil {
					askers <- err
					return
				}
			}
			askers <- nil
		}()
	}
	for range cap(askers) {
		if err := <-askers; err != nil {
			b.Fatal(err)
		}
	}
}

// processorTime is what the process has used of the processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
