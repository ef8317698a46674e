package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/oracle"
	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// pipes is a network in memory, for a bubble: what is dialled on one side is accepted on the other. Unlike a recorder it
// shows a client how an answer arrives, and how it ends.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// serve puts a real server in front of a rig in a bubble, and returns the way to it.
func (r *rig) serve() *pipes {
	r.t.Helper()
	p := newPipes()
	server := &http.Server{Handler: r.proxy.Handler()}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(p); !errors.Is(err, http.ErrServerClosed) {
			r.t.Errorf("serve: %v", err)
		}
	})
	r.t.Cleanup(func() { server.Close(); p.Close(); serving.Wait() })
	return p
}

// raw sends bytes to the hub and reads one answer.
func (r *rig) raw(request string) reply {
	r.t.Helper()
	conn, err := r.serve().dial(r.t.Context(), "", "")
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(body), err}
}

// hermes is a fake Hermes in front of a rig in a bubble.
func (r *rig) hermes(base string) *oracle.Agent {
	transport := &http.Transport{DialContext: r.serve().dial, DisableCompression: true, MaxIdleConnsPerHost: -1}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &oracle.Agent{BaseURL: "http://hub.test" + base, Key: "key-hermes", Transport: transport}
}

// turn makes one turn. That it cannot be made at all is a failure of the test.
func (r *rig) turn(a *oracle.Agent, q oracle.Request) oracle.Turn {
	r.t.Helper()
	t, err := a.Turn(r.t.Context(), q)
	if err != nil {
		r.t.Fatalf("%s: %v", q.Name, err)
	}
	return t
}

// Every kind of call that Hermes makes gets a whole answer, and what Hermes put into it reaches the account as it was:
// reasoning that is sent back, details nobody here knows, tool results that are lists.
func TestHermesRequests(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		a := r.hermes("/r/main/v1")
		for _, q := range oracle.Requests("main") {
			got := r.turn(a, q)
			want := "complete finish=stop usage requests=1"
			if got.String() != want || got.Text == "" {
				t.Errorf("%s: got %s, want %s", q.Name, got, want)
			}
			calls := r.sim.Calls("a")
			sent, seen := q.Body(q.Stream, true), calls[len(calls)-1].Body
			for _, member := range []string{"messages", "tools", "reasoning_effort", "stream_options", "max_completion_tokens", "temperature"} {
				if was, is := gjson.GetBytes(sent, member).Raw, gjson.GetBytes(seen, member).Raw; was != is {
					t.Errorf("%s: %s became %.200s, was %.200s", q.Name, member, is, was)
				}
			}
		}
		if a.Learned != (oracle.Learned{}) {
			t.Errorf("Hermes learned %+v", a.Learned)
		}
		r.settle()
	})
}

// Ten sub-agents and their parent stream at once under one affinity key, as Hermes' delegation does. The account that the
// conversation is bound to serves all of them. Where accounts have few slots the burst goes on to others, and then waits its
// turn; nobody is refused, and nobody's library comes again.
func TestHermesSubAgents(t *testing.T) {
	f := func(slots int, calls string) {
		t.Helper()
		s := setup{
			config: func(c *Config) { c.LeaseWait = 10 * time.Second },
			profiles: func(ps []router.Profile) {
				for i := range ps {
					ps[i].MaxConcurrency = slots
				}
			},
		}
		for _, name := range []string{"a", "b", "c"} {
			s.accounts = append(s.accounts, simulator.Account{Name: name, Key: "sk-" + name, Models: []string{"sim-1"}, ChunkPace: 100 * time.Millisecond})
		}
		bubble(t, s, func(t *testing.T, r *rig) {
			first := r.hermes("/r/main/v1")
			first.Header = http.Header{"X-Hub-Session": {"conversation"}}
			r.turn(first, oracle.Requests("main")[0])
			var all sync.WaitGroup
			for range 10 {
				a := *first
				all.Go(func() {
					got, err := a.Turn(t.Context(), oracle.Requests("main")[0])
					if err != nil || got.String() != "complete finish=stop usage requests=1" {
						t.Errorf("%d slots: %s, %v", slots, got, err)
					}
				})
			}
			all.Wait()
			if calls != "" {
				r.wantCalls(calls)
			}
			r.settle()
		})
	}
	f(0, "a=11 b=0 c=0")
	f(2, "")
}

// The probes that Hermes sends to an endpoint on a local host find no other server's signs, only JSON and at once, and
// its models with their exact names and windows, of a role the smallest of its accounts.
func TestHermesProbes(t *testing.T) {
	bubble(t, setup{profiles: windows(200_000, 128_000, 0)}, func(t *testing.T, r *rig) {
		for _, base := range []string{"/v1", "/r/main/v1"} {
			a := r.hermes(base)
			began := time.Now()
			p, err := a.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p.Server != "" || p.Catalogue.LlamaCPP {
				t.Errorf("%s: taken for %q", base, p.Server)
			}
			for _, line := range p.Asked[:5] {
				if !strings.HasSuffix(line, " 404 application/json") {
					t.Errorf("%s: %s", base, line)
				}
			}
			if len(p.Asked) != 6 || time.Since(began) != 0 {
				t.Errorf("%s: asked %q in %s", base, p.Asked, time.Since(began))
			}
			for _, model := range []string{"main", "sim-1", "sim-2"} {
				if w, exact := p.Catalogue.Window(model); w != 128_000 || !exact || w < oracle.SmallestWindow {
					t.Errorf("%s: %s has a window of %d, exact %v, of %v", base, model, w, exact, p.Catalogue.IDs)
				}
			}
		}
		r.wantCalls("a=0 b=0 c=0")
	})
}
