package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// errCut is how the answer to a call of the hub's own ends when it is not whole. It is what a client of a server reads.
var errCut = fmt.Errorf("the answer was cut: %w", io.ErrUnexpectedEOF)

// innerWriter is the server's side of a call within the process. What is written waits until it is read, up to the write
// deadline, as on a connection.
type innerWriter struct {
	header  http.Header
	out     net.Conn
	head    chan *http.Response // gets the answer's head, once
	written bool
	broken  error // why a Write has failed: as on a connection, nothing can follow it
}

// Header is the answer's head until it is written.
func (w *innerWriter) Header() http.Header { return w.header }

// WriteHeader hands the answer's head over.
func (w *innerWriter) WriteHeader(status int) {
	if w.written {
		return
	}
	w.written = true
	h := w.header.Clone()
	length, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	w.head <- &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h, ContentLength: length,
	}
}

// Write returns once everything is read.
func (w *innerWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if len(b) == 0 || w.broken != nil {
		return 0, w.broken
	}
	n, err := w.out.Write(b)
	w.broken = err
	return n, err
}

// Flush has nothing to do but for the head: nothing that is written is kept back.
func (w *innerWriter) Flush() { w.WriteHeader(http.StatusOK) }

// SetWriteDeadline bounds how long a Write waits for its reader.
func (w *innerWriter) SetWriteDeadline(t time.Time) error { return w.out.SetWriteDeadline(t) }

// innerBody is the client's side.
type innerBody struct {
	in    net.Conn
	stop  context.CancelFunc
	ended chan struct{} // closed when nothing of the call is left
	end   error         // why the answer is not whole; once ended is closed
}

// Read reads what the exchange has written. io.EOF says that the answer is whole.
func (b *innerBody) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if err == nil {
		return n, nil
	}
	if errors.Is(err, io.ErrClosedPipe) {
		return n, http.ErrBodyReadAfterClose
	}
	<-b.ended
	if b.end != nil {
		return n, b.end
	}
	return n, io.EOF
}

// Close ends the call if it has not ended, and waits until its account is free again.
func (b *innerBody) Close() error {
	b.stop()
	b.in.Close()
	<-b.ended
	return nil
}
