package proxy

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
)

// Call is a call of the hub's own, for a client whose key it knows by name: a run's. It is served as that client's calls
// are, by the same accounts, under the same rules and deadlines, and is told of in the same way. There is nothing in an
// HTTP request by which an outsider could make one.
type Call struct {
	Client    string      // name of the client key, "" when none is needed
	Role      string      // as in the path, "" = as body, key and model say
	SessionID string      // "" = as header and body say
	RunID     string      // the run that the call belongs to: it is in the answer's head, and the call leaves no run of its own
	Path      string      // one of Endpoints: "/v1/chat/completions"
	Header    http.Header // may be nil
	Body      []byte      // as a client would send it; it is not changed
}

// Call serves a call within the process and returns once the answer has a head. What a client would read as an answer of any
// status is one here, also a refusal: 401 when the key is gone, 403 when it may not use the role, 503 when the hub stops.
//
// The body ends with an error when the answer is not whole. It must be read or closed; closing it ends the call, as the end
// of ctx does, and waits until nothing of it is left. An error says that there is no answer: ctx has ended.
func (p *Proxy) Call(ctx context.Context, c Call) (*http.Response, error) {
	s := surfaceAt(c.Path)
	if s == nil {
		return nil, fmt.Errorf("call %q: no such endpoint", c.Path)
	}
	its, stop := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(its, http.MethodPost, s.endpoint, bytes.NewReader(c.Body))
	if err != nil {
		stop()
		return nil, fmt.Errorf("call %q: %w", c.Path, err)
	}
	if c.Header != nil {
		r.Header = c.Header.Clone()
	}
	in, out := net.Pipe()
	w := &innerWriter{header: http.Header{}, out: out, head: make(chan *http.Response, 1)}
	b := &innerBody{in: in, stop: stop, ended: make(chan struct{})}
	leave := context.AfterFunc(its, func() { out.Close() }) // the client is gone: nobody reads what is being written
	go func() {
		defer close(b.ended)
		defer out.Close()
		defer stop()
		defer leave()
		if !p.within(w, r, s, &c) {
			b.end = cmp.Or(context.Cause(ctx), errCut)
		}
	}()
	select {
	case res := <-w.head:
		res.Body, res.Request = b, r
		return res, nil
	case <-b.ended: // without a head: an answer has no end before its body was read
		in.Close()
		return nil, fmt.Errorf("call %q: %w", c.Path, b.end)
	}
}

// within serves a call of the hub's own and reports whether its answer is whole.
func (p *Proxy) within(w *innerWriter, r *http.Request, s *surface, c *Call) (whole bool) {
	defer func() {
		if cause := recover(); cause != nil {
			p.logger.Error("panic while serving", "panic", cause, "stack", string(debug.Stack()))
			if !w.written {
				deny(w, r, internalError())
				whole = true
			}
		}
	}()
	x := p.begin(w, r, s, c.Role)
	x.served = servedBy(s)
	x.conn = http.NewResponseController(w)
	x.inner = c
	if c.RunID != "" {
		x.belongTo(c.RunID)
	}
	defer x.finish()
	x.serve()
	return !x.aborted
}

// surfaceAt is the surface of an endpoint, nil when there is none.
func surfaceAt(endpoint string) *surface {
	for _, s := range surfaces() {
		if s.endpoint == strings.TrimSuffix(endpoint, "/") {
			return s
		}
	}
	return nil
}
