package oracle

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answers is an endpoint that gives its answers one after the other, the last one for ever. An answer is a status, a blank,
// and a body; "hang" is a stream that brings nothing but comments.
type answers struct {
	list []string
	asks []string // what the requests asked for
}

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	a.asks = append(a.asks, string(body))
	next := a.list[0]
	if len(a.list) > 1 {
		a.list = a.list[1:]
	}
	if next == "lost" {
		return nil, io.ErrUnexpectedEOF
	}
	status, text, _ := strings.Cut(next, " ")
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
	switch status {
	case "hang":
		res.Body = hanging{req.Context()}
	case "429":
		res.StatusCode = http.StatusTooManyRequests
	case "400":
		res.StatusCode = http.StatusBadRequest
	case "503":
		res.StatusCode = http.StatusServiceUnavailable
	}
	return res, nil
}

// hanging is a body of comments, one a second, until its reader goes away.
type hanging struct{ ctx context.Context }

func (h hanging) Read(b []byte) (int, error) {
	select {
	case <-h.ctx.Done():
		return 0, h.ctx.Err()
	case <-time.After(time.Second):
		return copy(b, ": ka\n"), nil
	}
}

func (h hanging) Close() error { return nil }

// What a turn takes, and what is left of it for the next.
func TestAgent(t *testing.T) {
	const whole = `200 data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}` + "\n\n"
	f := func(want string, learned Learned, list ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			end := &answers{list: list}
			a := &Agent{BaseURL: "http://hub.test/v1", Key: "k", Transport: end}
			got, err := a.Turn(t.Context(), Requests("main")[0])
			if err != nil || got.String() != want {
				t.Errorf("%q: got %s, want %s; %v", list, got, want, err)
			}
			if !learned.BenchedUntil.IsZero() {
				learned.BenchedUntil = a.Learned.BenchedUntil
			}
			if a.Learned != learned {
				t.Errorf("%q: learned %+v, want %+v", list, a.Learned, learned)
			}
			if learned.StreamingOff == strings.Contains(end.asks[len(end.asks)-1], `"stream":true`) {
				t.Errorf("%q: asked %s", list, end.asks[len(end.asks)-1])
			}
		})
	}
	benched := time.Unix(1, 0)
	f("complete finish=stop requests=1", Learned{}, whole)
	f("complete finish=stop requests=2 waited=2s", Learned{}, `503 {"error":{"message":"busy"}}`, whole)
	f("raised overloaded requests=3 waited=6s", Learned{}, `503 {"error":{"message":"busy"}}`)
	f("raised rate_limit requests=3 waited=40s", Learned{BenchedUntil: benched}, `429 {"error":{"message":"slow down","retry_after":20}}`)
	f("raised format_error requests=1", Learned{}, `400 {"error":{"message":"something in it is not as it should be"}}`)
	f("raised context_overflow+compress+window=8192 requests=1", Learned{Compressed: 1, Window: 8192}, `400 {"error":{"message":"maximum context length is 8192 tokens"}}`)
	f("complete requests=2 waited=2s", Learned{StreamingOff: true}, `503 {"error":{"message":"stream is not supported now"}}`, `200 {"choices":[{"message":{"content":"a"}}]}`)
	f("complete finish=stop requests=3", Learned{}, "lost", "200 ", whole)
	f("again timeout requests=9 waited=6s", Learned{}, "lost")
	f("empty requests=9 waited=6s", Learned{}, "200 : nothing\n\n")
	f("complete finish=stop requests=2", Learned{StaleKills: 1}, "hang", whole)
}
