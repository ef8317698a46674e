package simulator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
)

// reports collects what a strict provider reports.
type reports struct {
	mu   sync.Mutex
	text []string
}

func (r *reports) Helper() {}

func (r *reports) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, fmt.Sprintf(format, args...))
}

// TestConcurrency proves that one call too many is refused, reported, and seen in the peak (L02's measure).
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := accountA
		a.MaxConcurrent, a.Latency = 2, time.Minute
		p := simulator.New(a)
		c := client{p, p, "http://simulator/v1"}
		var said reports
		p.Strict(&said)
		var asking sync.WaitGroup
		for range 2 {
			asking.Go(func() { _, _, _ = c.ask(t, plainBody) })
		}
		synctest.Wait()
		if p.InFlight("a") != 2 || p.Peak("a") != 2 || len(said.text) != 0 {
			t.Errorf("%d in flight, peak %d, reported %q; want 2, 2, nothing", p.InFlight("a"), p.Peak("a"), said.text)
		}
		resp, body, err := c.ask(t, plainBody)
		if err != nil || resp.StatusCode != 429 {
			t.Fatalf("the third call got %v %s %v, want 429", resp, body, err)
		}
		if want := `simulator: account "a" has 2 calls in flight and MaxConcurrent is 2: one more came`; len(said.text) != 1 || said.text[0] != want {
			t.Errorf("reported %q, want %q", said.text, want)
		}
		asking.Wait()
		if p.InFlight("a") != 0 || p.Peak("a") != 3 || p.Total("a") != 3 {
			t.Errorf("%d in flight, peak %d, total %d; want 0, 3, 3", p.InFlight("a"), p.Peak("a"), p.Total("a"))
		}
		if _, _, err := c.ask(t, `{}`); err != nil || len(said.text) != 2 {
			t.Errorf("a call without a model: %v, reported %q; want it reported", err, said.text)
		}
	})
}

// TestNeverOneTooMany proves that a client that starts a call as soon as it saw the end of another never exceeds a limit it
// keeps to: a call leaves the count before its end can be seen, however it ends. The clock is slow, so that a call that
// left late would be seen in flight.
func TestNeverOneTooMany(t *testing.T) {
	for _, info := range simulator.Steps() {
		if strings.HasPrefix(string(info.Name), "stall") || info.Name == simulator.Hang {
			continue // they end when the client leaves
		}
		for _, body := range []string{plainBody, streamBody} {
			synctest.Test(t, func(t *testing.T) {
				p := simulator.New(accountA)
				p.Now = func() time.Time { time.Sleep(time.Second); return time.Now() } // virtual
				p.Push("a", info.Name)
				_, _, _ = client{p, p, "http://simulator/v1"}.ask(t, body) // how it ends is of no interest
				if p.InFlight("a") != 0 {
					t.Errorf("step %q is in flight after its end was seen", info.Name)
				}
			})
		}
	}
}

// TestScript proves the order of steps, and what Push and Reset do to it.
func TestScript(t *testing.T) {
	a := accountA
	a.Script = []simulator.Step{simulator.Status(401, "", nil), simulator.Status(402, "", nil)}
	bothWays(t, func(t *testing.T, c client) {
		c.Push("a", simulator.Status(403, "", nil))
		f := func(want ...int) {
			t.Helper()
			for _, status := range want {
				if resp, _, err := c.ask(t, plainBody); err != nil || resp.StatusCode != status {
					t.Fatalf("got %v %v, want %d", resp, err, status)
				}
			}
		}
		f(401, 402, 403, 200, 200)
		c.Push("a", simulator.Conflict, simulator.Conflict)
		f(409)
		c.Reset("a", simulator.TooLarge)
		f(413, 200)
		if calls := c.Calls("a"); len(calls) != 2 || calls[0].Step != "413" || calls[1].Step != "normal" || c.Total("a") != 2 || c.Peak("a") != 1 {
			t.Errorf("after Reset: calls %+v, total %d, peak %d", calls, c.Total("a"), c.Peak("a"))
		}
	}, a)
}

// TestCalls proves what is remembered of a call, and for how long.
func TestCalls(t *testing.T) {
	bothWays(t, func(t *testing.T, c client) {
		c.Keep = 2
		for i := range 3 {
			req := c.request(t.Context(), t, plainBody)
			req.URL.RawQuery = fmt.Sprint("n=", i)
			req.Header["X-Own"] = []string{"one", "two"}
			if _, _, err := c.do(req); err != nil {
				t.Fatal(err)
			}
		}
		calls := c.Calls("a")
		if len(calls) != 2 || c.Total("a") != 3 {
			t.Fatalf("%d calls of %d remembered, want 2 of 3", len(calls), c.Total("a"))
		}
		call := calls[1]
		got := fmt.Sprintln(call.Account, call.Method, call.Path, call.Header["X-Own"], call.Header.Get("Authorization"), call.Model, call.Stream, call.Step, call.Status, call.Cancelled, string(call.Body))
		if want := fmt.Sprintln("a POST /v1/chat/completions?n=2 [one two] Bearer sk-a gpt-5.5 false normal 200 false", plainBody); got != want {
			t.Errorf("the call is\n%swant\n%s", got, want)
		}
		if call.Start.IsZero() || call.End.Before(call.Start) {
			t.Errorf("the call is from %v to %v", call.Start, call.End)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.WaitCancelled(ctx, "a", 1); !errors.Is(err, context.Canceled) || err.Error() != `simulator: wait for 1 cancelled calls of account "a": context canceled` {
			t.Errorf("waiting for what does not come: %v", err)
		}
	}, accountA)
}

// TestCloseEndsCalls proves that a provider's end is the end of the calls it is answering, and leaves nothing running.
func TestCloseEndsCalls(t *testing.T) {
	f := func(name string, test func(t *testing.T, p *simulator.Provider) (rt http.RoundTripper, base string, end func())) {
		t.Run(name, func(t *testing.T) {
			p := simulator.New(accountA)
			rt, base, end := test(t, p)
			p.Push("a", simulator.Hang)
			var asked sync.WaitGroup
			asked.Go(func() {
				if _, _, err := (client{p, rt, base}).ask(t, plainBody); err == nil {
					t.Error("the call that hangs ended without an error")
				}
			})
			if err := p.WaitCalls(t.Context(), "a", 1); err != nil {
				t.Fatal(err)
			}
			end()
			end() // is nothing
			asked.Wait()
			if p.InFlight("a") != 0 {
				t.Errorf("%d calls in flight after the end", p.InFlight("a"))
			}
			if _, _, err := (client{p, rt, base}).ask(t, plainBody); err == nil {
				t.Error("a call after the end was answered")
			}
		})
	}

	f("memory", func(_ *testing.T, p *simulator.Provider) (http.RoundTripper, string, func()) {
		return p, "http://simulator/v1", p.Close
	})
	f("tcp", func(t *testing.T, p *simulator.Provider) (http.RoundTripper, string, func()) {
		base, closeAll, err := p.Listen()
		if err != nil {
			t.Fatal(err)
		}
		return &http.Transport{}, base, closeAll
	})
}

// TestConnections proves what is not a matter of one call: connections are kept, a path names an account, a client that
// asks before it sends a body is told to go on, and what is not HTTP is refused.
func TestConnections(t *testing.T) {
	p := simulator.New(accountA, simulator.Account{Name: "b", Key: "sk-b"})
	base, closeAll, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll()
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	f := func(send, want string) {
		t.Helper()
		if _, err := io.WriteString(conn, send); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	}
	p.Push("a", simulator.Raw("")) // not played: the calls below are b's

	head := "POST /v1/b/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-b\r\nContent-Type: application/json\r\n"
	p.Push("b", simulator.AnyStatus.After(204), simulator.NoContent)
	f(head+fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(plainBody)), "HTTP/1.1 100 Continue\r\n\r\n")
	f(plainBody, "HTTP/1.1 204 No Content\r\n")
	drain(t, conn)
	f(head+fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(plainBody), plainBody), "HTTP/1.1 204 No Content\r\n")
	drain(t, conn)
	f("no HTTP\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n")
	if p.Total("a") != 0 || p.Total("b") != 2 {
		t.Errorf("a was called %d times and b %d times, want 0 and 2", p.Total("a"), p.Total("b"))
	}
}

// drain reads the rest of a head and the body that its length promises.
func drain(t *testing.T, conn net.Conn) {
	t.Helper()
	var head strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(head.String(), "\r\n\r\n") {
		if _, err := io.ReadFull(conn, b); err != nil {
			t.Fatal(err)
		}
		head.Write(b)
	}
	length := 0
	if _, text, found := strings.Cut(head.String(), "Content-Length: "); found {
		if _, err := fmt.Sscan(text, &length); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.CopyN(io.Discard, conn, int64(length)); err != nil {
		t.Fatal(err)
	}
}

// TestMistakesOfTheProgram proves that they do not pass in silence.
func TestMistakesOfTheProgram(t *testing.T) {
	f := func(want string, mistake func()) {
		t.Helper()
		defer func() {
			if got := fmt.Sprint(recover()); got != want {
				t.Errorf("panicked with %q, want %q", got, want)
			}
		}()
		mistake()
	}
	p := simulator.New(accountA)

	f(`simulator: no account "x"`, func() { p.Push("x") })
	f(`simulator: no account "x"`, func() { p.Calls("x") })
	f(`simulator: no step "cut"`, func() { p.Push("a", simulator.StepName("cut")) })
	f(`simulator: step "hang" takes no argument, got "3"`, func() { p.Reset("a", simulator.Hang.After(3)) })
	f(`simulator: no step "?"`, func() { simulator.New(simulator.Account{Name: "a", Script: []simulator.Step{simulator.StepName("?")}}) })
	f(`simulator: account "": its name is empty, or its name or key is taken`, func() { simulator.New(simulator.Account{}) })
	f(`simulator: account "a": its name is empty, or its name or key is taken`, func() { simulator.New(accountA, simulator.Account{Name: "a"}) })
	f(`simulator: account "b": its name is empty, or its name or key is taken`, func() { simulator.New(accountA, simulator.Account{Name: "b", Key: "sk-a"}) })
}
