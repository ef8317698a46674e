package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"hermes-hub/proxy/wire"
	"hermes-hub/quota"
	"hermes-hub/telemetry"
)

// answerLimit bounds a whole answer. It is held until it is complete, so that an account that breaks off in the middle is
// replaced by another without the client seeing anything.
const answerLimit = 64 << 20

var (
	errAnswerTooLarge = fmt.Errorf("answer larger than %d bytes", answerLimit)
	errEncoding       = errors.New("content encoding was not asked for")
)

// answer serves a call that is not streamed. Success is a whole JSON object with an answer and no error in it; a 200 that is
// anything else is a failure.
func (t *try) answer(res *http.Response) *failure {
	body, told, f := t.wholeAnswer(res)
	if body == nil {
		return f
	}
	t.told.Usage = telemetry.Usage(told.usage)
	x := t.x
	x.commitTo(t.n, http.StatusOK)
	h := x.w.Header()
	copyListed(h, res.Header, toClient[:])
	if t.call.codec != nil || t.call.stream { // the body is the hub's: upstream's word is about another
		h["Content-Type"] = []string{"application/json"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.w.WriteHeader(http.StatusOK)
	t.succeed(t.measured(res), told.usage)
	t.lease.Release() // the account has done its part: a client that is slow to read need not hold a slot of it
	if err := writeOut(x.w, x.conn, body); err != nil {
		x.told.Outcome, x.told.Err, x.aborted = telemetry.ClientClosed, err.Error(), true
	}
	t.words().whole(x.surface.protocol, body)
	return nil
}

// wholeAnswer reads an answer as the client is to get it. body is nil when there is none: then the attempt is settled, and
// f is what came of it.
func (t *try) wholeAnswer(res *http.Response) (body []byte, h gist, f *failure) {
	if t.call.stream && !t.x.req.Stream && eventStream(res.Header) {
		return t.gathered(res)
	}
	body, err := readWhole(res)
	if err != nil {
		return nil, h, t.lost(err, res.StatusCode)
	}
	if t.call.codec != nil {
		return t.translated(res, body)
	}
	a, sealed := t.x.surface.whole(body)
	if !a.Valid || a.Error || !a.Content {
		return nil, h, t.fail(t.notAnAnswer(res, body), res.StatusCode, body)
	}
	for _, value := range sealed {
		t.sealed(string(value))
	}
	h.usage = a.Usage
	return body, h, nil
}

// notAnAnswer reads a 200 that is not a completion.
func (t *try) notAnAnswer(res *http.Response, body []byte) quota.Reading {
	r := t.read(res.StatusCode, plainHeader(res.Header), body[:min(len(body), quota.BodyLimit)])
	if r.Class == quota.OK {
		return broken("body:not_a_completion")
	}
	return r
}

// complaint reads an error that arrived in the place of an answer, or in the middle of one.
func (t *try) complaint(res *http.Response, fault []byte) quota.Reading {
	event := wire.AppendEvent(nil, []byte("error"), fault)
	r := t.read(http.StatusOK, plainHeader(res.Header), event)
	if r.Class == quota.OK {
		return broken("stream:error_event")
	}
	return r
}

// measured reads what the headers of a good answer say of the account's windows.
func (t *try) measured(res *http.Response) quota.Reading {
	return quota.ReadHeaders(reader(t.n.Profile), res.Header, t.started)
}

// readWhole reads and decodes an answer's body. The length that the head promised must have come: a short one is an error.
func readWhole(res *http.Response) ([]byte, error) {
	body, err := decoded(res)
	if err != nil {
		return nil, err
	}
	size := min(max(res.ContentLength+1, 512), 1<<20)
	if body != res.Body {
		size = 4096
	}
	return readAll(body, make([]byte, 0, size), answerLimit)
}

// decoded is the body of res without its content encoding. The hub asks for identity; an upstream that compresses all the
// same gets it in gzip or not at all.
func decoded(res *http.Response) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return res.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(res.Body)
	default:
		return nil, errEncoding
	}
}

// plainHeader is h without the encoding that decoded has already undone.
func plainHeader(h http.Header) http.Header {
	if h.Get("Content-Encoding") == "" {
		return h
	}
	h = h.Clone()
	h.Del("Content-Encoding")
	return h
}

// unpacked is the head of an error's body as text. Of a compressed one that was cut, what came before the cut.
func unpacked(h http.Header, head []byte) []byte {
	z, err := decoded(&http.Response{Header: h, Body: io.NopCloser(bytes.NewReader(head))})
	if err != nil {
		return head
	}
	plain, _ := readUpTo(z, quota.BodyLimit) //nolint:errcheck // half an error message is still a message
	return plain
}

// readAll reads r to its end into buf. More than limit bytes are an error.
func readAll(r io.Reader, buf []byte, limit int) ([]byte, error) {
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return nil, errAnswerTooLarge
		case errors.Is(err, io.EOF):
			return buf, nil
		case err != nil:
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// readUpTo reads at most limit bytes of r; what came before an error is returned with it.
func readUpTo(r io.Reader, limit int) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, int64(limit)))
}
