package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// steady holds a test to what the machine had before it: when everything of the test has been closed, no goroutine and no
// file descriptor may be left of it. It is called first, so that its check comes last.
func steady(t *testing.T) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	t.Cleanup(func() {
		for range 400 {
			if runtime.NumGoroutine() <= goroutines && openFiles() <= files {
				return
			}
			time.Sleep(25 * time.Millisecond) // ends are not announced
		}
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		t.Errorf("%d goroutines, were %d; %d files, were %d\n%s", runtime.NumGoroutine(), goroutines, openFiles(), files, stacks)
	})
}

// openFiles counts the process's descriptors; 0 where the system does not tell.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// rawUpstream is an account's server that does on the wire what the test says, and counts the requests it was sent.
type rawUpstream struct {
	listener net.Listener
	conns    sync.WaitGroup
	mu       sync.Mutex
	open     []net.Conn
	requests []*http.Request // their bodies read
}

// upstreamOf serves every request with answer, one connection a goroutine. A connection ends when answer returns false.
func upstreamOf(t *testing.T, answer func(c net.Conn, req *http.Request) bool) *rawUpstream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &rawUpstream{listener: l}
	u.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			u.mu.Lock()
			u.open = append(u.open, c)
			u.mu.Unlock()
			u.conns.Go(func() {
				defer c.Close()
				for in := bufio.NewReader(c); ; {
					req, err := u.read(in)
					if err != nil || !answer(c, req) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		u.mu.Lock()
		for _, c := range u.open {
			c.Close()
		}
		u.mu.Unlock()
		u.conns.Wait()
	})
	return u
}

// read takes one request in.
func (u *rawUpstream) read(in *bufio.Reader) (*http.Request, error) {
	req, err := http.ReadRequest(in)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(strings.NewReader(string(body)))
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, req)
	return req, nil
}

// seen is how many requests came.
func (u *rawUpstream) seen() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.requests)
}

func (u *rawUpstream) base() string { return "http://" + u.listener.Addr().String() + "/v1" }

// behind makes account a the one at base; b and c stay with the simulator.
func behind(base string) setup {
	return setup{profiles: func(ps []router.Profile) { ps[0].BaseURL = base }}
}

// dial connects a client to the hub's own socket.
func (r *rig) dial() *net.TCPConn {
	r.t.Helper()
	c, err := (&net.Dialer{}).DialContext(r.t.Context(), "tcp", r.server.Listener.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		r.t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// say writes bytes to the hub.
func (r *rig) say(c net.Conn, text string) {
	r.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		r.t.Fatal(err)
	}
}

// post is a chat request's bytes.
func post(body string) string { return postTo("/v1/chat/completions", body) }

func postTo(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: hub.test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// reset ends a connection as a client that crashed does: whoever writes to it from now on is refused.
func (r *rig) reset(c *net.TCPConn) {
	r.t.Helper()
	if err := c.SetLinger(0); err != nil {
		r.t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// hear reads an answer to its end.
func hear(c net.Conn) reply {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text), err}
}

// until waits for something that nothing announces.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for range 12000 { // a minute
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	r.t.Fatalf("never came: %s", what)
}

// blameless proves that no account is thought the worse of.
func (r *rig) blameless() {
	r.t.Helper()
	now := time.Now()
	s := r.router.Snapshot()
	for i, p := range s.Table.Profiles {
		if health := s.Standings[i].Check("sim-1", quota.Family("sim-1"), now); health.State != quota.Ready {
			r.t.Errorf("account %s is %s", p.ID, health.State)
		}
	}
}

// ended waits for the exchange and proves how it was told. Afterwards nothing is held.
func (r *rig) ended(n int, outcome string) {
	r.t.Helper()
	r.until(fmt.Sprintf("exchange %d", n), func() bool {
		r.told.mu.Lock()
		defer r.told.mu.Unlock()
		return len(r.told.all) >= n
	})
	r.settle()
	if x := r.told.last(); string(x.Outcome) != outcome {
		r.t.Errorf("told as %s, want %s", x.Outcome, outcome)
	}
}
