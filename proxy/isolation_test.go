package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// P26: nothing of the client's reaches an upstream but its body and what the allow-list names; nothing of the account's
// reaches the client but what the other list names.
func TestHeaderAllowLists(t *testing.T) {
	r := newRig(t, setup{
		config: func(c *Config) {
			c.Keys = []Key{{Name: "desk", Secret: router.NewSecret("canary-client-key")}}
			c.AllowedOrigins = []string{"http://canary-7.test"}
		},
		profiles: func(ps []router.Profile) {
			ps[0].Headers = http.Header{"X-Extra": {"configured"}, "User-Agent": {"own-agent/1"}}
		},
	})
	sent := []string{
		"Authorization", "Bearer canary-client-key", "X-Api-Key", "canary-2", "Cookie", "canary-3", "X-Forwarded-For", "canary-4",
		"Forwarded", "canary-5", "Via", "canary-6", "Origin", "http://canary-7.test", "Referer", "canary-8", "Traceparent", "canary-9",
		"Baggage", "canary-10", "Idempotency-Key", "canary-11", "X-Idempotency-Key", "canary-12", "Openai-Organization", "canary-13",
		"Connection", "Authorization, X-Extra", "Te", "trailers", "X-Hub-Session", "canary-14", "User-Agent", "canary-15", "Proxy-Authorization", "canary-16",
		"Openai-Beta", "assistants=v2", "Accept-Encoding", "br",
	}
	r.sim.Push("a", simulator.Status(200, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, http.Header{
		"Set-Cookie": {"leak=1"}, "Openai-Organization": {"org-leak"}, "X-Ratelimit-Remaining-Requests": {"3"}, "Server": {"leak"},
		"Openai-Processing-Ms": {"12"}, "Cf-Ray": {"leak"}, "X-Request-Id": {"upstream-leak"}, "Retry-After": {"9"}, "Connection": {"X-Leak"},
	}))
	got := r.chat(ask, sent...)
	r.want(got, "200 profile=a attempts=1")
	call := r.sim.Calls("a")[0]
	var seen []string
	for name, values := range call.Header {
		seen = append(seen, fmt.Sprintf("%s: %s", name, strings.Join(values, ",")))
	}
	all := strings.Join(seen, "\n") + string(call.Body)
	if strings.Contains(all, "canary") {
		t.Errorf("the upstream saw:\n%s", all)
	}
	for _, want := range []string{"Authorization: Bearer sk-upstream-a", "X-Extra: configured", "User-Agent: own-agent/1", "Openai-Beta: assistants=v2", "Accept-Encoding: identity"} {
		if !strings.Contains(all, want) {
			t.Errorf("the upstream did not see %s:\n%s", want, all)
		}
	}
	if len(seen) > 9 {
		t.Errorf("the upstream saw %d headers:\n%s", len(seen), all)
	}
	for name, values := range got.header {
		if strings.Contains(strings.Join(values, ""), "leak") || strings.HasPrefix(name, "X-Ratelimit") || name == "Retry-After" {
			t.Errorf("the client saw %s: %s", name, values)
		}
	}
	if got.header.Get("Openai-Processing-Ms") != "12" {
		t.Error("openai-processing-ms was lost")
	}
}

// P26: an account's key that its provider echoes in an error does not reach the client, the log or the trail.
func TestEchoedKey(t *testing.T) {
	r := newRig(t, setup{})
	r.sim.Push("a", simulator.Status(400, `{"error":{"message":"bad parameter; your key sk-upstream-a is fine","type":"invalid_request_error","code":"unsupported_parameter"}}`, nil))
	got := r.chat(ask)
	r.want(got, "400 attempts=1 code=unsupported_parameter")
	trail, _ := r.trails.Find(got.header.Get(headerRequestID))
	for where, text := range map[string]string{"body": got.body, "log": r.log.String(), "trail": fmt.Sprintf("%+v", trail), "exchange": fmt.Sprintf("%+v", r.told.last())} {
		if strings.Contains(text, "sk-upstream-a") {
			t.Errorf("%s holds the key: %s", where, text)
		}
	}
}

// P25: a redirect is an answer like any other broken one. Neither the key nor the body goes where it points.
func TestRedirectIsNotFollowed(t *testing.T) {
	hits := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer other.Close()
	r := newRig(t, setup{})
	for _, status := range []int{301, 302, 303, 307, 308} {
		r.sim.Reset("a", simulator.Status(status, "", http.Header{"Location": {other.URL}}))
		r.router.ClearCooldown("a")
		r.want(r.chat(ask), "200 profile=b attempts=2 after=server_error")
	}
	if hits != 0 {
		t.Errorf("%d calls went where a redirect pointed", hits)
	}
}

// A client cannot name the host its request goes to, by whatever member, header or query it tries.
func TestClientCannotChooseTheHost(t *testing.T) {
	hits := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits++ }))
	defer other.Close()
	r := newRig(t, setup{})
	body := strings.Replace(ask, `{`, fmt.Sprintf(`{"api_base":%[1]q,"base_url":%[1]q,"custom_base_url":%[1]q,"endpoint":%[1]q,`, other.URL), 1)
	got := r.send(http.MethodPost, "/v1/chat/completions?base_url="+other.URL+"&api_base="+other.URL, body,
		"X-Base-Url", other.URL, "X-Forwarded-Host", other.URL, "X-Upstream-Host", other.URL, "X-Original-Url", other.URL)
	r.want(got, "200 profile=a attempts=1")
	if hits != 0 {
		t.Errorf("%d calls went where the client pointed", hits)
	}
}

// P27: a profile's own proxy wins over the environment's.
func TestProfileProxyWins(t *testing.T) {
	own := proxyFor(t)
	global := proxyFor(t)
	t.Setenv("HTTP_PROXY", global.URL)
	t.Setenv("http_proxy", global.URL)
	r := newRig(t, setup{profiles: func(ps []router.Profile) {
		ps[0].ProxyURL = own.URL
		ps[0].BaseURL = "http://upstream.test/v1" // not loopback, which the environment's proxy never serves
	}})
	r.want(r.chat(ask), "200 profile=a attempts=1")
	if len(own.seen) != 1 || len(global.seen) != 0 {
		t.Errorf("own proxy saw %v, the environment's %v", own.seen, global.seen)
	}
}

// proxyServer is an HTTP proxy that answers every call itself.
type proxyServer struct {
	*httptest.Server
	seen []string
}

func proxyFor(t *testing.T) *proxyServer {
	p := &proxyServer{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.seen = append(p.seen, r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"content":"by proxy"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(p.Close)
	return p
}
