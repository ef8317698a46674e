package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// rig is a proxy plane in front of a simulated provider.
type rig struct {
	t      *testing.T
	sim    *simulator.Provider
	router *router.Router
	trails *router.Trails
	proxy  *Proxy
	told   *ledger
	server *httptest.Server
	log    *bytes.Buffer
}

// ledger keeps every exchange that telemetry was told of.
type ledger struct {
	mu       sync.Mutex
	inflight int
	all      []telemetry.Exchange
}

func (l *ledger) Inflight(delta int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inflight += delta
}

func (l *ledger) Observe(x *telemetry.Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	story := *x
	story.Attempts = append([]telemetry.Attempt(nil), x.Attempts...)
	l.all = append(l.all, story)
}

func (l *ledger) last() telemetry.Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return telemetry.Exchange{}
	}
	return l.all[len(l.all)-1]
}

// setup is what a rig is made of. The zero value has accounts a, b and c, in that order in role main.
type setup struct {
	accounts []simulator.Account
	profiles func([]router.Profile)
	roles    []router.Role
	settings func(*router.Settings)
	config   func(*Config)
	clock    func() time.Time
	keys     Credentials
	options  func(*Options)
	direct   bool // no listener between proxy and provider: for a synctest bubble
}

func newRig(t *testing.T, s setup) *rig {
	t.Helper()
	if s.accounts == nil {
		for _, name := range []string{"a", "b", "c"} {
			s.accounts = append(s.accounts, simulator.Account{Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1", "sim-2"}})
		}
	}
	r := &rig{t: t, sim: simulator.New(s.accounts...), trails: &router.Trails{}, told: &ledger{}, log: &bytes.Buffer{}}
	base := "http://upstream.test/v1"
	if !s.direct {
		url, stop, err := r.sim.Listen()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		base = url
	}
	r.router = router.New(r.table(s, base), router.Options{Now: s.clock, Logger: slog.New(slog.NewTextHandler(r.log, nil))})
	cfg := Config{
		Listen: "127.0.0.1:7400", AllowedHosts: []string{"hub.test"},
		MaxBodyBytes: 1 << 20, RequestTimeout: time.Minute, CommitDeadline: 35 * time.Second, ConnectTimeout: 5 * time.Second,
		FirstTokenTimeout: 20 * time.Second, IdleTimeout: 30 * time.Second,
		SessionHeaders: []string{"X-Hub-Session", "X-Hermes-Session-Id", "X-Session-Id"},
	}
	if s.config != nil {
		s.config(&cfg)
	}
	o := Options{
		Config: cfg, Router: r.router, Trails: r.trails, Telemetry: r.told, Version: "test",
		Logger: slog.New(slog.NewTextHandler(r.log, nil)), Ready: http.NotFoundHandler(), Credentials: s.keys,
	}
	if s.direct {
		o.Transport = func(*router.Profile) http.RoundTripper { return r.sim }
	}
	if s.options != nil {
		s.options(&o)
	}
	r.proxy = New(o)
	if !s.direct {
		r.server = httptest.NewServer(r.proxy.Handler())
		t.Cleanup(r.server.Close)
		t.Cleanup(r.proxy.Close)
	}
	return r
}

func (r *rig) table(s setup, base string) *router.Table {
	r.t.Helper()
	compatible, _ := router.ProviderByID("openai-compatible")
	var profiles []router.Profile
	var chain []router.ChainItem
	for _, a := range s.accounts {
		profiles = append(profiles, router.Profile{
			ID: a.Name, Provider: compatible, Enabled: true, BaseURL: base, Protocol: router.ProtocolChat,
			PreferredModels: a.Models, Credential: router.NewSecret(a.Key),
		})
		chain = append(chain, router.ChainItem{Profile: a.Name})
	}
	if s.profiles != nil {
		s.profiles(profiles)
	}
	if s.roles == nil {
		s.roles = []router.Role{{ID: "main", Chain: chain, Affinity: true}}
	}
	settings := router.Settings{
		Failover: true, DefaultRole: s.roles[0].ID, AffinityTTL: 30 * time.Minute, AutoReturnPrimary: true,
		Policy:    quota.Policy{CooldownBase: 300 * time.Second, CooldownMax: time.Hour, QuotaCooldown: 30 * time.Minute, RateLimitCooldown: time.Minute},
		Protocols: Protocols(),
	}
	if s.settings != nil {
		s.settings(&settings)
	}
	table, err := router.NewTable(profiles, s.roles, settings)
	if err != nil {
		r.t.Fatal(err)
	}
	return table
}

// reply is what a client saw.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body: how an aborted answer shows
}

// send makes one request and reads its answer to the end.
func (r *rig) send(method, path, body string, headers ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, "http://hub.test"+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if r.server == nil {
		return r.sendDirect(req)
	}
	target := strings.TrimPrefix(r.server.URL, "http://")
	req.URL.Host = target
	res, err := r.server.Client().Transport.RoundTrip(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(text), err}
}

// sendDirect serves the request without a connection. An abort is a panic of http.ErrAbortHandler.
func (r *rig) sendDirect(req *http.Request) (got reply) {
	rec := httptest.NewRecorder()
	defer func() {
		if cause := recover(); cause != nil {
			got = reply{rec.Code, rec.Header(), rec.Body.String(), fmt.Errorf("%v", cause)}
		}
	}()
	r.proxy.Handler().ServeHTTP(rec, req)
	return reply{rec.Code, rec.Header(), rec.Body.String(), nil}
}

const (
	ask       = `{"model":"sim-1","messages":[{"role":"user","content":"hi"}]}`
	askStream = `{"model":"sim-1","messages":[{"role":"user","content":"hi"}],"stream":true}`
)

func (r *rig) chat(body string, headers ...string) reply {
	r.t.Helper()
	return r.send(http.MethodPost, "/v1/chat/completions", body, headers...)
}

// line tells a reply in one line: status, who served after how many attempts, and what a failed one said.
func (got reply) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d", got.status)
	for _, h := range []struct{ name, header string }{
		{"profile", headerProfile}, {"attempts", headerAttempts}, {"after", headerFailover}, {"retry", "Retry-After"}, {"should-retry", "X-Should-Retry"},
	} {
		if v := got.header.Get(h.header); v != "" {
			fmt.Fprintf(&b, " %s=%s", h.name, v)
		}
	}
	if code := regexp.MustCompile(`"code":"([^"]*)"`).FindStringSubmatch(got.body); code != nil {
		fmt.Fprintf(&b, " code=%s", code[1])
	}
	if strings.Contains(got.body, "[DONE]") {
		b.WriteString(" [DONE]")
	}
	if got.err != nil {
		b.WriteString(" cut")
	}
	return b.String()
}

func (r *rig) want(got reply, want string) {
	r.t.Helper()
	if got.line() != want {
		r.t.Errorf("\n got %s\nwant %s\nbody %.600s\nerr %v", got.line(), want, got.body, got.err)
	}
}

// calls tells how many calls each account got: "a=1 b=0".
func (r *rig) calls() string {
	var parts []string
	for _, p := range r.router.Snapshot().Table.Profiles {
		parts = append(parts, fmt.Sprintf("%s=%d", p.ID, r.sim.Total(p.ID)))
	}
	return strings.Join(parts, " ")
}

func (r *rig) wantCalls(want string) {
	r.t.Helper()
	if got := r.calls(); got != want {
		r.t.Errorf("calls: got %s, want %s", got, want)
	}
}

// waitCalls waits until the account was called n times in all. A call that never comes is a failure and not a hang.
func (r *rig) waitCalls(account string, n int) {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer stop()
	if err := r.sim.WaitCalls(ctx, account, n); err != nil {
		r.t.Fatal(err)
	}
}

// settle proves that nothing is held or running any more.
func (r *rig) settle() {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer stop()
	if err := r.sim.WaitIdle(ctx); err != nil {
		r.t.Error(err)
	}
	for range 200 {
		r.told.mu.Lock()
		inflight := r.told.inflight
		r.told.mu.Unlock()
		if inflight == 0 {
			break
		}
		time.Sleep(5 * time.Millisecond) // a real server's handler is ending; nothing else tells when
	}
	if held := r.router.Leases(); len(held) != 0 {
		r.t.Errorf("leases still held: %+v", held)
	}
}
