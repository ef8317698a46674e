package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// output is what a command prints, readable while it runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// env is an environment of its own: a home folder that is empty, and nothing of this machine's.
func env(t *testing.T, pairs ...string) func(string) string {
	home := t.TempDir()
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		if name == "HOME" {
			return home
		}
		return ""
	}
}

// command runs one command line to its end.
func command(t *testing.T, getenv func(string) string, stdin string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs output
	exit = run(t.Context(), args, world{getenv: getenv, stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs})
	return exit, out.String(), errs.String()
}

// program is a command that serves in the background.
type program struct {
	t           *testing.T
	out, err    *output
	proxy, admn string // base URLs
	hangups     chan os.Signal
	stop        func() int
}

// start runs a serving command until stop is called, and waits for its addresses.
func start(t *testing.T, getenv func(string) string, args ...string) *program {
	t.Helper()
	p := &program{t: t, out: &output{}, err: &output{}, hangups: make(chan os.Signal, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, args, world{
			getenv: getenv, stdin: strings.NewReader(""), stdout: p.out, stderr: p.err,
			hangups: func() (<-chan os.Signal, func()) { return p.hangups, func() {} },
		})
	}()
	p.stop = sync.OnceValue(func() int { cancel(); return <-done })
	t.Cleanup(func() { p.stop() })
	deadline := time.Now().Add(20 * time.Second)
	for p.proxy == "" {
		p.readAddresses()
		if time.Now().After(deadline) || len(done) > 0 {
			t.Fatalf("no addresses; stdout %s stderr %s", p.out, p.err)
		}
		time.Sleep(5 * time.Millisecond) // another process's start cannot be waited for otherwise
	}
	return p
}

// readAddresses looks for the log line that the contract promises.
func (p *program) readAddresses() {
	for line := range strings.Lines(p.err.String()) {
		var l struct {
			Proxy string `json:"proxy_addr"`
			Admin string `json:"admin_addr"`
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Proxy != "" {
			p.proxy, p.admn = "http://"+l.Proxy, "http://"+l.Admin
		}
	}
}

func (p *program) get(url, token string) (int, string) {
	p.t.Helper()
	return p.do(http.MethodGet, url, "", token)
}

func (p *program) do(method, url, body, token string) (int, string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("X-Hub-Profile") + "|" + string(text)
}

const chatBody = `{"model":"sim-1","messages":[{"role":"user","content":"hi"}]}`

// configFor writes a configuration with two accounts at base.
func configFor(t *testing.T, base, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "router_profiles.yaml")
	file := fmt.Sprintf(`# Two accounts of a simulated provider.
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
roles:
  orchestrator:
    aliases: [manager]
    preferred_chain: [first, second]
profiles:
  first: &account
    provider: openai-compatible
    custom_base_url: %s
    preferred_models: [sim-1]
    probe: {enabled: false}
    auth_config: {api_key: "${KEY_FIRST}"}
  second:
    <<: *account
    auth_config: {api_key: "${KEY_SECOND}"}
%s`, base, more)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func upstream(t *testing.T) (*simulator.Provider, string) {
	t.Helper()
	sim := simulator.New(
		simulator.Account{Name: "first", Key: "canary-first", Models: []string{"sim-1"}},
		simulator.Account{Name: "second", Key: "canary-second", Models: []string{"sim-1"}},
	)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return sim, base
}

// The demo shows a failover, says so in lines a person reads, prints a curl line that works, and cleans up after itself.
func TestDemo(t *testing.T) {
	p := start(t, env(t), "demo", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(p.out.String(), "Serving until") {
		if time.Now().After(deadline) {
			t.Fatalf("stdout %s stderr %s", p.out, p.err)
		}
		time.Sleep(5 * time.Millisecond) // the demo's own request is on its way
	}
	text := p.out.String()
	for _, want := range []string{
		"failed     subscription-1 (simulated)  quota_exhausted until ", "selected   subscription-2 (simulated)",
		" at a simulated Hermes", "restart    the hub is stopped here", "tool.started       ls | wc -l", "run.closed", "rows, each seen once",
		"2 attempts", "curl -N " + p.proxy + "/r/orchestrator/v1/chat/completions", "Every account here is simulated",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if status, body := p.do(http.MethodPost, p.proxy+"/r/orchestrator/v1/chat/completions", demoBody, ""); status != 200 || !strings.HasPrefix(body, "subscription-2|data: ") || !strings.Contains(body, "simulated") {
		t.Errorf("%d %s", status, body)
	}
	_, rest, _ := strings.Cut(text, "--data-dir ")
	dir, _, _ := strings.Cut(rest, " ")
	if exit, out, errs := command(t, env(t), "", "explain", "--role", "orchestrator", "--data-dir", dir, "--admin", p.admn); exit != 0 || !strings.Contains(out, "subscription-1  sim-large  skipped   quota_exhausted until") {
		t.Errorf("explain: exit %d, %s%s", exit, out, errs)
	}
	if exit := p.stop(); exit != 0 {
		t.Errorf("exit %d, stderr %s", exit, p.err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the temporary data dir is still there: %v", err)
	}
}

// X05, as far as there is no Redis yet: the whole suite needs neither a network nor a daemon; what it talks to it starts
// itself, on loopback.
//
// The whole program on real sockets: failover, what the admin plane tells of it, the generated secret and its tokens, and
// a restart that forgets nothing: the account that is out until T is not called again before T (P03), the one whose
// credential was refused not until it changes (P07).
func TestServe(t *testing.T) {
	sim, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	serve := []string{"serve", "--config", path, "--data-dir", data}

	p := start(t, getenv, serve...)
	sim.Push("first", simulator.Status(429, `{"error":{"type":"usage_limit_reached","message":"limit","resets_in_seconds":7200}}`, nil))
	if status, body := p.do(http.MethodPost, p.proxy+"/r/manager/v1/chat/completions", chatBody, ""); status != 200 || !strings.HasPrefix(body, "second|") {
		t.Fatalf("%d %s", status, body)
	}
	for _, plane := range []string{p.proxy, p.admn} {
		for _, probe := range []string{"/healthz", "/readyz"} {
			if status, body := p.get(plane+probe, ""); status != 200 {
				t.Errorf("%s%s: %d %s", plane, probe, status, body)
			}
		}
	}
	if status, _ := p.get(p.admn+"/admin/v1/version", ""); status != 401 {
		t.Errorf("version without a token: %d", status)
	}
	_, token, _ := command(t, getenv, "", "token", "--config", path, "--data-dir", data, "--scope", "viewer")
	if status, body := p.get(p.admn+"/admin/v1/version", strings.TrimSpace(token)); status != 200 {
		t.Errorf("version with a token: %d %s", status, body)
	}
	_, metrics := p.get(p.admn+"/metrics", "")
	for _, line := range []string{
		`hermes_hub_failovers_total{reason="quota_exhausted",role="orchestrator"} 1`,
		`hermes_hub_requests_total{endpoint="/v1/chat/completions",outcome="success",role="orchestrator"} 1`,
		`hermes_hub_profile_state{profile="first",state="quota_exhausted"} 1`,
		`hermes_hub_pipeline_active{profile="second",role="orchestrator"} 1`,
		`hermes_hub_leases{profile="second"} 0`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in /metrics", line)
		}
	}
	if exit, _, errs := command(t, getenv, "", "healthcheck", "--config", path, "--admin", p.admn); exit != 0 {
		t.Errorf("healthcheck: %d %s", exit, errs)
	}
	if exit := p.stop(); exit != 0 {
		t.Errorf("exit %d: %s", exit, p.err)
	}
	if exit, _, _ := command(t, getenv, "", "healthcheck", "--config", path, "--admin", p.admn); exit != 1 {
		t.Errorf("healthcheck of a stopped hub: %d", exit)
	}

	p = start(t, getenv, serve...)
	if status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, ""); status != 200 || !strings.HasPrefix(body, "second|") {
		t.Errorf("after a restart: %d %s", status, body)
	}
	if n := sim.Total("first"); n != 1 {
		t.Errorf("first was called %d times", n)
	}
	sim.Push("second", simulator.Unauthorized)
	p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "")
	p.stop()

	p = start(t, getenv, serve...)
	status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "")
	if status != 429 || !strings.Contains(body, `"resets_in_seconds":`) || sim.Total("second") != 3 {
		t.Errorf("with both out after a restart: %d %s, second was called %d times", status, body, sim.Total("second"))
	}
	p.stop()

	sim2 := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "another")
	p = start(t, sim2, serve...)
	p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "")
	if sim.Total("") == 0 && !strings.Contains(p.err.String(), "auth_invalid") {
		t.Error("a changed credential was not tried")
	}
}

// F06: no secret of the file in anything that a command prints, at the most talkative level.
func TestSecretsNeverShow(t *testing.T) {
	sim, base := upstream(t)
	path := configFor(t, base, `client_keys: [{name: desk, key: canary-client-key-1}]
admin: {jwt_secret: canary-admin-secret-of-32-bytes-and-more, metrics_token: canary-metrics-token}
`)
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	data := t.TempDir()
	p := start(t, getenv, "serve", "--config", path, "--data-dir", data, "--log-level", "debug")
	for _, step := range []simulator.Step{simulator.Unauthorized, simulator.Redirect, simulator.CloseBeforeHead, simulator.BadGatewayPage} {
		sim.Push("first", step)
		_, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "canary-client-key-1")
		if strings.Contains(body, "canary") {
			t.Errorf("%s: %s", step, body)
		}
	}
	_, refused := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "canary-wrong-key")
	_, metrics := p.get(p.admn+"/metrics", "")
	_, explain, _ := command(t, getenv, "", "explain", "--config", path, "--data-dir", data, "--admin", p.admn, "--role", "manager", "--json")
	p.stop()
	state, err := os.ReadFile(filepath.Join(data, "router.json"))
	if err != nil {
		t.Fatal(err)
	}
	_, check, _ := command(t, getenv, "", "check", "--config", path, "--show-effective")
	for where, text := range map[string]string{
		"stdout": p.out.String(), "stderr": p.err.String(), "401": refused, "metrics": metrics, "explain": explain, "state": string(state), "check": check,
	} {
		if strings.Contains(text, "canary") {
			t.Errorf("%s holds a secret:\n%s", where, text)
		}
		if text == "" && where != "stdout" {
			t.Errorf("%s is empty: nothing was looked at", where)
		}
	}
}
