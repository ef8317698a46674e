package proxy

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// closings counts what becomes of an upstream's connections.
type closings struct {
	mu    sync.Mutex
	state map[http.ConnState]int
}

func (c *closings) count(s http.ConnState) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state[s]
}

// A reload leaves the connections of an account alone as long as they fit. An account that is gone gives its idle ones up;
// one whose proxy or connect timeout is another gets new ones, and no call is the worse for it.
func TestReloadAndConnections(t *testing.T) {
	seen := &closings{state: map[http.ConnState]int{}}
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`))
	}))
	up.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		seen.state[s]++
	}
	up.Start()
	defer up.Close()
	s := setup{
		accounts: []simulator.Account{{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}}},
		profiles: func(ps []router.Profile) { ps[0].BaseURL = up.URL + "/v1" },
	}
	r := newRig(t, s)
	closed := func(want int) {
		t.Helper()
		for range 400 {
			if seen.count(http.StateClosed) == want {
				return
			}
			time.Sleep(5 * time.Millisecond) // the upstream's side of a connection notices when it does
		}
		t.Errorf("%d connections closed, want %d", seen.count(http.StateClosed), want)
	}
	f := func(opened int) {
		t.Helper()
		r.want(r.chat(ask), "200 profile=a attempts=1")
		if n := seen.count(http.StateNew); n != opened {
			t.Errorf("%d connections opened, want %d", n, opened)
		}
	}
	cfg := r.proxy.settings.Load().Config
	f(1)
	f(1)
	r.router.Swap(r.table(s, "http://127.0.0.1:9/v1"))
	r.proxy.Configure(cfg)
	f(1)
	cfg.ConnectTimeout++
	r.proxy.Configure(cfg)
	closed(1)
	f(2)

	r.router.Swap(r.table(setup{accounts: []simulator.Account{{Name: "b", Key: "sk-upstream-b", Models: []string{"sim-1"}}}}, up.URL+"/v1"))
	r.proxy.Configure(cfg)
	closed(2)
}
