package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// P29, L03 over real sockets: a client that resets its connection, at every point of a request's life. Its upstream call is
// cancelled, its slot is free, nobody thinks the worse of the account, nobody else is called, and nothing of it is left.
func TestClientResets(t *testing.T) {
	for _, c := range []struct {
		name, say  string
		step       simulator.Step
		point      func(*rig, net.Conn) // waits until the request is there
		outcome    string
		calls      string
		unfinished bool // the upstream's call was not over
	}{
		{"before the body's end", post(ask)[:len(post(ask))-5], simulator.Normal, inside, "client_closed", "a=0 b=0 c=0", false},
		{"waiting for the head of an answer", post(ask), simulator.Hang, called(0), "client_closed", "a=1 b=0 c=0", true},
		{"waiting for the rest of an answer", post(ask), simulator.Stall, called(200), "client_closed", "a=1 b=0 c=0", true},
		{"waiting for the head of a stream", post(askStream), simulator.Hang, called(0), "client_closed", "a=1 b=0 c=0", true},
		{"waiting for the first token", post(askStream), simulator.SlowFirstToken.For(time.Hour), called(200), "client_closed", "a=1 b=0 c=0", true},
		{"in the middle of a stream", post(askStream), simulator.Stall, heard("data: "), "client_closed", "a=1 b=0 c=0", true},
		{"after the last byte", post(askStream), simulator.Normal, heard("0\r\n\r\n"), "success", "a=1 b=0 c=0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			steady(t)
			r := newRig(t, setup{})
			r.sim.Push("a", c.step)
			conn := r.dial()
			r.say(conn, c.say)
			c.point(r, conn)
			r.reset(conn)
			if c.unfinished {
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				if err := r.sim.WaitCancelled(ctx, "a", 1); err != nil {
					t.Fatal(err)
				}
			}
			r.ended(1, c.outcome)
			r.wantCalls(c.calls)
			r.blameless()
		})
	}
}

// inside waits until the hub has begun to serve a request.
func inside(r *rig, _ net.Conn) {
	r.until("a request", func() bool {
		r.told.mu.Lock()
		defer r.told.mu.Unlock()
		return r.told.inflight == 1
	})
}

// called waits until account a has been called, and has answered with a head if a status is given.
func called(status int) func(*rig, net.Conn) {
	return func(r *rig, _ net.Conn) {
		r.waitCalls("a", 1)
		r.until("the head of an answer", func() bool { return r.sim.Calls("a")[0].Status == status })
	}
}

// heard waits until the client has got a text.
func heard(text string) func(*rig, net.Conn) {
	return func(r *rig, c net.Conn) {
		r.t.Helper()
		var got strings.Builder
		for buf := make([]byte, 4096); !strings.Contains(got.String(), text); {
			n, err := c.Read(buf)
			got.Write(buf[:n])
			if err != nil {
				r.t.Fatalf("%v after %q", err, got.String())
			}
		}
	}
}

// P29, during the dial: the client's end ends the waiting for a connection that does not come, long before its own limit.
func TestClientResetsDuringTheDial(t *testing.T) {
	full := fullBacklog(t)
	if full == "" {
		t.Skip("full backlog (only Linux lets a dial hang on the loopback interface)")
	}
	steady(t)
	s := behind(full)
	s.config = func(c *Config) { c.ConnectTimeout, c.FirstTokenTimeout = time.Hour, time.Hour }
	r := newRig(t, s)
	conn := r.dial()
	r.say(conn, post(askStream))
	r.until("a lease", func() bool { return len(r.router.Leases()) == 1 })
	r.reset(conn)
	r.ended(1, "client_closed")
	r.wantCalls("a=0 b=0 c=0")
	r.blameless()
}

// P29, by the clock: from the moment at which the client is gone until the upstream is cancelled and the slot is free no
// time passes at all, wherever the request is.
func TestClientGoneAtOnce(t *testing.T) {
	f := func(name string, v voice, body string, step simulator.Step) {
		t.Run(v.name()+" "+name, func(t *testing.T) {
			bubble(t, v.over(setup{}), func(t *testing.T, r *rig) {
				dial := r.inMemory()
				r.sim.Push("a", step)
				client := dial()
				go func() { _, _ = io.WriteString(client, postTo(v.path, body)) }()
				go func() { _, _ = io.Copy(io.Discard, client) }()
				time.Sleep(3 * time.Second)
				if held := len(r.router.Leases()); held != 1 || r.sim.InFlight("a") != 1 {
					t.Fatalf("%d leases, %d calls", held, r.sim.InFlight("a"))
				}
				closed := time.Now()
				client.Close()
				synctest.Wait()
				if held := len(r.router.Leases()); held != 0 || r.sim.InFlight("a") != 0 || time.Since(closed) != 0 {
					t.Errorf("%d leases, %d calls after %s", held, r.sim.InFlight("a"), time.Since(closed))
				}
				r.ended(1, "client_closed")
				r.blameless()
			})
		})
	}
	for _, v := range voices() {
		f("head of an answer", v, v.plain, simulator.Hang)
		f("rest of an answer", v, v.plain, simulator.Stall)
		f("head of a stream", v, v.streamed, simulator.Hang)
		f("first token", v, v.streamed, simulator.SlowFirstToken.For(time.Hour))
		f("middle of a stream", v, v.streamed, simulator.Stall)
	}
}

// inMemory serves the hub to clients without a network, in a bubble, until the test ends. The func makes a client's
// connection: what is not read from it is not taken from the hub.
func (r *rig) inMemory() (dial func() net.Conn) {
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: r.proxy.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }() // it ends by being closed
	r.t.Cleanup(func() { server.Close(); <-done })
	return func() net.Conn {
		near, far := net.Pipe()
		l.conns <- far
		r.t.Cleanup(func() { near.Close() })
		return near
	}
}

type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{} }

// megabyte answers with more than every buffer on the way holds.
func megabyte(pace time.Duration) setup {
	text := strings.Repeat("word ", 1<<20/5)
	return setup{accounts: []simulator.Account{
		{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}, ChunkPace: pace, Answer: simulator.Say(text)},
	}}
}

// E02: a client that stops reading is dropped when one write has been blocked for the write deadline: its upstream call is
// cancelled, its slot is free, and the account is not blamed. Where there is nothing to write, a heartbeat finds it out.
//
// The whole answer is a regression: it was written without a deadline, with the slot held, so that a client that asked for
// a long one and did not read it kept the account's slot for ever.
func TestSlowReader(t *testing.T) {
	words := setup{
		accounts: []simulator.Account{{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}, ChunkPace: time.Second}},
		config:   func(c *Config) { c.IdleTimeout = time.Minute }, // longer than it takes to find out
	}
	f := func(name string, s setup, body string, step simulator.Step, slot, end time.Duration) {
		t.Run(name, func(t *testing.T) {
			bubble(t, s, func(t *testing.T, r *rig) {
				dial := r.inMemory()
				r.sim.Push("a", step)
				client := dial()
				if _, err := io.WriteString(client, post(body)); err != nil {
					t.Fatal(err)
				}
				if body == askStream {
					heard("data: ")(r, client)
				}
				synctest.Wait()
				began := time.Now()
				elapsed := func(holds func() bool) time.Duration {
					for range 600 {
						if holds() {
							break
						}
						time.Sleep(time.Second)
						synctest.Wait()
					}
					return time.Since(began)
				}
				if took := elapsed(func() bool { return len(r.router.Leases()) == 0 }); took != slot {
					t.Errorf("the slot was held for %s, want %s", took, slot)
				}
				if took := elapsed(func() bool { r.told.mu.Lock(); defer r.told.mu.Unlock(); return r.told.inflight == 0 }); took != end {
					t.Errorf("the request ended after %s, want %s", took, end)
				}
				r.ended(1, "client_closed")
				r.blameless()
				if _, err := io.Copy(io.Discard, client); err != nil {
					t.Errorf("the connection was not closed: %v", err)
				}
			})
		})
	}
	f("a stream", words, askStream, simulator.Normal, writeStall+time.Second, writeStall+time.Second)
	f("a silent stream", words, askStream, simulator.Stall.After(1), heartbeatEvery+writeStall, heartbeatEvery+writeStall)
	f("a whole answer", megabyte(0), ask, simulator.Normal, 0, writeStall)
}

// E02, errors: a client that asks and asks, and reads none of the refusals, loses its connection.
//
// Regression: a refusal had no write deadline, so that such a client kept a goroutine and a descriptor for ever.
func TestRefusalNobodyReads(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		client := r.inMemory()()
		if _, err := io.WriteString(client, post("[]")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(writeStall + time.Second)
		synctest.Wait()
		if rest, err := io.ReadAll(client); len(rest) != 0 || err != nil {
			t.Errorf("the connection is still there: %q, %v", rest, err)
		}
	})
}

// A client that reads slowly, but reads, gets everything: the write deadline is one piece's and not the answer's, and what
// it takes to read is not the account's silence.
//
// Regressions: an event of a stream was one write, so that a large one had to be read within the deadline; and the idle
// clock ran on meanwhile, cut the stream and blamed the account.
func TestSlowReaderGetsAll(t *testing.T) {
	huge := `data: {"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("word ", 1<<20/5) + `"}}]}` + "\n\n"
	for _, body := range []string{ask, askStream} {
		s := megabyte(0)
		s.config = func(c *Config) { c.RequestTimeout = 24 * time.Hour }
		bubble(t, s, func(t *testing.T, r *rig) {
			if body == askStream {
				r.sim.Push("a", simulator.Stream(huge, chunkFinish+chunkDone))
			}
			dial := r.inMemory()
			client := dial()
			go func() { _, _ = io.WriteString(client, post(body)) }()
			res, err := http.ReadResponse(bufio.NewReaderSize(sleepy{client}, 64<<10), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			if words := strings.Count(string(text), "word "); err != nil || words < 1<<20/5 {
				t.Errorf("%d words, %v", words, err)
			}
			r.ended(1, "success")
			r.blameless()
		})
	}
}

// sleepy is a connection that is read from after a rest.
type sleepy struct{ net.Conn }

func (s sleepy) Read(b []byte) (int, error) {
	time.Sleep(5 * time.Second)
	return s.Conn.Read(b)
}

// E02 over real sockets, whose buffers swallow megabytes before a write blocks: the deadline is set on the connection, and
// what it ends is told as the client's doing. The deadlines of this server's connections pass a hundred times as fast.
func TestSlowReaderOnTheWire(t *testing.T) {
	steady(t)
	event := []byte("data: " + `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat("x", 32<<10) + `"}}]}` + "\n\n")
	stopped := make(chan struct{}, 1)
	up := upstreamOf(t, func(c net.Conn, _ *http.Request) bool {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
		for err == nil {
			_, err = c.Write(event)
		}
		stopped <- struct{}{}
		return false
	})
	r := newRig(t, behind(up.base()))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: r.proxy.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(hurried{l}) }() // it ends by being closed
	defer func() { server.Close(); <-done }()
	c, err := net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	r.say(c, post(askStream))
	<-stopped
	r.ended(1, "client_closed")
	r.blameless()
}

type hurried struct{ net.Listener }

func (h hurried) Accept() (net.Conn, error) {
	c, err := h.Listener.Accept()
	return hurriedConn{c}, err
}

type hurriedConn struct{ net.Conn }

func (h hurriedConn) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		at = time.Now().Add(time.Until(at) / 100)
	}
	return h.Conn.SetWriteDeadline(at)
}

// X02 (the proxy plane's part), L03: a thousand streams at once, most of which their clients end at some random point, in
// an orderly way or not. Nothing is held or running afterwards, nobody was blamed, and all of them were told.
func TestThousandStreams(t *testing.T) {
	const streams = 1000
	steady(t)
	pace := 40 * time.Millisecond
	r := newRig(t, setup{accounts: []simulator.Account{
		{Name: "a", Key: "sk-upstream-a", Models: []string{"sim-1"}, Latency: time.Second, ChunkPace: pace},
		{Name: "b", Key: "sk-upstream-b", Models: []string{"sim-1"}, Latency: time.Second, ChunkPace: pace},
	}, profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = streams / 2 }, config: func(c *Config) {
		// Clients alone end streams here, however busy the machine is.
		c.ConnectTimeout, c.FirstTokenTimeout, c.IdleTimeout, c.CommitDeadline, c.RequestTimeout = time.Hour, time.Hour, time.Hour, time.Hour, time.Hour
	}})
	var clients sync.WaitGroup
	start := make(chan struct{})
	for i := range streams {
		conn := r.dial()
		clients.Go(func() {
			<-start
			lot := rand.New(rand.NewPCG(uint64(i), 2))
			request, bytes := strings.Replace(post(askStream), "\r\n", "\r\nConnection: close\r\n", 1), int64(lot.IntN(8000))
			if lot.IntN(10) == 0 {
				request, bytes = request[:len(request)-1-lot.IntN(20)], 0
			}
			if _, err := io.WriteString(conn, request); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Duration(lot.IntN(1500)) * time.Millisecond)
			_, _ = io.CopyN(io.Discard, conn, bytes) // less, when the answer was shorter
			if lot.IntN(2) == 0 {
				_ = conn.SetLinger(0)
			}
			conn.Close()
		})
	}
	close(start)
	clients.Wait()
	r.until("the last exchange", func() bool {
		r.told.mu.Lock()
		defer r.told.mu.Unlock()
		return len(r.told.all) == streams && r.told.inflight == 0
	})
	r.settle()
	r.blameless()
	outcomes := map[string]int{}
	for _, x := range r.told.all {
		outcomes[string(x.Outcome)]++
		if len(x.Attempts) > 1 {
			t.Errorf("a client's end made another attempt: %+v", x.Attempts)
		}
	}
	if outcomes["success"] == 0 || outcomes["client_closed"] == 0 || len(outcomes) != 2 {
		t.Errorf("told as %v", outcomes)
	}
	if peak := r.sim.Peak("a") + r.sim.Peak("b"); peak < streams/2 {
		t.Errorf("only %d streams at once", peak)
	}
}

// L03: a bug that strikes in the middle of a stream cuts it, so that no client takes it for whole; the slot is free, the
// account is not blamed, and the process lives on.
func TestPanicAfterTheFirstByte(t *testing.T) {
	r := newRig(t, setup{})
	sane := r.proxy.transport
	r.proxy.transport = func(*router.Profile) http.RoundTripper { return laterPanic{} }
	got := r.chat(askStream)
	if got.status != 200 || got.err == nil || !strings.Contains(got.body, `"hi"`) || strings.Contains(got.body, "[DONE]") {
		t.Errorf("status %d, err %v: %s", got.status, got.err, got.body)
	}
	r.ended(1, "internal_error")
	r.blameless()
	r.proxy.transport = sane
	r.want(r.chat(ask), "200 profile=a attempts=1")
	r.server.Close() // nobody writes to the log any more
	if !strings.Contains(r.log.String(), "panic while serving") {
		t.Error("the log does not know of it")
	}
}

// laterPanic answers one event, and has a bug behind it.
type laterPanic struct{}

func (laterPanic) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.NopCloser(io.MultiReader(strings.NewReader(chunkText), faultyBody{}))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
}

type faultyBody struct{}

func (faultyBody) Read([]byte) (int, error) { panic(fmt.Sprintf("%T", faultyBody{})) }
