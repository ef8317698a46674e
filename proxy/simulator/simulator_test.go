package simulator_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"hermes-hub/proxy/simulator"
)

const (
	plainBody  = `{"model":"gpt-5.5","messages":[{"role":"user","content":"hello"}]}`
	streamBody = `{"model":"gpt-5.5","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`
)

var accountA = simulator.Account{Name: "a", Key: "sk-a", Models: []string{"gpt-5.5"}}

// client is Go's client of a provider, by one of the two ways to reach it.
type client struct {
	*simulator.Provider
	http http.RoundTripper
	base string
}

// bothWays runs the test by both ways: in a bubble in memory, and over TCP. It fails when something is left running.
func bothWays(t *testing.T, test func(t *testing.T, c client), accounts ...simulator.Account) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := simulator.New(accounts...)
			test(t, client{p, p, "https://api.example.com/v1"})
		})
	})
	t.Run("tcp", func(t *testing.T) {
		p := simulator.New(accounts...)
		base, closeAll, err := p.Listen()
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{}
		defer closeAll() // waits for every goroutine of the provider
		defer transport.CloseIdleConnections()
		test(t, client{p, transport, base})
	})
}

// request is a chat completion with the key "sk-a".
func (c client) request(ctx context.Context, t *testing.T, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-a")
	return req
}

// do sends the request and reads the answer to its end. The answer is nil when there was none.
func (c client) do(req *http.Request) (*http.Response, []byte, error) {
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// ask sends a chat completion with the key "sk-a" and reads the answer to its end.
func (c client) ask(t *testing.T, body string) (*http.Response, []byte, error) {
	t.Helper()
	return c.do(c.request(t.Context(), t, body))
}

// leave sends the request and cancels it when the answer has shown the text, "" being before any answer.
func (c client) leave(t *testing.T, body, text string) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if text == "" {
		already := c.Total("a")
		go func() {
			defer cancel()
			_ = c.WaitCalls(ctx, "a", already+1) // ends with ctx at the latest
		}()
	}
	resp, err := c.http.RoundTrip(c.request(ctx, t, body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var shown []byte
	for {
		piece := make([]byte, 4096)
		n, err := resp.Body.Read(piece)
		if shown = append(shown, piece[:n]...); text != "" && bytes.Contains(shown, []byte(text)) {
			cancel()
		}
		if err != nil {
			return err
		}
	}
}
