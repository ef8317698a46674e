package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// message is one HTTP/1.1 message, as far as the two ends of a loopback test must understand it. Its memory is used again
// by the next one.
type message struct {
	start  []byte // the request line or the status line
	kind   string // Content-Type without its parameters
	length int    // Content-Length, -1 = not stated
	split  bool   // Transfer-Encoding: chunked
	last   bool   // Connection: close
	body   []byte
}

// bodyLimit is more than any body of a test has.
const bodyLimit = 8 << 20

// read reads the next message. io.EOF: the peer closed the connection between two of them.
func (m *message) read(r *bufio.Reader) error {
	if err := m.readHead(r); err != nil {
		return err
	}
	return m.readBody(r)
}

func (m *message) readHead(r *bufio.Reader) error {
	m.length, m.split, m.last, m.kind, m.start, m.body = -1, false, false, "", m.start[:0], m.body[:0]
	line, err := r.ReadSlice('\n')
	if err != nil {
		if len(line) > 0 {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	m.start = append(m.start, bytes.TrimRight(line, "\r\n")...)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read head: %w", whole(err))
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return nil
		}
		if err := m.header(line); err != nil {
			return err
		}
	}
}

// header takes in the headers that say where the body ends and what it is.
func (m *message) header(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case is(name, "content-length"):
		n, err := strconv.Atoi(string(value))
		if err != nil || n < 0 || n > bodyLimit {
			return fmt.Errorf("Content-Length %q", value)
		}
		m.length = n
	case is(name, "transfer-encoding"):
		m.split = is(value, "chunked")
	case is(name, "connection"):
		m.last = is(value, "close")
	case is(name, "content-type"):
		kind, _, _ := strings.Cut(string(value), ";")
		m.kind = kind
	}
	return nil
}

func is(name []byte, want string) bool { return bytes.EqualFold(name, []byte(want)) }

// readBody reads a body of a stated length or in chunks. No other kind occurs here.
func (m *message) readBody(r *bufio.Reader) error {
	switch {
	case m.split:
		for {
			more, err := m.readChunk(r)
			if err != nil {
				return fmt.Errorf("read chunk after %d bytes: %w", len(m.body), whole(err))
			}
			if !more {
				return nil
			}
		}
	case m.length < 0:
		return errors.New("body without a length")
	default:
		return m.fill(r, m.length)
	}
}

func (m *message) readChunk(r *bufio.Reader) (more bool, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 32)
	if err != nil || len(m.body)+int(n) > bodyLimit {
		return false, fmt.Errorf("chunk of size %q", line)
	}
	if err := m.fill(r, int(n)); err != nil {
		return false, err
	}
	end, err := r.ReadSlice('\n') // of the chunk, or, there being no trailers, of the body
	if err == nil && len(bytes.TrimSpace(end)) > 0 {
		err = fmt.Errorf("chunk followed by %q", end)
	}
	return n > 0, err
}

// fill appends the next n bytes to the body.
func (m *message) fill(r *bufio.Reader, n int) error {
	from := len(m.body)
	m.body = append(m.body, make([]byte, n)...)
	got, err := io.ReadFull(r, m.body[from:])
	m.body = m.body[:from+got]
	if err != nil {
		return fmt.Errorf("read body: %w", whole(err))
	}
	return nil
}

// whole is err, where the end of the connection is not the end of the message.
func whole(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
