package proxy

import (
	"net/http"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// P01: a plain and a streamed completion pass byte for byte, with usage and [DONE].
func TestPassThrough(t *testing.T) {
	r := newRig(t, setup{})
	got := r.chat(ask)
	r.want(got, "200 profile=a attempts=1")
	if !strings.Contains(got.body, `"object":"chat.completion"`) || !strings.Contains(got.body, `"usage"`) {
		t.Errorf("body %s", got.body)
	}
	got = r.chat(strings.Replace(askStream, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1))
	r.want(got, "200 profile=a attempts=1 [DONE]")
	if ct := got.header.Get("Content-Type"); !strings.HasPrefix(ct, "text/event-stream") {
		t.Errorf("content type %q", ct)
	}
	if !strings.Contains(got.body, `"choices":[],"usage":{`) {
		t.Errorf("the usage chunk was asked for: %s", got.body)
	}
	if got = r.chat(askStream); strings.Contains(got.body, `"choices":[],"usage":{`) {
		t.Errorf("the usage chunk was not asked for: %s", got.body)
	}
	if use := r.told.last().Attempts[0].Usage; !use.Known || use.Input == 0 || use.Output == 0 {
		t.Errorf("usage of a stream whose client did not ask: %+v", use)
	}
	for _, call := range r.sim.Calls("a")[1:] {
		if !strings.Contains(string(call.Body), `"include_usage":true`) {
			t.Errorf("upstream was not asked for usage: %s", call.Body)
		}
	}
	r.settle()
}

// P02, P03: an account out of quota is replaced inside the request, streamed or not, and then left alone until its reset.
func TestFailover(t *testing.T) {
	for _, body := range []string{ask, askStream} {
		r := newRig(t, setup{})
		quota := `{"error":{"message":"You exceeded your current quota","type":"usage_limit_reached","code":"usage_limit_reached","resets_in_seconds":7200}}`
		r.sim.Push("a", simulator.Status(429, quota, nil))
		got := r.chat(body)
		if got.status != 200 || got.header.Get(headerProfile) != "b" || got.header.Get(headerFailover) != "quota_exhausted" {
			t.Errorf("%s: %s", body, got.line())
		}
		if strings.Contains(got.body, "exceeded") {
			t.Errorf("a's error reached the client: %s", got.body)
		}
		if got = r.chat(body); got.header.Get(headerProfile) != "b" || got.header.Get(headerAttempts) != "1" {
			t.Errorf("%s: %s", body, got.line())
		}
		r.wantCalls("a=1 b=2 c=0")
		if f := r.told.all[0].Failovers; f != 1 {
			t.Errorf("%d failovers told, want 1", f)
		}
		r.settle()
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	r := newRig(t, setup{})
	f := func(method, path, want string) {
		t.Helper()
		got := r.send(method, path, "")
		if got.line() != want || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %s (%s)", method, path, got.line(), got.header.Get("Content-Type"))
		}
	}
	for _, path := range []string{"/", "/api/v1/models", "/api/tags", "/v1/props", "/props", "/version", "/v1", "/r/main/props", "/v1/chat"} {
		f(http.MethodGet, path, "404 code=not_found")
	}
	f(http.MethodGet, "/v1/chat/completions", "405 code=method_not_allowed")
	f(http.MethodDelete, "/v1/models", "405 code=method_not_allowed")
	r.wantCalls("a=0 b=0 c=0")
}
