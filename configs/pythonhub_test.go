package configs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// TestPythonHubFile (F01, F04 as far as reading goes): an unmodified file of the Python hub loads, and each of its keys
// arrives where it takes effect.
func TestPythonHubFile(t *testing.T) {
	c := load(t, "testdata/python_hub.yaml", nil)
	if len(c.Roles) != 6 || len(c.Profiles) != 22 || len(c.Prices) != 3 {
		t.Fatalf("%d roles, %d profiles, %d prices, want 6, 22, 3", len(c.Roles), len(c.Profiles), len(c.Prices))
	}
	want := router.Settings{
		Failover: true, DefaultRole: "orchestrator", MaxAttempts: 4, AffinityTTL: 30 * time.Minute, AutoReturnPrimary: true,
		Policy: quota.Policy{
			CooldownBase: 5 * time.Minute, CooldownMax: time.Hour,
			QuotaCooldown: 30 * time.Minute, RateLimitCooldown: time.Minute,
		},
		Threshold: router.Threshold{Percent: 10},
		Protocols: c.Router.Protocols,
	}
	if diff := cmp.Diff(want, c.Router); diff != "" {
		t.Errorf("router (-want +got)\n%s", diff)
	}
	wantRole := router.Role{
		ID: "orchestrator", Name: "orchestrator", Aliases: []string{"manager"},
		Chain:                []router.ChainItem{{Profile: "codex-orch"}, {Profile: "ag-orch-fallback"}, {Profile: "opengo-3"}},
		FallbackCapabilities: []string{"orchestrator", "reasoning"}, MaxAttempts: 3, Affinity: true, DefaultModel: "gemini-3.7-flash",
	}
	if diff := cmp.Diff(wantRole, c.Roles[0]); diff != "" {
		t.Errorf("role (-want +got)\n%s", diff)
	}
	providers := map[string]int{}
	for _, p := range c.Profiles {
		providers[p.Provider.ID]++
	}
	if diff := cmp.Diff(map[string]int{"antigravity": 10, "openai-codex": 3, "opencode-go": 2, "opencode-zen": 1, "claude": 3, "grok": 3}, providers); diff != "" {
		t.Errorf("profiles by provider (-want +got)\n%s", diff)
	}
	f := func(id string, check func(p *router.Profile) bool) {
		t.Helper()
		p, ok := c.Table().Profile(id)
		if !ok || !check(p) {
			t.Errorf("profile %s is not as the file says: %+v", id, p)
		}
	}
	f("ag-w1", func(p *router.Profile) bool { return p.MaxConcurrency == 2 && p.Enabled && p.AccountID == "ag-acc-w1" })
	f("ag-cold-1", func(p *router.Profile) bool { return !p.Enabled && !p.ColdSpare }) // the id decides nothing
	f("codex-orch", func(p *router.Profile) bool { return p.MaxConcurrency == 1 && p.FallbackModels[0] == "gpt-4o-mini" })
	f("opengo-3", func(p *router.Profile) bool { return p.BaseURL == "http://127.0.0.1:9999/v1" && p.MaxConcurrency == 5 })
	f("opengo-3", func(p *router.Profile) bool { return p.Credential.Reveal() == "og-key-3" })
	f("claude-orch", func(p *router.Profile) bool { return p.Credential.Reveal() == "claude-token-orch" })
	f("grok-orch", func(p *router.Profile) bool { return p.Credential.Empty() && p.BaseURL == p.Provider.BaseURL })
	if p := c.Prices[0]; p.Model != "gpt-4o" || *p.Input != 2.5 || *p.Output != 10 || p.CachedInput != nil {
		t.Errorf("price = %+v", p)
	}
}

// TestLegacyTopLevel (F03): router keys at the top level are accepted, the router block wins, and check says so.
func TestLegacyTopLevel(t *testing.T) {
	c := load(t, "testdata/python_hub_saved.yaml", nil)
	s := c.Router
	if !s.Failover || s.MaxAttempts != 3 || s.AffinityTTL != 15*time.Minute {
		t.Errorf("top-level keys were not taken: %+v", s)
	}
	if s.DefaultRole != "manager" || s.Policy.CooldownBase != 4*time.Minute {
		t.Errorf("the router block did not win: %+v", s)
	}
	for _, want := range []string{
		"5:15: warning: default_role is ignored: router.default_role stands in its block and wins",
		"6:24: warning: max_failover_attempts at the top level is the old form; move it under router:",
		"27:3: warning: role guardian cannot fail over: none of its nodes is usable",
		"43:5: warning: profiles.grok-orch.request_options is ignored: requests are passed on as the client made them",
		"46:17: warning: profiles.opengo-3.profile_id is ignored: the id is the name of the block, opengo-3",
		"50:3: warning: profiles.local-1.provider is absent: antigravity, as in the Python hub",
	} {
		if !strings.Contains(c.Warnings.Error(), want) {
			t.Errorf("no warning %q in\n%v", want, c.Warnings)
		}
	}
	// Anchors and merge keys mean what they mean to the Python hub's loader.
	if diff := cmp.Diff(c.Roles[0].Chain, c.Roles[1].Chain); diff != "" {
		t.Errorf("the aliased chain differs\n%s", diff)
	}
	p, _ := c.Table().Profile("opengo-3")
	if p.Provider.ID != "opencode-go" || p.AccountID != "opengo-acc-3" || p.MaxConcurrency != 2 || p.Credential.Reveal() != "xai-1" {
		t.Errorf("the merged profile is %s %s %d", p.Provider.ID, p.AccountID, p.MaxConcurrency)
	}
}

// TestRoleAliases (F07): old and new names of a role mean the same, unless the file itself uses a name otherwise.
func TestRoleAliases(t *testing.T) {
	f := func(roles string, want map[string]string) {
		t.Helper()
		c := parse(t, "roles: {"+roles+"}\nprofiles: {a: {provider: openai}}\n", nil)
		got := map[string]string{}
		for name := range want {
			if role, ok := c.Table().Role(name); ok {
				got[name] = role.ID
			} else {
				got[name] = ""
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", roles, diff)
		}
	}
	f("orchestrator: {}", map[string]string{"orchestrator": "orchestrator", "manager": "orchestrator", "coder": ""})
	f("manager: {}", map[string]string{"orchestrator": "manager", "manager": "manager"})
	f("orchestrator: {}, manager: {}", map[string]string{"orchestrator": "orchestrator", "manager": "manager"})
	f("coder-primary: {}", map[string]string{"coder": "coder-primary", "developer-1": "coder-primary"})
	f("developer-1: {}, coder: {}", map[string]string{"coder": "coder", "coder-primary": "developer-1"})
	f("fast: {}, research: {}, reviewer: {}, coder-secondary: {}", map[string]string{
		"tester": "fast", "general": "fast", "researcher": "research", "code-reviewer": "reviewer", "developer-2": "coder-secondary",
	})
	f("fast: {}, x: {aliases: [general, boss]}", map[string]string{"tester": "fast", "general": "x", "boss": "x"})
}

// TestDefaultRole: the default role goes by every name of a role; a file without such a role has none, and is told.
func TestDefaultRole(t *testing.T) {
	f := func(file, want string, warned bool) {
		t.Helper()
		c := parse(t, file+"\nprofiles: {a: {provider: openai}}\n", nil)
		if c.Router.DefaultRole != want {
			t.Errorf("%s: default role %q, want %q", file, c.Router.DefaultRole, want)
		}
		if got := strings.Contains(c.Warnings.Error(), "a request that names no role is refused"); got != warned {
			t.Errorf("%s: warned %v, want %v", file, got, warned)
		}
	}
	f("roles: {orchestrator: {}}", "orchestrator", false)
	f("roles: {manager: {}}", "manager", false)
	f("roles: {x: {aliases: [y]}}\nrouter: {default_role: y}", "x", false)
	f("roles: {x: {}}", "", true)
}

func load(t *testing.T, path string, env map[string]string) *Config {
	t.Helper()
	c, err := Load(path, func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t *testing.T, file string, env map[string]string) *Config {
	t.Helper()
	c, err := Parse("router_profiles.yaml", []byte(file), func(name string) string { return env[name] })
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, file)
	}
	return c
}
