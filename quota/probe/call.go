package probe

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"hermes-hub/quota"
)

const (
	callTimeout = 30 * time.Second
	replyLimit  = 1 << 20 // bytes of an answer, before and after decoding
)

// reply is a provider's answer to one step.
type reply struct {
	dialect string
	status  int
	header  http.Header
	body    []byte // decoded, at most replyLimit
	at      time.Time
}

// reading is what quota.Read makes of it.
func (r reply) reading() quota.Reading {
	return quota.Read(quota.Response{Provider: r.dialect, Status: r.status, Header: r.header, Body: r.body, At: r.at})
}

// CallError is why a step of a look brought nothing. Its text names no address and no secret.
type CallError struct {
	Profile string
	Step    string // of the provider's row: "usage"
	Reason  string // a word of this package, or quota.Reading's: "timeout", "status:503"
	Cause   error  // what the transport said, not part of the text; nil = the answer is the reason
}

func (e *CallError) Error() string {
	return fmt.Sprintf("probe %s: ask for %s: %s", e.Profile, e.Step, e.Reason)
}

func (e *CallError) Unwrap() error { return e.Cause }

// call sends one step and reads its answer. The reason of an error is one of this package's words.
func (l *look) call(ctx context.Context, s step) (reply, *CallError) {
	fail := func(reason string, cause error) (reply, *CallError) {
		return reply{}, &CallError{Profile: l.target.Profile, Step: s.name, Reason: reason, Cause: cause}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	req, err := l.request(ctx, s)
	if err != nil {
		return fail("bad_address", err)
	}
	resp, err := l.prober.transport(l.target.Profile).RoundTrip(req)
	if err != nil {
		return fail(lost(ctx), err)
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	switch {
	case err == nil || resp.StatusCode >= 300: // of a refusal, what came of it is evidence enough
	case errors.Is(err, errTooLarge):
		return fail(tooLarge, nil)
	default:
		return fail(lost(ctx), err)
	}
	return reply{dialect: l.dialect(), status: resp.StatusCode, header: resp.Header, body: body, at: l.prober.now()}, nil
}

// lost is why there is no answer.
func lost(ctx context.Context) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "timeout"
	case ctx.Err() != nil:
		return "stopped"
	}
	return "no_answer"
}

// request is a step as it goes over the wire.
func (l *look) request(ctx context.Context, s step) (*http.Request, error) {
	var body io.Reader
	if s.body != nil {
		text, err := json.Marshal(s.body(l))
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(s.method, http.MethodGet), l.row.address(l.target, s), body)
	if err != nil {
		return nil, err
	}
	for name := range s.header {
		req.Header.Set(name, s.header.Get(name))
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip") // asked for here, so that it is undone here, within its limit
	req.Header.Set("User-Agent", l.prober.userAgent)
	if c := l.credential; c.Authorization != "" {
		req.Header.Set(cmp.Or(c.Header, "Authorization"), c.Authorization)
	}
	if l.row.account != "" && l.credential.AccountID != "" {
		req.Header.Set(l.row.account, l.credential.AccountID)
	}
	return req, nil
}

var errTooLarge = errors.New("the answer is too large")

// readBody reads an answer and undoes gzip, labelled or not. Other encodings, which nobody asked for, are quota.Read's to
// undo.
func readBody(resp *http.Response) ([]byte, error) {
	body, err := readUpTo(resp.Body)
	if err != nil || !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body, err
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body, err
	}
	return readUpTo(r)
}

func readUpTo(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, replyLimit+1))
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if len(body) > replyLimit {
		return body[:replyLimit], errTooLarge
	}
	return body, err
}
