package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// An account's 5h window runs out: its last answer says so, and it is not called again. The chain walks on, and explain and
// the metrics tell the same story. The window resets, and traffic returns by itself. (P03, Q06, Q18 on the whole program.)
func TestWindowRunsOutAndReturns(t *testing.T) {
	reset := time.Now().Add(4 * time.Second).Truncate(time.Second)
	sim := simulator.New(
		simulator.Account{
			Name: "first", Key: "canary-first", Models: []string{"sim-1"},
			Quota: simulator.Quota{Calls: 2, Window: 5 * time.Hour, ResetAt: reset, Style: simulator.QuotaCodex},
		},
		simulator.Account{Name: "second", Key: "canary-second", Models: []string{"sim-1"}},
	)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	path := filepath.Join(t.TempDir(), "router_profiles.yaml")
	file := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
router: {cooldown_wait_seconds: 0}
roles: {orchestrator: {preferred_chain: [first, second]}}
profiles:
  first: &account
    provider: openai-codex
    protocol: chat
    custom_base_url: %s
    preferred_models: [sim-1]
    max_concurrency: 4
    probe: {enabled: false}
    auth_config: {api_key: canary-first}
  second:
    <<: *account
    auth_config: {api_key: canary-second}
`, base)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	p := start(t, env(t), "serve", "--config", path, "--data-dir", data)
	ask := func() string {
		t.Helper()
		status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, "")
		name, _, _ := strings.Cut(body, "|")
		return fmt.Sprint(status, " ", name)
	}
	explain := func() string {
		t.Helper()
		_, out, errs := command(t, env(t), "", "explain", "--config", path, "--data-dir", data, "--admin", p.admn, "--role", "orchestrator")
		return out + errs
	}

	for i, want := range []string{"200 first", "200 first", "200 second", "200 second"} {
		if got := ask(); got != want {
			t.Fatalf("request %d: %s, want %s\n%s", i+1, got, want, explain())
		}
	}
	if n := sim.Total("first"); n != 2 {
		t.Errorf("the account that had told of its empty window was called: %d calls, want 2", n)
	}
	if told, want := explain(), "first   sim-1  skipped   quota_exhausted until "+reset.UTC().Format(time.RFC3339); !strings.Contains(told, want) {
		t.Errorf("explain does not tell %q:\n%s", want, told)
	}
	_, metrics := p.get(p.admn+"/metrics", "")
	for _, line := range []string{
		`hermes_hub_quota_remaining_ratio{bucket="codex.session",profile="first"} 0`,
		fmt.Sprintf(`hermes_hub_quota_reset_timestamp_seconds{bucket="codex.session",profile="first"} %v`, float64(reset.Unix())),
		`hermes_hub_profile_state{profile="first",state="quota_exhausted"} 1`,
		`hermes_hub_pipeline_active{profile="second",role="orchestrator"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in /metrics", line)
		}
	}

	for deadline := time.Now().Add(20 * time.Second); strings.Contains(explain(), "skipped"); {
		if time.Now().After(deadline) {
			t.Fatalf("the window has ended and the account is still out:\n%s", explain())
		}
		time.Sleep(50 * time.Millisecond) // the end of a provider's window is the clock's
	}
	if got := ask(); got != "200 first" {
		t.Errorf("after the reset: %s, want 200 first\n%s", got, explain())
	}
	_, metrics = p.get(p.admn+"/metrics", "")
	if line := `hermes_hub_pipeline_active{profile="first",role="orchestrator"} 1`; !strings.Contains(metrics, line+"\n") {
		t.Errorf("no %s in /metrics", line)
	}
}
