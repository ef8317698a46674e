package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
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

var _ = testing.T{}
