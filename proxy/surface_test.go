package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/router"
)

// Text completions and embeddings go through the same exchange as chat: roles, keys, failover, shapes of errors.
func TestOtherSurfaces(t *testing.T) {
	const embeddings = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.25,-1e-3]}],"model":"sim-1","usage":{"prompt_tokens":4,"total_tokens":4}}`
	const completion = `{"id":"c","object":"text_completion","choices":[{"index":0,"text":"x","finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}`
	const piece = `data: {"choices":[{"index":0,"text":"x","finish_reason":null}]}` + "\n\n"
	const end = `data: {"choices":[{"index":0,"text":"","finish_reason":"length"}]}` + "\n\n"
	f := func(path, body, contentType, answer, want, contains string) {
		t.Helper()
		r := newRig(t, setup{})
		var called []string
		r.proxy.transport = func(p *router.Profile) http.RoundTripper {
			return canned(func(req *http.Request) (int, string, string) {
				called = append(called, p.ID+req.URL.Path)
				switch p.ID {
				case "a":
					return http.StatusServiceUnavailable, "application/json", `{"error":{"message":"The engine is overloaded","code":"server_is_overloaded"}}`
				case "b":
					return http.StatusOK, contentType, answer
				default:
					return http.StatusOK, "application/json", embeddings
				}
			})
		}
		got := r.send(http.MethodPost, path, body)
		r.want(got, want)
		if !strings.Contains(got.body, contains) {
			t.Errorf("%s: %s", path, got.body)
		}
		for _, call := range called {
			if want := "/v1" + strings.TrimPrefix(strings.TrimPrefix(path, "/r/main"), "/v1"); call[1:] != want {
				t.Errorf("%s went to %s", path, call)
			}
		}
	}
	const second = "200 profile=b attempts=2 after=overloaded"
	f("/v1/embeddings", `{"model":"sim-1","input":"x"}`, "application/json", embeddings, second, embeddings)
	f("/r/main/v1/embeddings", `{"model":"sim-1","input":["x","y"]}`, "application/json", embeddings, second, embeddings)
	f("/v1/completions", `{"model":"sim-1","prompt":"x"}`, "application/json", completion, second, completion)
	f("/v1/completions", `{"model":"sim-1","prompt":"x","stream":true}`, "text/event-stream", piece+end+chunkDone, second+" [DONE]", piece+end)
	f("/v1/embeddings", `{"model":"sim-1","input":"x"}`, "application/json", `{"object":"list","data":[]}`, "200 profile=c attempts=3 after=overloaded,server_error", "data")
	f("/v1/embeddings", `{"model":"sim-1"}`, "application/json", embeddings, "400 code=invalid_request_error", "input is missing")
	f("/v1/embeddings", `{"model":"sim-1","input":"x","stream":true}`, "application/json", embeddings, "400 code=invalid_request_error", "no stream")
	// An embedding of another model than the one asked for would be noise in somebody's index.
	f("/r/main/v1/embeddings", `{"model":"text-embedding-9","input":"x"}`, "application/json", embeddings, "404 code=model_not_found", "text-embedding-9")
}

// canned is an upstream that answers every call at once: status, content type and body.
type canned func(*http.Request) (int, string, string)

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	status, kind, body := c(req)
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req,
	}, nil
}
