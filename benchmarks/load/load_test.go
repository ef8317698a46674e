package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes-hub/configs"
)

// rig is a bench whose parts all live in the test. In the hub's place stands a yardstick inside of wrap.
func rig(t *testing.T, wrap func(http.Handler) http.Handler) *bench {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("/proc (this is %s)", runtime.GOOS)
	}
	u, err := listenUpstream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.close)
	over := httptest.NewServer(wrap(yardstick(&url.URL{Scheme: "http", Host: u.addr()})))
	t.Cleanup(over.Close)
	way := func(name, addr string) *target {
		return &target{name: name, addr: addr, path: "/v1/chat/completions", pid: os.Getpid()}
	}
	p := &parts{
		targets:     []*target{way(directName, u.addr()), way(hubName, over.Listener.Addr().String())},
		connections: func() (uint64, error) { return u.connections.Load(), nil },
		release:     func() error { u.releaseHeld(); return nil },
	}
	return &bench{parts: p, window: time.Nanosecond, progress: io.Discard}
}

// buffered makes a request's body the transport's own, without which the yardstick breaks an answer now and then.
func buffered(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// tiny are all kinds of scenarios; each client makes one call.
var tiny = []scenario{
	{Name: "whole", Clients: 3, ask: ask{size: small}, unit: "request"},
	{Name: "large", Clients: 2, ask: ask{size: large}, unit: "request"},
	{Name: "stream", Clients: 2, ask: ask{size: small, chunks: 20}, unit: "stream"},
	{Name: "paced", Clients: 2, ask: ask{size: small, chunks: 2, pace: time.Millisecond}, unit: "chunk"},
	{Name: "open", Clients: 2, Rate: 1000, ask: ask{size: small}, unit: "request"},
}

func TestRound(t *testing.T) {
	b := rig(t, buffered)
	samples, err := b.run(t.Context(), tiny, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(tiny) * 2 * 2; len(samples) != want {
		t.Fatalf("%d samples instead of %d", len(samples), want)
	}
	for _, s := range samples {
		if s.Figures[figCalls] < 1 || s.Figures[figP50] <= 0 || s.Figures[figRate] <= 0 || s.Figures[figResident] <= 0 {
			t.Errorf("%s, %s: %v", s.Scenario, s.Target, s.Figures)
		}
		if _, told := s.Figures[figAddedP50]; told != (s.Target == hubName && s.Unit != "chunk") {
			t.Errorf("%s, %s: added latency is told: %t", s.Scenario, s.Target, told)
		}
	}
}

func TestIdleStreams(t *testing.T) {
	b := rig(t, buffered)
	for _, way := range b.targets {
		s, err := b.idle(t.Context(), way, 5, 0)
		if err != nil || s.Figures[figCalls] != 5 {
			t.Errorf("%s: %v, %v", way.name, s, err)
		}
	}
}

// recorded lets edit change what the handler behind it answered.
func recorded(edit func(w http.ResponseWriter, body []byte)) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			buffered(h).ServeHTTP(rec, r)
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler) // the client has seen enough
			}
			w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
			edit(w, rec.Body.Bytes())
		})
	}
}

// A target that answers anything but the right bytes, all of them, ends the run, whatever flaw it is known for.
func TestWrongAnswersEndTheRun(t *testing.T) {
	f := func(name, want string, wrap func(http.Handler) http.Handler) {
		t.Helper()
		for _, flaw := range []string{"", "known to cut"} {
			b := rig(t, wrap)
			b.targets[1].flaw = flaw
			for i := range tiny[:3] {
				_, err := b.run(t.Context(), tiny[i:i+1], 1)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, %s: got %v, want %s", name, tiny[i].Name, err, want)
				}
			}
		}
	}
	f("another byte", "different from byte", recorded(func(w http.ResponseWriter, body []byte) {
		body[len(body)/2] ^= 1
		w.Write(body)
	}))
	f("a short answer", "different from byte", recorded(func(w http.ResponseWriter, body []byte) { w.Write(body[:len(body)-20]) }))
	f("the wrong request", "prompt of", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(bytes.Replace(body, []byte("text that"), []byte("test that"), 1)))
			h.ServeHTTP(w, r)
		})
	})
}

// A cut answer ends the run too, unless the target is known to cut some; if it cuts all, it ends the run all the same.
func TestCutAnswers(t *testing.T) {
	b := rig(t, recorded(func(w http.ResponseWriter, body []byte) {
		w.Header().Set("Content-Length", "100000")
		w.Write(body)
	}))
	if _, err := b.run(t.Context(), tiny[:1], 1); err == nil || !strings.Contains(err.Error(), "hub, call") || !strings.Contains(err.Error(), "answer cut: ") {
		t.Errorf("got %v", err)
	}
	b.targets[1].flaw = "it breaks"
	b.targets = b.targets[1:]
	b.window = time.Minute // it does not come to that
	if _, err := b.run(t.Context(), tiny[:1], 1); err == nil || !strings.Contains(err.Error(), "answers cut, more than its flaw explains (it breaks)") {
		t.Errorf("got %v", err)
	}
}

// What the file says must all be known, and be in effect.
func TestHubFile(t *testing.T) {
	text, err := hubText("127.0.0.1:9", "content")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := configs.Parse("hub.yaml", text, func(string) string { return "" })
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if found := cfg.Findings(); len(found) > 0 {
		t.Errorf("findings: %v", found)
	}
}

// A child says where it serves, counts, and ends when its parent is gone.
func TestChild(t *testing.T) {
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(t.Context(), []string{upstreamChild}, in, out, io.Discard) }()
	p := &process{name: upstreamChild, in: ask, out: bufio.NewReader(answers)}
	if err := p.readAddress(); err != nil {
		t.Fatal(err)
	}
	one := newClient(&target{name: directName, addr: p.addr, path: "/v1/chat/completions"}, 0)
	defer one.close()
	for number := range 3 {
		if err := one.do(t.Context(), call{ask: tiny[0].ask, number: number}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := p.ask(askCounts)
	if err != nil || c.Connections != 1 || c.Count == 0 || c.Bytes == 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := p.ask(askRelease); err != nil {
		t.Error(err)
	}
	ask.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
