package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// upstream is the mock provider: it verifies what it is sent and answers what it is asked for.
type upstream struct {
	listener    net.Listener
	connections atomic.Uint64
	served      atomic.Uint64
	accepting   sync.WaitGroup
	serving     sync.WaitGroup

	mu      sync.Mutex
	open    map[net.Conn]struct{}
	release chan struct{} // closed when held streams may go on; the next ones wait for another
}

// listenUpstream serves on a free port of loopback until close.
func listenUpstream() (*upstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{listener: l, open: map[net.Conn]struct{}{}, release: make(chan struct{})}
	u.accepting.Go(u.accept)
	return u, nil
}

func (u *upstream) addr() string { return u.listener.Addr().String() }

// close cuts every connection and waits until nobody uses one.
func (u *upstream) close() {
	u.listener.Close()
	u.accepting.Wait() // then no connection can come to those that are closed now
	u.mu.Lock()
	for c := range u.open {
		c.Close()
	}
	close(u.release)
	u.mu.Unlock()
	u.serving.Wait()
}

func (u *upstream) accept() {
	for {
		c, err := u.listener.Accept()
		if err != nil {
			return
		}
		u.connections.Add(1)
		u.mu.Lock()
		u.open[c] = struct{}{}
		u.mu.Unlock()
		u.serving.Go(func() { u.serve(c) })
	}
}

func (u *upstream) serve(c net.Conn) {
	defer func() {
		u.mu.Lock()
		delete(u.open, c)
		u.mu.Unlock()
		c.Close()
	}()
	r := bufio.NewReaderSize(c, 16<<10)
	var m message
	var out []byte
	for !m.last {
		if m.read(r) != nil {
			return
		}
		asked, err := m.call()
		out = out[:0]
		switch {
		case err != nil:
			out = appendComplaint(out, err)
			_, err = c.Write(out)
		case asked.chunks == 0:
			out = u.appendWhole(out, asked.call)
			_, err = c.Write(out)
		default:
			out, err = u.stream(c, asked, out)
		}
		if err != nil {
			return
		}
	}
}

// call reads what is asked, in the protocol of the path.
func (m *message) call() (received, error) {
	if bytes.HasPrefix(m.start, []byte("POST /v1/messages ")) {
		return readForeign(m.body)
	}
	return readCall(m.body)
}

// appendHead appends an answer's head, with the headers in which providers tell what is left of a rate.
func (u *upstream) appendHead(b []byte, number int, rest string) []byte {
	left := 1_000_000 - u.served.Add(1)%1000
	return fmt.Appendf(b, "HTTP/1.1 200 OK\r\nX-Request-Id: upstream-%d\r\nOpenai-Processing-Ms: 1\r\n"+
		"X-Ratelimit-Limit-Requests: 1000000\r\nX-Ratelimit-Remaining-Requests: %d\r\nX-Ratelimit-Reset-Requests: 6ms\r\n%s\r\n\r\n", number, left, rest)
}

func (u *upstream) appendWhole(b []byte, c call) []byte {
	body := c.appendAnswer(make([]byte, 0, 1<<10))
	b = u.appendHead(b, c.number, fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d", len(body)))
	return append(b, body...)
}

// appendComplaint answers that the request is not what was sent.
func appendComplaint(b []byte, err error) []byte {
	type problem struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	body, _ := json.Marshal(map[string]problem{"error": {"invalid_request_error", err.Error()}}) // strings alone cannot fail
	return fmt.Appendf(b, "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// stream writes one chunk for every event, as a server does that flushes each.
func (u *upstream) stream(c io.Writer, asked received, out []byte) ([]byte, error) {
	u.mu.Lock()
	release := u.release
	u.mu.Unlock()
	out = u.appendHead(out, asked.number, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked")
	say := asked.dialect()
	event := say.begin(nil)
	for i := range asked.chunks {
		if i > 0 && asked.pace > 0 {
			time.Sleep(asked.pace)
		}
		if i == 1 && asked.held {
			<-release
		}
		event = say.chunk(event, i)
		out = appendPiece(out, event)
		if _, err := c.Write(out); err != nil {
			return out, err
		}
		out, event = out[:0], event[:0]
	}
	event = say.end(event)
	out = append(appendPiece(out, event), "0\r\n\r\n"...)
	_, err := c.Write(out)
	return out, err
}

// appendPiece appends one chunk of the transfer encoding.
func appendPiece(b, data []byte) []byte {
	b = fmt.Appendf(b, "%x\r\n", len(data))
	b = append(b, data...)
	return append(b, "\r\n"...)
}

// releaseHeld lets every held stream go on.
func (u *upstream) releaseHeld() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.release)
	u.release = make(chan struct{})
}
