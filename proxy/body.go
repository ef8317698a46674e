package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// bodyStall is how long a client may pause while it sends its body. The body is read before anything scarce is taken.
const bodyStall = 60 * time.Second

// firstBuffer is how much is set aside for a body on the word of its Content-Length alone.
const firstBuffer = 1 << 20

// readBody reads a request's body whole, up to limit bytes. The error is a *refusal, or the client's own absence.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if e := strings.ToLower(r.Header.Get("Content-Encoding")); e != "" && e != "identity" {
		return nil, &refusal{code: codeEncoding, message: fmt.Sprintf("Content-Encoding %q is not supported: send the body as it is", e), close: true}
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	control := http.NewResponseController(w)
	body := make([]byte, 0, max(min(r.ContentLength+1, firstBuffer), 512))
	for {
		// Not every writer can set deadlines (a test's recorder); then the server's own limits stand alone.
		_ = control.SetReadDeadline(time.Now().Add(bodyStall))
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, tooLarge(limit)
		}
		switch {
		case errors.Is(err, io.EOF):
			_ = control.SetReadDeadline(time.Time{})
			return body, nil
		case isTimeout(err):
			return nil, &refusal{code: codeBodyStalled, message: fmt.Sprintf("the body stopped arriving for %s", bodyStall), close: true}
		case err != nil && absent(r, err):
			return nil, fmt.Errorf("read body: %w", err)
		case err != nil: // its sender is there and has sent what is no chunk: nothing behind it can be told apart
			return nil, &refusal{code: codeInvalidRequest, message: "the body's chunked encoding is malformed", close: true}
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

func tooLarge(limit int64) *refusal {
	return &refusal{code: codeBodyTooLarge, message: fmt.Sprintf("the body is larger than server.max_body_bytes: %d", limit), close: true}
}

// absent reports whether a body ended because its sender went away.
func absent(r *http.Request, err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, io.ErrUnexpectedEOF) || r.Context().Err() != nil
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}
