package fakehermes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listen serves the API on a free port of the loopback interface. The func it returns breaks every connection, closes the
// port and waits until nothing of it is left; it may be called twice.
func (s *Server) Listen() (baseURL string, closeAll func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for fake Hermes: %w", err)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it ends with ErrServerClosed
	closeAll = sync.OnceFunc(func() {
		_ = server.Close() // there is nothing to do about it
		serving.Wait()
	})
	return "http://" + listener.Addr().String(), closeAll, nil
}

// Client calls the server without a network: every host is this server.
func (s *Server) Client() *http.Client { return &http.Client{Transport: memory{s}} }

// memory is a transport to a server in the same process.
type memory struct{ s *Server }

var errBroken = errors.New("connection broken")

// RoundTrip serves the request in a goroutine of its own.
func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	near, far := io.Pipe()
	w := &writer{header: http.Header{}, body: far, begun: make(chan struct{})}
	context.AfterFunc(ctx, func() { far.CloseWithError(context.Cause(ctx)) })
	served := req.Clone(ctx)
	if served.Body == nil {
		served.Body = http.NoBody
	}
	m.s.work.Go(func() {
		defer func() {
			if why := recover(); why != nil && why != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				panic(why)
			} else if why != nil {
				w.begin(0)
				far.CloseWithError(io.ErrUnexpectedEOF)
			} else {
				w.begin(http.StatusOK)
				far.Close()
			}
		}()
		m.s.ServeHTTP(w, served)
	})
	select {
	case <-w.begun:
	case <-ctx.Done():
		cancel()
		return nil, context.Cause(ctx)
	}
	if w.status == 0 {
		cancel()
		return nil, errBroken
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: body{near, cancel}, ContentLength: -1, Request: req,
	}, nil
}

// body is an answer's body. Who closes it hangs up.
type body struct {
	io.Reader
	hangUp context.CancelFunc
}

func (b body) Close() error {
	b.hangUp()
	return nil
}

// writer is the server's end.
type writer struct {
	header http.Header
	body   *io.PipeWriter

	once   sync.Once
	begun  chan struct{} // closed when what follows is set
	status int           // 0: the connection broke before there was any
	sent   http.Header
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) begin(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *writer) WriteHeader(status int) { w.begin(status) }

func (w *writer) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	return w.body.Write(p)
}
