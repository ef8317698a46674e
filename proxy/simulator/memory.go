package simulator

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// dialMemory connects to the provider without a network.
func (p *Provider) dialMemory(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	reset := &atomic.Bool{}
	p.conns.serve(&farEnd{Conn: far, reset: reset}, p.serve)
	return &nearEnd{Conn: near, reset: reset}, nil
}

// farEnd is the provider's end of a connection in memory. It can be reset as a TCP connection can: linger 0, then close.
type farEnd struct {
	net.Conn
	reset *atomic.Bool
}

// SetLinger with 0 makes Close a reset.
func (c *farEnd) SetLinger(seconds int) error {
	c.reset.Store(seconds == 0)
	return nil
}

// nearEnd is the client's end. It reports a reset as the operating system does.
type nearEnd struct {
	net.Conn
	reset *atomic.Bool
}

// Read reads; the end of a connection that was reset is an error.
func (c *nearEnd) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) && c.reset.Load() {
		err = &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}
	return n, err
}
