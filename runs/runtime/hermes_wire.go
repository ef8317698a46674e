package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"time"
)

// hermesWire calls a Hermes API server.
type hermesWire struct {
	base   string
	key    func() string
	client *http.Client
}

// newHermesWire takes over the client's transport, and none of its redirects: a runtime that points elsewhere would get
// the key sent there.
func newHermesWire(base string, key func() string, client *http.Client) hermesWire {
	own := http.Client{Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		IdleConnTimeout:     30 * time.Second, // less than a server's own patience
		MaxIdleConnsPerHost: 16,
		DisableCompression:  true, // events are not to wait in a buffer
	}}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return hermesWire{base: base, key: key, client: &own}
}

// hermesAnswer is an answer, whole.
type hermesAnswer struct {
	status int
	header http.Header
	body   []byte
}

// hermesMaxAnswer is the longest answer that is read: a status record holds the run's whole output.
const hermesMaxAnswer = 32 << 20

var errHermesAnswerTooLong = errors.New("the runtime's answer is longer than 32 MiB")

// call sends a request and reads the answer, all within that time.
func (w hermesWire) call(ctx context.Context, within time.Duration, method, path string, body []byte, header http.Header) (hermesAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	resp, err := w.send(ctx, method, path, body, header)
	if err != nil {
		return hermesAnswer{}, err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(io.LimitReader(resp.Body, hermesMaxAnswer+1))
	switch {
	case err != nil:
		return hermesAnswer{}, fmt.Errorf("read the runtime's answer: %w", err)
	case len(read) > hermesMaxAnswer:
		return hermesAnswer{}, errHermesAnswerTooLong
	}
	return hermesAnswer{resp.StatusCode, resp.Header, read}, nil
}

// send sends a request. The answer's body is the caller's to read and to close.
func (w hermesWire) send(ctx context.Context, method, path string, body []byte, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, w.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask the runtime: %w", err)
	}
	maps.Copy(req.Header, header)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := w.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the runtime: %w", err)
	}
	return resp, nil
}
