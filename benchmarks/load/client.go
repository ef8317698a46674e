package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// patience is how long a client waits for an answer, its pauses left out, before it counts as missing.
const patience = 30 * time.Second

// errCut: no answer came, or not the whole of it. A whole answer that is another than the right one is never this.
var errCut = errors.New("answer cut")

// client is one agent: a connection to a target, kept between calls. It belongs to one goroutine.
type client struct {
	target  *target
	session int
	conn    net.Conn // nil: to be dialled
	unhook  func() bool
	r       *bufio.Reader

	out, want []byte // working memory
	in        message
}

func newClient(t *target, session int) *client {
	return &client{target: t, session: session, r: bufio.NewReaderSize(nil, 16<<10)}
}

// dial opens the connection, which ctx cuts when it ends.
func (c *client) dial(ctx context.Context) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.target.addr)
	if err != nil {
		return err
	}
	c.conn = conn
	c.unhook = context.AfterFunc(ctx, func() { conn.Close() })
	c.r.Reset(conn)
	return nil
}

func (c *client) close() {
	if c.conn != nil {
		c.unhook()
		c.conn.Close()
		c.conn = nil
	}
}

// do makes one call and verifies the answer.
func (c *client) do(ctx context.Context, what call) error {
	err := c.begin(ctx, what)
	if err == nil {
		err = c.finish(what)
	}
	return c.settle(ctx, what, err)
}

// settle says whose error it was. After one the next call has a new connection.
func (c *client) settle(ctx context.Context, what call, err error) error {
	if err != nil || c.in.last {
		c.close()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return fmt.Errorf("%s, call %d: %w", c.target.name, what.number, err)
	}
}

// begin sends the call and reads the head of its answer.
func (c *client) begin(ctx context.Context, what call) error {
	if c.conn == nil {
		if err := c.dial(ctx); err != nil {
			return err
		}
	}
	limit := patience + time.Duration(what.chunks)*what.pace
	if err := c.conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	c.out = c.appendCall(c.out[:0], what)
	if _, err := c.conn.Write(c.out); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if err := c.in.readHead(c.r); err != nil {
		return fmt.Errorf("%w: %w", errCut, whole(err))
	}
	if bytes.HasPrefix(c.in.start, []byte("HTTP/1.1 200 ")) {
		return nil
	}
	_ = c.in.readBody(c.r) // for the message
	err := fmt.Errorf("%s: %s", c.in.start, c.in.body[:min(len(c.in.body), 300)])
	if bytes.HasPrefix(c.in.start, []byte("HTTP/1.1 502 ")) {
		err = fmt.Errorf("%w: %w", errCut, err)
	}
	return err
}

// finish reads the rest of the answer and verifies the whole.
func (c *client) finish(what call) error {
	if err := c.in.readBody(c.r); err != nil {
		return fmt.Errorf("%w: %w", errCut, err)
	}
	if c.target.foreign {
		return what.verifyTranslated(c.in.kind, c.in.body)
	}
	return what.verify(c.in.kind, c.in.body, c.want[:0])
}

// appendCall appends the request as an agent sends it.
func (c *client) appendCall(b []byte, what call) []byte {
	c.want = what.appendBody(c.want[:0])
	accept := "application/json"
	if what.chunks > 0 {
		accept = "text/event-stream"
	}
	b = fmt.Appendf(b, "POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: hermes-hub-load\r\nAccept: %s\r\nAccept-Encoding: gzip, deflate\r\n"+
		"Authorization: Bearer "+hubKey+"\r\nX-Hub-Session: session-%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		c.target.path, c.target.addr, accept, c.session, len(c.want))
	return append(b, c.want...)
}
