package oracle

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// Agent is a fake Hermes: one conversation with one endpoint, as `provider: custom` has it. It sends what Hermes sends,
// reads what comes back by the rules of this package, waits and asks again as Hermes does, and remembers what Hermes would
// remember. An Agent belongs to one goroutine, like the conversation it stands for.
type Agent struct {
	BaseURL   string // ends in /v1
	Key       string
	Header    http.Header // configured, with every request: the affinity header is one
	Transport http.RoundTripper
	Session   Session
	Stale     time.Duration // the longest silence between two chunks; 0 = 180 s, as for a public host

	Learned Learned
}

// Learned is what an Agent carries from one turn into the next. In a healthy conversation it stays empty.
type Learned struct {
	StreamingOff bool
	UsageOff     bool
	Window       int // lowered to
	BenchedUntil time.Time
	Compressed   int // times that the history was shortened
	StaleKills   int // streams that the agent gave up for their silence
}

// Turn is what a user sees of one turn, and what it took.
type Turn struct {
	Reading
	Requests int           // physical ones
	Waited   time.Duration // slept between them
	Sent     bool          // the last one was streamed
}

// String tells the turn in one line, without what differs from one good answer to the next.
func (t Turn) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", t.Ending)
	if t.Finish != "" {
		fmt.Fprintf(&b, " finish=%s", t.Finish)
	}
	if len(t.Calls) > 0 {
		fmt.Fprintf(&b, " calls=%d", len(t.Calls))
	}
	if t.Usage {
		b.WriteString(" usage")
	}
	if t.Verdict.Reason != "" {
		fmt.Fprintf(&b, " %s", t.Verdict)
	}
	fmt.Fprintf(&b, " requests=%d", t.Requests)
	if t.Waited > 0 {
		fmt.Fprintf(&b, " waited=%s", t.Waited)
	}
	return b.String()
}

// streamRetries is how often a stream is asked for inside one attempt when nothing of it was shown (HERMES_STREAM_RETRIES).
const streamRetries = 3

// Turn makes one turn with the request. The error is ctx's, or a mistake of the caller's.
func (a *Agent) Turn(ctx context.Context, r Request) (Turn, error) {
	var t Turn
	for attempt := 1; ; attempt++ {
		if err := a.attempt(ctx, r, &t); err != nil {
			return t, err
		}
		if t.Ending == Complete || t.Ending == Partial {
			return t, nil
		}
		a.learn(t.Verdict)
		if t.Verdict.Reason != "" && (!t.Verdict.Retryable || t.Verdict.Compress) || attempt == apiRetries {
			return t, nil
		}
		wait := t.Verdict.wait(attempt)
		t.Waited += wait
		if err := sleep(ctx, wait); err != nil {
			return t, err
		}
	}
}

// attempt is one attempt of the loop: a stream of which nothing was shown is asked for up to three times.
func (a *Agent) attempt(ctx context.Context, r Request, t *Turn) error {
	for range streamRetries {
		var err error
		t.Requests++
		t.Sent = r.Stream && !a.Learned.StreamingOff
		if t.Reading, err = a.send(ctx, r); err != nil {
			return err
		}
		if t.Ending != Again && t.Ending != Empty || !t.Sent {
			return nil
		}
	}
	return nil
}

func (a *Agent) learn(v Verdict) {
	l := &a.Learned
	l.StreamingOff = l.StreamingOff || v.StreamingOff
	l.UsageOff = l.UsageOff || v.UsageOff
	if v.Compress {
		l.Compressed++
	}
	if v.Window > 0 {
		l.Window = v.Window
	}
	if bench := v.React(a.Session.Now).Bench; bench > 0 {
		l.BenchedUntil = a.Session.Now.Add(bench)
	}
}

// errStale is why the agent itself ended a stream.
var errStale = errors.New("no data for too long")

// send makes one physical request and reads its answer.
func (a *Agent) send(ctx context.Context, r Request) (Reading, error) {
	stream := r.Stream && !a.Learned.StreamingOff
	call, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := http.NewRequestWithContext(call, http.MethodPost, a.BaseURL+"/chat/completions", bytes.NewReader(r.Body(stream, !a.Learned.UsageOff)))
	if err != nil {
		return Reading{}, err
	}
	a.dress(req)
	req.Header.Set("Content-Type", "application/json")
	res, err := a.Transport.RoundTrip(req)
	if err != nil {
		return Reading{Ending: Again, Verdict: Verdict{Reason: Timeout, Retryable: true}}, ctx.Err()
	}
	defer res.Body.Close()
	body, cut := a.read(res.Body, cancel)
	if context.Cause(call) == errStale { //nolint:errorlint // the sentinel itself was given
		a.Learned.StaleKills++
	}
	return a.judge(res, body, cut, stream), ctx.Err()
}

func (a *Agent) judge(res *http.Response, body []byte, cut error, stream bool) Reading {
	a.Session.Now = time.Now()
	switch {
	case res.StatusCode >= 400:
		return Reading{Ending: Raised, Verdict: ClassifyHermes(res.StatusCode, res.Header, body, a.Session)}
	case stream:
		return ReadHermes(body, cut, a.Session)
	case cut != nil:
		return Reading{Ending: Again, Verdict: ClassifyHermesCut(a.Session)}
	}
	return ReadHermesWhole(body)
}

// dress gives a request the headers of openai-python, which names no agent and asks for JSON even of a stream.
func (a *Agent) dress(req *http.Request) {
	maps.Copy(req.Header, a.Header)
	req.Header.Set("Authorization", "Bearer "+a.Key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	for name, value := range map[string]string{
		"User-Agent": "OpenAI/Python 3.3.1", "X-Stainless-Lang": "python", "X-Stainless-Package-Version": "3.3.1",
		"X-Stainless-Runtime": "CPython", "X-Stainless-Async": "false", "X-Stainless-Retry-Count": "0",
	} {
		if req.Header.Get(name) == "" {
			req.Header.Set(name, value)
		}
	}
}

// read reads a body to its end. Comments keep the connection alive but not the patience: only data counts, and a stream
// that is silent for too long is given up.
func (a *Agent) read(body io.Reader, cancel context.CancelCauseFunc) ([]byte, error) {
	stale := cmp.Or(a.Stale, 180*time.Second)
	watchdog := time.AfterFunc(stale, func() { cancel(errStale) })
	defer watchdog.Stop()
	var got []byte
	for buf := make([]byte, 4096); ; {
		n, err := body.Read(buf)
		got = append(got, buf[:n]...)
		if bytes.Contains(buf[:n], []byte("data:")) {
			watchdog.Reset(stale)
		}
		switch {
		case errors.Is(err, io.EOF):
			return got, nil
		case err != nil:
			return got, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
