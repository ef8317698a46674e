package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/router"
)

// kept stands for those who keep runs and answers: it tells what it was handed. A GET of /v1/runs/live is served until its
// context ends.
type kept struct{ end error }

func (k *kept) ServeRuns(w http.ResponseWriter, r *http.Request, c Client) {
	if r.URL.Path != "/v1/runs/live" || r.Method != http.MethodGet {
		k.tell(w, r, c, "runs")
		return
	}
	fmt.Fprint(w, "data: 1\n\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
	k.end = context.Cause(r.Context())
	fmt.Fprint(w, ": bye\n")
}

func (k *kept) ServeResponse(w http.ResponseWriter, r *http.Request, c Client) {
	k.tell(w, r, c, "response")
}

func (k *kept) StartResponse(w http.ResponseWriter, r *http.Request, c Client, body []byte) {
	if strings.Contains(string(body), `"stream":true`) {
		<-r.Context().Done()
		k.end = context.Cause(r.Context())
	}
	fmt.Fprintf(w, "start %s %s by %q role %q: %s", r.Method, r.URL.EscapedPath(), c.Name, c.Role, body)
}

func (k *kept) tell(w http.ResponseWriter, r *http.Request, c Client, what string) {
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s?%s by %q role %q of %q/%v %s", what, r.Method, r.URL.EscapedPath(), r.URL.RawQuery, c.Name, c.Role, c.DefaultRole, c.Roles, body)
}

// keeping is a rig with somebody who keeps runs and answers.
func keeping(t *testing.T, s setup) (*rig, *kept) {
	t.Helper()
	k := &kept{}
	s.options = func(o *Options) { o.Runs, o.Responses = k, k }
	if s.config == nil {
		s.config = guarded
	}
	s.roles = []router.Role{
		{ID: "main", Aliases: []string{"boss"}, Chain: []router.ChainItem{{Profile: "a"}}}, {ID: "other", Chain: []router.ChainItem{{Profile: "b"}}},
	}
	return newRig(t, s), k
}

// The routes of runs are reached by who has a key, at the root and under a role that the key may use, with and without a
// trailing slash; whoever serves them is told who calls, sees one form of the path, and has the body.
func TestRunRoutes(t *testing.T) {
	r, _ := keeping(t, setup{})
	f := func(method, path, body, key, want string) {
		t.Helper()
		got := r.send(method, path, body, "Authorization", "Bearer "+key)
		line := got.line()
		if got.status == http.StatusOK {
			line = got.body
		}
		if line != want {
			t.Errorf("%s %s:\n got %s\nwant %s", method, path, line, want)
		}
		if got.header.Get(headerRequestID) == "" {
			t.Errorf("%s %s: the answer has no id", method, path)
		}
	}
	const all, few = ` by "all" role "" of ""/[] `, ` by "few" role "" of "other"/[other] `
	f("GET", "/v1/capabilities", "", "key-all", "runs GET /v1/capabilities?"+all)
	f("GET", "/v1/capabilities/", "", "key-all", "runs GET /v1/capabilities?"+all)
	f("POST", "/v1/runs", `{"input":"hi"}`, "key-few", "runs POST /v1/runs?"+few+`{"input":"hi"}`)
	f("POST", "/v1/runs/", `{"input":"hi"}`, "key-few", "runs POST /v1/runs?"+few+`{"input":"hi"}`)
	f("GET", "/v1/runs/run_1/events?after_seq=5", "", "key-all", "runs GET /v1/runs/run_1/events?after_seq=5"+all)
	f("GET", "/v1/runs/run_1/events/?after_seq=5", "", "key-all", "runs GET /v1/runs/run_1/events?after_seq=5"+all)
	f("GET", "/v1/runs/a%2Fb/events", "", "key-all", "runs GET /v1/runs/a%2Fb/events?"+all)
	f("GET", "/v1/sessions/a%2f..%2Fb/runs", "", "key-all", "runs GET /v1/sessions/a%2f..%2Fb/runs?"+all) // was session b's
	f("GET", "/v1/sessions/%2e%2e/runs", "", "key-all", "runs GET /v1/sessions/%2e%2e/runs?"+all)         // was the list of all runs
	f("GET", "/v1/runs/../runs//x", "", "key-all", "runs GET /v1/runs/x?"+all)
	f("DELETE", "/v1/sessions/s%201", "", "key-all", "runs DELETE /v1/sessions/s%201?"+all)
	f("PUT", "/v1/runs/x", "", "key-all", "runs PUT /v1/runs/x?"+all)
	f("GET", "/r/boss/v1/runs", "", "key-all", `runs GET /v1/runs? by "all" role "main" of ""/[] `)
	f("GET", "/r/other/v1/sessions/s/runs/", "", "key-few", `runs GET /v1/sessions/s/runs? by "few" role "other" of "other"/[other] `)
	f("GET", "/r/main/v1/runs", "", "key-few", "403 code=role_forbidden")
	f("GET", "/r/v1/v1/runs", "", "key-all", "404 code=model_not_found")
	f("GET", "/r/main/anthropic/v1/runs", "", "key-all", "404 code=not_found")
	f("GET", "/v1/runs", "", "wrong", "401 code=invalid_api_key")
	f("POST", "/v1/runs", strings.Repeat("x", 1<<20+1), "key-all", "413 code=request_too_large")

	f("GET", "/v1/responses/resp_1?stream=true", "", "key-all", "response GET /v1/responses/resp_1?stream=true"+all)
	f("DELETE", "/r/main/anthropic/v1/responses/resp_1/", "", "key-all", `response DELETE /v1/responses/resp_1? by "all" role "main" of ""/[] `)
	f("POST", "/v1/responses/resp_1/cancel", "", "key-all", "response POST /v1/responses/resp_1/cancel?"+all)
	f("GET", "/v1/responses/resp_1", "", "wrong", "401 code=invalid_api_key")
	r.wantCalls("a=0 b=0 c=0")
}

// Without anybody who keeps runs there are no such routes.
func TestNoRunRoutes(t *testing.T) {
	r := newRig(t, setup{})
	for _, path := range []string{"/v1/capabilities", "/v1/runs", "/v1/runs/x/events", "/v1/sessions/s/runs", "/r/main/v1/runs", "/v1/responses/resp_1"} {
		r.want(r.send(http.MethodGet, path, ""), "404 code=not_found")
	}
	r.want(r.send(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"hi","background":true}`), "400 code=invalid_request_error")
}

// An answer that is made in the background is somebody else's, once it is clear that the client may ask for it. It is no
// exchange of the plane. Everything else is served as ever.
func TestBackgroundResponses(t *testing.T) {
	r, _ := keeping(t, setup{})
	f := func(path, body, key, want string) {
		t.Helper()
		got := r.send(http.MethodPost, path, body, "Authorization", "Bearer "+key)
		if got.line() != want && got.body != want {
			t.Errorf("%s %s:\n got %s %s\nwant %s", path, body, got.line(), got.body, want)
		}
	}
	const detached = `{"model":"sim-1","input":"hi","background":true}`
	f("/v1/responses", detached, "key-all", `start POST /v1/responses by "all" role "": `+detached)
	f("/r/boss/v1/responses/", detached, "key-all", `start POST /v1/responses by "all" role "main": `+detached)
	if n := len(r.told.all); n != 0 {
		t.Errorf("told of %d exchanges", n)
	}
	f("/r/main/v1/responses", detached, "key-few", "403 code=role_forbidden")
	f("/v1/responses", detached, "wrong", "401 code=invalid_api_key")
	f("/v1/responses", strings.Replace(detached, "sim-1", "role:nobody", 1), "key-all", "404 code=model_not_found")
	f("/v1/responses", strings.Replace(detached, `"model"`, `"previous_response_id":"resp_1","model"`, 1), "key-all", "400 code=invalid_request_error")
	f("/v1/responses/compact", detached, "key-all", "400 code=invalid_request_error")
	f("/v1/responses", `{"model":"sim-1","input":"hi","store":true}`, "key-all", "200 profile=a attempts=1") // not in the background: the client waits
	r.settle()
	r.wantCalls("a=1 b=0 c=0")

	c := Call{Client: "all", Path: "/v1/responses", Body: []byte(detached)}
	r.want(r.within(c), "400 code=invalid_request_error") // a run is in the background already
}

// A hub that stops does not wait for those who only watch: they are let go at once and cleanly, so that they go on
// elsewhere. What changes something is waited for.
func TestObserversDoNotHoldTheDrain(t *testing.T) {
	f := func(method, path, body string) {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, k := keeping(t, setup{direct: true, config: func(*Config) {}})
				defer r.sim.Close()
				answers := make(chan reply, 1)
				go func() { answers <- r.send(method, path, body) }()
				synctest.Wait()
				began := time.Now()
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				if cut := r.proxy.Drain(ctx); cut != 0 || time.Since(began) != 0 {
					t.Errorf("%d cut after %s", cut, time.Since(began))
				}
				if got := <-answers; got.err != nil || got.status != http.StatusOK {
					t.Errorf("%s", got.line())
				}
				if !errors.Is(k.end, ErrStopping) {
					t.Errorf("let go for %v", k.end)
				}
				r.want(r.send(http.MethodGet, "/v1/runs", ""), "503 retry=1 code=hub_unavailable")
				r.want(r.send(http.MethodPost, "/v1/runs", "{}"), "503 retry=1 code=hub_unavailable")
			})
		})
	}
	f(http.MethodGet, "/v1/runs/live", "")
	f(http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"hi","background":true,"stream":true}`)
}
