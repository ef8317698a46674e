package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// Row 26: a web page that rebinds its own name to this machine reads nothing and spends nothing. A reload changes the list.
func TestForeignHost(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.AllowedHosts = []string{"hub.test", "hub.example"} }})
	f := func(host, want string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.server.URL+"/v1/chat/completions", strings.NewReader(ask))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		res, err := r.server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if got := (reply{res.StatusCode, res.Header, string(body), err}).line(); got != want {
			t.Errorf("Host %s:\n got %s\nwant %s", host, got, want)
		}
	}
	const served, refused = "200 profile=a attempts=1", "421 code=foreign_host"
	f("127.0.0.1:7400", served)
	f("localhost", served)
	f("hub.example:443", served)
	f("evil.test:7400", refused)
	f("localhost.evil.test", refused)
	f("x@localhost", refused)
	r.wantCalls("a=3 b=0 c=0")
	c := r.proxy.settings.Load().Config
	c.AllowedHosts = []string{"evil.test"}
	r.proxy.Configure(c)
	f("evil.test:7400", served)
	f("hub.example", refused)
}

// Row 25, with nothing configured: no page of another site can make its visitor's browser spend the accounts, and none can
// read an answer. Clients that are no browsers send none of these headers.
func TestCrossOriginIsOff(t *testing.T) {
	r := newRig(t, setup{})
	f := func(method, path, body, want string, headers ...string) {
		t.Helper()
		got := r.send(method, path, body, headers...)
		if got.line() != want {
			t.Errorf("%s %v:\n got %s\nwant %s", method, headers, got.line(), want)
		}
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
				t.Errorf("%s %v: the answer has %s", method, headers, name)
			}
		}
	}
	const chat, refused = "/v1/chat/completions", "403 code=cross_origin"
	f("POST", chat, ask, "200 profile=a attempts=1")
	f("POST", chat, ask, "200 profile=a attempts=1", "Origin", "http://hub.test")
	f("POST", chat, ask, "200 profile=a attempts=1", "Sec-Fetch-Site", "same-origin", "Origin", "http://hub.test")
	f("POST", chat, ask, refused, "Origin", "http://evil.test", "Content-Type", "text/plain")
	f("POST", chat, ask, refused, "Origin", "null", "Content-Type", "text/plain")
	f("POST", chat, ask, refused, "Sec-Fetch-Site", "cross-site")
	f("OPTIONS", chat, "", refused, "Origin", "http://evil.test", "Access-Control-Request-Method", "POST")
	f("OPTIONS", "/v1/models", "", refused, "Origin", "http://evil.test", "Access-Control-Request-Method", "GET")
	f("GET", "/v1/models", "", "200", "Origin", "http://evil.test", "Sec-Fetch-Site", "cross-site")
	f("OPTIONS", chat, "", "405 code=method_not_allowed")
	r.wantCalls("a=3 b=0 c=0")
}

// For a page that is allowed, a browser gets to hear what it needs: its own header names as an echo, because client
// libraries add headers that no list would keep up with, and the headers that it may read. Never credentials.
func TestCrossOriginIsOn(t *testing.T) {
	listed := newRig(t, setup{config: func(c *Config) { c.AllowedOrigins = []string{"https://chat.example", "app://obsidian.md"} }})
	any := newRig(t, setup{config: func(c *Config) { c.AllowedOrigins = []string{"*"} }})
	f := func(r *rig, method, origin, want string) {
		t.Helper()
		headers := []string{"Origin", origin, "Sec-Fetch-Site", "cross-site"}
		if method == http.MethodOptions {
			headers = append(headers, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type,x-stainless-os")
		}
		got := r.send(method, "/v1/chat/completions", ask, headers...)
		h := got.header
		line := fmt.Sprintf("%d origin=%s headers=%s expose=%v vary=%s", got.status, h.Get("Access-Control-Allow-Origin"),
			h.Get("Access-Control-Allow-Headers"), strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-Request-Id, Request-Id, Retry-After"),
			strings.Join(h.Values("Vary"), "+"))
		if line != want {
			t.Errorf("%s from %s:\n got %s\nwant %s", method, origin, line, want)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s from %s: credentials are allowed", method, origin)
		}
	}
	f(listed, "POST", "https://chat.example", "200 origin=https://chat.example headers= expose=true vary=Origin")
	f(listed, "POST", "app://obsidian.md", "200 origin=app://obsidian.md headers= expose=true vary=Origin")
	f(listed, "POST", "https://chat.example.evil.test", "403 origin= headers= expose=false vary=")
	f(listed, "POST", "http://chat.example", "403 origin= headers= expose=false vary=")
	f(listed, "OPTIONS", "https://chat.example", "204 origin=https://chat.example headers=authorization,content-type,x-stainless-os expose=false vary=Origin+Access-Control-Request-Headers")
	f(listed, "OPTIONS", "https://evil.test", "403 origin= headers= expose=false vary=")
	f(any, "POST", "https://anything.test", "200 origin=* headers= expose=true vary=Origin")
	f(any, "POST", "null", "200 origin=* headers= expose=true vary=Origin")
	f(any, "OPTIONS", "https://anything.test", "204 origin=* headers=authorization,content-type,x-stainless-os expose=false vary=Origin+Access-Control-Request-Headers")

	// An answer that no page asked for still says that it would differ: a cache must not hand it to one.
	if got := listed.send(http.MethodGet, "/v1/models", ""); got.status != 200 || got.header.Get("Vary") != "Origin" || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without an origin: %d %v", got.status, got.header)
	}
	// What is exposed to pages is what the hub answers with.
	if h := listed.send("POST", "/v1/chat/completions", ask, "Origin", "https://chat.example").header; true {
		for name := range h {
			if strings.HasPrefix(name, "X-Hub-") && !strings.Contains(h.Get("Access-Control-Expose-Headers"), name) {
				t.Errorf("%s is not exposed", name)
			}
		}
	}
}

// T32: Codex asks for a WebSocket first. It goes on over HTTP at once when it is told 426, and tries for minutes when it is
// told something else.
func TestWebSocketIsToldAtOnce(t *testing.T) {
	r := newRig(t, setup{config: func(c *Config) { c.Keys = []Key{{Name: "k"}} }})
	f := func(path, want string) {
		t.Helper()
		got := r.send(http.MethodGet, path, "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		r.want(got, want)
	}
	for _, path := range []string{"/v1/responses", "/v1/responses/", "//v1//responses", "/r/main/v1/responses", "/r/main/v1/responses?x=1"} {
		f(path, "426 code=upgrade_required")
	}
	f("/v1/realtime", "404 code=not_found")
	f("/v1/xresponses", "404 code=not_found")
	r.want(r.send(http.MethodGet, "/v1/responses", ""), "405 code=method_not_allowed")
}

// A slash too many is answered and never redirected: a redirected POST loses its body, or is not followed.
func TestSlashes(t *testing.T) {
	r := newRig(t, setup{})
	for _, path := range []string{
		"/v1/chat/completions", "/v1/chat/completions/", "//v1/chat/completions", "/v1//chat/completions", "/v1/chat//completions//",
		"/r/main/v1/chat/completions/", "//r//main//v1//chat//completions", "/r/main//v1/chat/completions",
	} {
		r.want(r.send(http.MethodPost, path, ask), "200 profile=a attempts=1")
	}
	for _, path := range []string{"/v1/models", "/v1/models/", "//v1/models", "/v1//models//", "/r/main/v1/models/", "/r//main/v1/models", "/v1/models/sim-1", "/v1//models/sim-1/", "/healthz/", "//healthz"} {
		r.want(r.send(http.MethodGet, path, ""), "200")
	}
}

// A client that asks before it sends (curl does, with a large body) is told 413 before it has sent a byte of it.
func TestExpectTooLarge(t *testing.T) {
	r := newRig(t, setup{})
	f := func(length int, expect, want string) {
		t.Helper()
		conn, err := net.Dial("tcp", r.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: hub.test\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: %s\r\n\r\n", length, expect)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		got := reply{res.StatusCode, res.Header, string(body), err}.line()
		if got != want {
			t.Errorf("Content-Length %d, Expect %s: got %s, want %s", length, expect, got, want)
		}
		if res.StatusCode != http.StatusRequestEntityTooLarge {
			return
		}
		if _, err := in.ReadByte(); err == nil || !res.Close {
			t.Errorf("Content-Length %d: the connection stays open for a body that nobody reads", length)
		}
	}
	f(1<<20+1, "100-continue", "413 code=request_too_large")
	f(200, "100-continue", "100")
	f(200, "a-miracle", "417")
	r.wantCalls("a=0 b=0 c=0")
}
