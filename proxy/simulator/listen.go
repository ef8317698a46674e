package simulator

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Listen serves the provider on a free TCP port of the loopback interface. The base URL ends where a protocol's path is
// appended; with "/" and an account's name at its end, it is the base URL of that account alone. The func it returns
// ends every call, closes the port and waits until nothing of it is left; it may be called twice.
func (p *Provider) Listen() (baseURL string, closeAll func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for simulated provider: %w", err)
	}
	conns := &connections{}
	var accepting sync.WaitGroup
	accepting.Go(func() { accept(listener, func(c net.Conn) { conns.serve(c, p.serve) }) })
	closeAll = sync.OnceFunc(func() {
		_ = listener.Close() // there is nothing to do about it
		accepting.Wait()
		conns.close()
	})
	return "http://" + listener.Addr().String() + "/v1", closeAll, nil
}

// accept takes connections until the listener is closed. Another failure (no file descriptor is left) passes.
func accept(listener net.Listener, serve func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			serve(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(10 * time.Millisecond)
		}
	}
}
