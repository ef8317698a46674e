package configs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWarnings: what check says of files that load. The lines are without the file's name.
func TestWarnings(t *testing.T) {
	const two = `
profiles:
  a: {provider: openai, capabilities: [coding], auth_config: {api_key: ka}}
  b: {provider: openrouter, capabilities: [coding], auth_config: {api_key: kb}}
`
	f := func(file string, want ...string) {
		t.Helper()
		c := parse(t, strings.TrimPrefix(file, "\n"), nil)
		var got []string
		for _, p := range c.Findings() {
			got = append(got, strings.TrimPrefix(p.String(), "router_profiles.yaml:"))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
	f(`roles: {orchestrator: {preferred_chain: [a, b]}}` + two)
	f(`roles: {orchestrator: {fallback_capabilities: [coding]}}` + two)
	f(`roles: {orchestrator: {preferred_chain: [a]}}`+two,
		"1:9: warning: role orchestrator cannot fail over: a is its only usable node",
		"4:3: warning: profile b is used by no role: no chain names it and no role falls back on one of its capabilities")
	f(`roles: {orchestrator: {preferred_chain: [a, b], max_failover_attempts: 1}}`+two,
		"1:9: warning: role orchestrator cannot fail over: max_failover_attempts is 1")
	f("router: {max_failover_attempts: 2}\nroles: {orchestrator: {preferred_chain: [a, b, {profile: a, model: m}]}, reviewer: {preferred_chain: [a, b, {profile: b, model: m}], max_failover_attempts: 3}}"+two,
		"2:9: warning: role orchestrator: max_failover_attempts is 2 and its chain has 3 nodes: a request may end before the last was tried")
	f("router: {enabled: no}\nroles: {orchestrator: {preferred_chain: [a]}, reviewer: {preferred_chain: [b]}}"+two,
		"1:19: warning: router.enabled is false: no role fails over")
	f(`roles: {orchestrator: {preferred_chain: [{profile: a, model: m}, {profile: a, model: n}, c]}}
profiles:
  a: {provider: openai, account_id: x, auth_config: {api_key: ka}}
  c: {provider: openai, account_id: x, auth_config: {api_key: ka}}
`,
		"1:9: warning: role orchestrator cannot fail over: all its usable nodes are on one account",
		"4:3: warning: profile c is the same account as a: both have the provider openai and the account_id x")
	f(`roles: {orchestrator: {preferred_chain: [a, b]}}
profiles:
  a: {provider: openai, auth_config: {api_key: ka}}
  b: {provider: openai, auth_config: {api_key: ka}}
`, "1:9: warning: role orchestrator cannot fail over: all its usable nodes are on one account")
	f(`roles: {orchestrator: {preferred_chain: [a, b, c, d]}}
profiles:
  a: {provider: openai-codex, auth_config: {api_key: ka}}
  b: {provider: openai, enabled: false}
  c: {provider: openai-compatible, custom_base_url: "http://192.0.2.1/v1", auth_config: {api_key: kc}}
  d: {provider: openai}
`,
		"5:3: warning: profile c sends its credential unencrypted: its custom_base_url is plain http to another machine",
		"6:3: warning: profile d has no credential: set its auth_config.api_key")
	f(`roles: {orchestrator: {preferred_chain: [a]}}
profiles:
  a: {provider: ollama, enabled: false}
`, "1:9: warning: role orchestrator cannot fail over: none of its nodes is usable")
	// Cloud Code wants a project with every call.
	f(`roles: {orchestrator: {preferred_chain: [a, b, c]}}
profiles:
  a: {provider: antigravity, probe: {enabled: false}, auth_config: {api_key: ka}}
  b: {provider: antigravity, probe: {enabled: false}, auth_config: {api_key: kb, project: p}}
  c: {provider: antigravity, auth_config: {api_key: kc}}
`, "3:3: warning: profile a has no auth_config.project, and probe.enabled: false keeps the hub from asking for one")
	// The two were one in the Python hub.
	f(`roles: {orchestrator: {preferred_chain: [a, b]}}
profiles:
  a: {provider: opencode-zen, auth_config: {api_key: ka}}
  b: {provider: opencode-zen, custom_base_url: "https://opencode.ai/zen/go/v1", auth_config: {api_key: kb}}
`, "3:3: warning: profiles.a.custom_base_url is absent: https://opencode.ai/zen/v1, OpenCode Zen's own; the Python hub took opencode-zen for opencode-go")
	// No credential is needed on this machine, and headers may carry one.
	f(`roles: {orchestrator: {preferred_chain: [a, b]}}
profiles:
  a: {provider: ollama, custom_base_url: "http://localhost:1/v1", auth_config: {api_key: ka}}
  b: {provider: openai, headers: {Authorization: Basic abc}}
`)
	// An open plane is an error for serve and check alike.
	f("server: {listen: \":7400\", admin_listen: \"0.0.0.0:7401\"}\nroles: {orchestrator: {preferred_chain: [a, b]}}"+two,
		"1:18: error: server.listen: :7400 is not a loopback address and there are no client_keys; add one, or listen on 127.0.0.1",
		"1:41: error: server.admin_listen: 0.0.0.0:7401 is not a loopback address and there is no admin.jwt_secret, jwks_url or public_key_file; add one, or listen on 127.0.0.1")
	f("server: {listen: \":7400\", admin_listen: \"0.0.0.0:7401\"}\nclient_keys: [{name: n, key: k}]\nadmin: {jwks_url: \"https://idp/keys\"}\nroles: {orchestrator: {preferred_chain: [a, b]}}" + two)
}

// TestOverride: flags win over the file and are checked like it.
func TestOverride(t *testing.T) {
	c := parse(t, readTestdata(t, "minimal.yaml"), nil)
	if err := c.Override(Flags{Listen: "0.0.0.0:0", DataDir: "d", RedisURL: "redis://cache"}); err != nil {
		t.Fatal(err)
	}
	if c.Proxy.Listen != "0.0.0.0:0" || c.Server.Listen != "0.0.0.0:0" || c.Admin.Listen != DefaultAdminListen ||
		c.Server.DataDir != "d" || c.Server.RedisURL.Reveal() != "redis://cache" {
		t.Errorf("after the flags: %+v", c.Server)
	}
	if ps := c.OpenListen(); len(ps) != 1 || !strings.Contains(ps.Error(), "0.0.0.0:0 is not a loopback address") {
		t.Errorf("an open plane was not seen: %v", ps)
	}
	err := c.Override(Flags{Listen: "7400", AdminListen: "x:y", RedisURL: "canary@cache"})
	want := "--listen: 7400 is not host:port, as in 127.0.0.1:7400\n--admin-listen: x:y has no port between 0 and 65535\n" +
		"--redis-url: want a URL that begins with redis://, rediss:// or redis+sentinel://"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
