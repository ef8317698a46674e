package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// Row 26: a web page that rebinds its own name to this machine must read nothing. Row 17: a Host that a router and a
// guard could read differently is refused. The rule itself is hostname's.
func TestHost(t *testing.T) {
	p := newPlane(t, func(o *Options) { o.Config.Listen, o.Config.AllowedHosts = "10.1.2.3:7401", []string{"hub.example"} })
	f := func(host string, want int) {
		t.Helper()
		if w := p.do("GET", "/healthz", "", "Host: "+host); w.Code != want {
			t.Errorf("Host %q: got %s, want %d", host, answer(w), want)
		}
	}
	f("127.0.0.1:7401", http.StatusOK)
	f("10.1.2.3:7401", http.StatusOK)
	f("hub.example", http.StatusOK)
	f("evil.test:7401", http.StatusMisdirectedRequest)
	f("x/healthz?y=", http.StatusMisdirectedRequest)
	p.AllowHosts([]string{"evil.test"})
	f("evil.test:7401", http.StatusOK)
	f("hub.example", http.StatusMisdirectedRequest)
}

// Row 25: another site's page can make a browser send a POST; it changes nothing here, and gets no CORS header.
func TestCrossOriginWrites(t *testing.T) {
	p := newPlane(t, nil)
	authorization := "Authorization: Bearer " + mint(t, ScopeAdmin)
	f := func(want string, headers ...string) {
		t.Helper()
		w := p.do("POST", "/admin/v1/explain", `{"role":"coder"}`, append(headers, authorization)...)
		if got := answer(w); !strings.HasPrefix(got, want) {
			t.Errorf("%q: got %s, want %s", headers, got, want)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%q: CORS is open", headers)
		}
	}
	f("200")
	f("200", "Origin: http://127.0.0.1:7401")
	f("200", "Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:7401")
	f("403 cross-origin", "Origin: http://evil.test")
	f("403 cross-origin", "Sec-Fetch-Site: cross-site", "Origin: http://127.0.0.1:7401")
	f("403 cross-origin", "Origin: null", "Content-Type: text/plain")
	if w := p.do("OPTIONS", "/admin/v1/explain", "", "Origin: http://evil.test", "Access-Control-Request-Method: POST"); w.Header().Get("Access-Control-Allow-Origin") != "" || w.Code < 400 {
		t.Errorf("preflight: %s", answer(w))
	}
}

// Every answer, of whatever kind, carries an id of its own and stays out of caches and of guesses about its type.
func TestEveryAnswersHeaders(t *testing.T) {
	p := newPlane(t, nil)
	ids := map[string]bool{}
	for _, call := range [][]string{
		{"GET", "/healthz"},
		{"GET", "/metrics"},
		{"GET", "/nothing"},
		{"PUT", "/healthz"},
		{"GET", "/admin/v1/version"},
		{"GET", "/healthz", "Host: evil.test"},
		{"POST", "/healthz", "Origin: http://evil.test"},
	} {
		h := p.do(call[0], call[1], "", append(call[2:], "X-Hub-Request-Id: mine")...).Header()
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" || !strings.HasPrefix(h.Get(requestIDHeader), "req_") {
			t.Errorf("%v: %v", call, h)
		}
		ids[h.Get(requestIDHeader)] = true
	}
	if len(ids) != 7 {
		t.Errorf("7 answers have %d ids", len(ids))
	}
}

// Row 29: by default gin believes X-Forwarded-For of anybody.
func TestForwardedForIsNotBelieved(t *testing.T) {
	p := newPlane(t, nil)
	if w := p.do("GET", "/admin/v1/version", "", "X-Forwarded-For: 6.6.6.6"); strings.Contains(p.log.String()+w.Body.String(), "6.6.6.6") {
		t.Errorf("the forged address is used: %s", p.log)
	}
	c := gin.CreateTestContextOnly(httptest.NewRecorder(), p.engine)
	c.Request = httptest.NewRequest("GET", "/", nil)
	c.Request.Header.Set("X-Forwarded-For", "6.6.6.6")
	if got := c.ClientIP(); got != "192.0.2.1" {
		t.Errorf("the client is %s", got)
	}
}
