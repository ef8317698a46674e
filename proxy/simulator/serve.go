package simulator

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
)

// connections are open connections, each served by a goroutine of its own; close ends them all and waits.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{} // nil before the first and after close
	closed bool
	served sync.WaitGroup
}

// serve serves the connection until it ends, unless close came first.
func (cs *connections) serve(conn net.Conn, serve func(net.Conn)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		_ = conn.Close() // nobody reads it
		return
	}
	if cs.open == nil {
		cs.open = map[net.Conn]struct{}{}
	}
	cs.open[conn] = struct{}{}
	cs.served.Go(func() {
		defer cs.forget(conn)
		serve(conn)
	})
}

func (cs *connections) forget(conn net.Conn) {
	_ = conn.Close() // served to the end, one way or another
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.open, conn)
}

func (cs *connections) close() {
	cs.mu.Lock()
	cs.closed = true
	for conn := range cs.open {
		_ = conn.Close() // to end it is all that is wanted
	}
	cs.mu.Unlock()
	cs.served.Wait()
}

// serve answers the calls of one connection, one after the other.
func (p *Provider) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	for p.serveCall(conn, r) {
	}
}

// serveCall answers one call and reports whether another may follow on the connection. While the answer is played, a
// goroutine waits for the client's next byte: what it gets instead, when the client goes away, ends the play.
func (p *Provider) serveCall(conn net.Conn, r *bufio.Reader) bool {
	x, play, last, err := p.receive(conn, r)
	if err != nil {
		return false
	}
	gone := make(chan struct{})
	x.gone = gone
	next := make(chan bool)
	go func() {
		_, err := r.Peek(1)
		if err != nil {
			close(gone)
		}
		next <- err == nil
	}()
	x.end(play(x))
	if x.broken || last {
		_ = conn.Close() // wakes the goroutine above
		<-next
		return false
	}
	return <-next
}

// receive reads one call and has it admitted.
func (p *Provider) receive(conn net.Conn, r *bufio.Reader) (x *exchange, answer play, last bool, err error) {
	req, err := http.ReadRequest(r)
	if err != nil {
		if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nX-Simulated: true\r\nConnection: close\r\n\r\n") // it may be gone
		}
		return nil, nil, false, err
	}
	if req.Header.Get("Expect") == "100-continue" {
		if _, err := io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, nil, false, err
		}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, nil, false, err
	}
	in := inbound{route: routeOf(req.URL.Path, req.Header), header: req.Header, query: req.URL.Query(), body: body}
	key := in.route.dialect.key(in)
	if in.route.op == opToken {
		key = tokenRequestOf(&Call{Header: req.Header, Body: body}).refresh
	}
	in.account = p.owner(in.route.prefix, key)
	in.route = in.route.of(in.account)
	d := in.route.dialect
	in.codex = d == &codex
	x = &exchange{p: p, conn: conn, dialect: d, account: in.account, path: req.URL.Path}
	x.call = &Call{Method: req.Method, Path: req.RequestURI, Host: req.Host, Header: req.Header, Body: body}
	var wrong *problem
	if in.route.op.hasBody() && req.Method == in.route.method {
		wrong = x.understand(in)
	}
	return x, p.admit(x, in.route, key, wrong), req.Close, nil
}

// understand reads the call's body in its dialect, or says what is wrong with it.
func (x *exchange) understand(in inbound) *problem {
	x.call.Protocol = x.dialect.protocol
	if x.dialect.wants != nil {
		if wrong := x.dialect.wants(in); wrong != nil {
			return wrong
		}
	}
	if wrong := readable(in.header.Get("Content-Type")); wrong != nil {
		return wrong
	}
	req, wrong := x.dialect.parse(in)
	if wrong != nil {
		return wrong
	}
	req.Protocol, req.Account, req.Header, req.Body = x.dialect.protocol, in.account.Name, in.header, in.body
	x.req, x.call.Request = req, req
	x.call.Model, x.call.Stream = req.Model, req.Stream
	return nil
}
