package configs

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/proxy"
	"hermes-hub/router"
)

// everyKey is a file in which every key stands with a value that is not its default.
const everyKey = `
server:
  listen: 127.0.0.1:8400
  admin_listen: "[::1]:8401"
  allowed_hosts: [hub.example.org]
  allowed_origins: ["https://chat.example.org", "*"]
  data_dir: data
  redis_url: rediss://cache:6379
  instances: 3
  max_body_bytes: 1048576
  drain_grace_seconds: 0
client_keys:
  - {name: laptop, key: "${HUB_KEY_LAPTOP}", default_role: manager, roles: [orchestrator, coder]}
  - {name: 42, key: 4242}
admin:
  jwt_secret: 6f1b0c9a7d2e4835b1f66f1b0c9a7d2e
  jwks_url: https://idp.example.org/keys/
  issuer: https://idp.example.org
  audience: hub
  metrics_token: token
router:
  enabled: no
  default_role: coder
  max_failover_attempts: 3
  session_affinity_ttl_seconds: 0
  session_headers: [x-session]
  auto_return_primary: off
  cooldown_base_seconds: 0.5
  cooldown_max_seconds: 60
  quota_cooldown_seconds: 61
  rate_limit_cooldown_seconds: 62
  quota_threshold_percent: 2.5
  quota_threshold_action: switch
  lease_wait_seconds: 1
  cooldown_wait_seconds: 2
  request_timeout_seconds: 3
  commit_deadline_seconds: 4
  connect_timeout_seconds: 5
  first_token_timeout_seconds: 6
  idle_timeout_seconds: 7
roles:
  orchestrator:
    role_name: Chief
    aliases: [boss]
    preferred_chain: [a, {profile: b, model: m-1}, {profile: b, model: m-2}]
    fallback_capabilities: [coding]
    max_failover_attempts: 2
    session_affinity_enabled: false
    default_model: m-1
  coder-primary:
    preferred_chain: [b]
profiles:
  a:
    provider: codex
    display_name: Main Codex
    account_id: acc-1
    enabled: true
    cold_spare: true
    main: true
    capabilities: [coding]
    preferred_models: [gpt-5.5, 4]
    fallback_models: [gpt-5]
    model_map: {fast: gpt-5.5-mini}
    max_concurrency: unlimited
    lease_mode: strict
    custom_base_url: https://api.example.org/prefix/
    protocol: chat
    headers: {x-team: "${TEAM}"}
    proxy_url: socks5://proxy:1080
    context_length: 200000
    probe: {enabled: false, base_url: "http://127.0.0.1:9/"}
    auth_config: {api_key: "", access_token: token-a, oauth_file: ~/a.json, refresh: off, token_url: "https://idp.example.org/token", client_id: cli, client_secret: shh, project: p-1}
  b: {provider: openai-codex}
  c: {provider: openai, max_concurrency: "5"}
pricing:
  gpt-5.5: {input_cost_per_m: 1.25, output_cost_per_m: 10, cached_input_cost_per_m: 0.125}
runs:
  default_runtime: hermes
  runtimes:
    hermes: {kind: hermes, base_url: "http://127.0.0.1:8642", api_key: key}
journal: {content: metadata, record_calls: off, retention_hours: 1.5, max_event_bytes: 4096}
`

var everyKeyEnv = map[string]string{"HUB_KEY_LAPTOP": "key-of-laptop", "TEAM": "blue", "HOME": "/home/u"}

// TestEveryKeyArrives: no key of the contract is read into nothing.
func TestEveryKeyArrives(t *testing.T) {
	c, err := Parse("/etc/hub/router_profiles.yaml", []byte(everyKey), func(name string) string { return everyKeyEnv[name] })
	if err != nil {
		t.Fatal(err)
	}
	s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	f := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	f("server", Server{
		Listen: "127.0.0.1:8400", AdminListen: "[::1]:8401", AllowedHosts: []string{"hub.example.org"}, DataDir: "/etc/hub/data",
		AllowedOrigins: []string{"https://chat.example.org", "*"},
		RedisURL:       router.NewSecret("rediss://cache:6379"), Instances: 3, MaxBodyBytes: 1 << 20,
	}, c.Server)
	f("proxy", proxy.Config{
		Listen: "127.0.0.1:8400", AllowedHosts: []string{"hub.example.org"}, AllowedOrigins: []string{"https://chat.example.org", "*"}, MaxBodyBytes: 1 << 20,
		Keys: []proxy.Key{
			{Name: "laptop", Secret: router.NewSecret("key-of-laptop"), DefaultRole: "orchestrator", Roles: []string{"orchestrator", "coder-primary"}},
			{Name: "42", Secret: router.NewSecret("4242")},
		},
		SessionHeaders: []string{"X-Session"},
		LeaseWait:      s(1), CooldownWait: s(2), RequestTimeout: s(3), CommitDeadline: s(4), ConnectTimeout: s(5), FirstTokenTimeout: s(6), IdleTimeout: s(7),
	}, c.Proxy)
	if a := c.Admin; a.Listen != "[::1]:8401" || a.JWTSecret.Empty() || a.JWKSURL != "https://idp.example.org/keys" ||
		a.Issuer != "https://idp.example.org" || a.Audience != "hub" || a.MetricsToken.Reveal() != "token" {
		t.Errorf("admin = %+v", a)
	}
	r := c.Router
	if r.Failover || r.AutoReturnPrimary || r.DefaultRole != "coder-primary" || r.MaxAttempts != 3 || r.AffinityTTL != 0 ||
		r.Policy.CooldownBase != s(0.5) || r.Policy.CooldownMax != s(60) || r.Policy.QuotaCooldown != s(61) || r.Policy.RateLimitCooldown != s(62) {
		t.Errorf("router = %+v", r)
	}
	f("threshold", router.Threshold{Percent: 2.5, Switch: true}, c.Router.Threshold)
	f("role", router.Role{
		ID: "orchestrator", Name: "Chief", Aliases: []string{"boss", "manager"},
		Chain:                []router.ChainItem{{Profile: "a"}, {Profile: "b", Model: "m-1"}, {Profile: "b", Model: "m-2"}},
		FallbackCapabilities: []string{"coding"}, MaxAttempts: 2, DefaultModel: "m-1",
	}, c.Roles[0])
	codex, _ := router.ProviderByID("openai-codex")
	f("profile", router.Profile{
		ID: "a", Provider: codex, DisplayName: "Main Codex", AccountID: "acc-1", Enabled: true, ColdSpare: true, Main: true,
		Capabilities: []string{"coding"}, PreferredModels: []string{"gpt-5.5", "4"}, FallbackModels: []string{"gpt-5"},
		ModelMap: map[string]string{"fast": "gpt-5.5-mini"}, BaseURL: "https://api.example.org/prefix", Protocol: router.ProtocolChat,
		Headers: http.Header{"X-Team": {"blue"}}, ProxyURL: "socks5://proxy:1080", LeaseMode: router.LeaseStrict, ContextLength: 200000, Credential: router.NewSecret("token-a"),
	}, c.Profiles[0])
	f("account", Account{
		Probe: Probe{BaseURL: "http://127.0.0.1:9"},
		Token: true, OAuthFile: "/home/u/a.json", TokenURL: "https://idp.example.org/token", ClientID: "cli", ClientSecret: router.NewSecret("shh"), Project: "p-1",
	}, c.Accounts[0])
	f("slots", []int{0, 1, 5}, []int{c.Profiles[0].MaxConcurrency, c.Profiles[1].MaxConcurrency, c.Profiles[2].MaxConcurrency})
	f("runs", Runs{DefaultRuntime: "hermes", Runtimes: []Runtime{
		{Name: "hermes", Kind: "hermes", BaseURL: "http://127.0.0.1:8642", APIKey: router.NewSecret("key")},
	}}, c.Runs)
	f("journal", Journal{Content: "metadata", RecordCalls: "off", Retention: 90 * time.Minute, MaxEventBytes: 4096}, c.Journal)
}

// TestNotYet: of the keys that nothing acts on yet, those that stand in the file are named with their place, no other.
func TestNotYet(t *testing.T) {
	c := parse(t, everyKey, everyKeyEnv)
	var rows []string
	seen := map[string]bool{}
	for _, n := range c.NotYet {
		rows = append(rows, fmt.Sprintf("%d:%d %s", n.Line, n.Column, n.Key))
		seen[n.Key] = true
	}
	for row := range notYet {
		if key := strings.Replace(row, "*", "a", 1); !seen[key] {
			t.Errorf("%s is in the table and in the file, and was not named; named were\n%s", key, strings.Join(rows, "\n"))
		}
	}
	if len(rows) != len(notYet) {
		t.Errorf("%d keys were named, the table has %d:\n%s", len(rows), len(notYet), strings.Join(rows, "\n"))
	}
	if first := c.NotYet[0]; !strings.Contains(c.Findings().Error(), ": warning: "+first.String()) {
		t.Errorf("check does not say %s:\n%v", first, c.Findings())
	}
	if minimal := parse(t, readTestdata(t, "minimal.yaml"), nil); len(minimal.NotYet) > 0 {
		t.Errorf("absent keys were named: %v", minimal.NotYet)
	}
}

// TestEffectiveReadsBack: the effective configuration is a configuration, and means the same.
func TestEffectiveReadsBack(t *testing.T) {
	f := func(file string) {
		t.Helper()
		first := parse(t, file, nil)
		second := parse(t, string(first.Effective()), nil)
		if diff := cmp.Diff(string(first.Effective()), string(second.Effective())); diff != "" {
			t.Errorf("the effective configuration changes when it is read (-first +second)\n%s", diff)
		}
		if diff := cmp.Diff(first.Roles, second.Roles); diff != "" {
			t.Errorf("roles (-first +second)\n%s", diff)
		}
	}
	f(string(Example()))
	f(readTestdata(t, "minimal.yaml"))
	f(readTestdata(t, "python_hub.yaml"))
}
