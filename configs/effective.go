package configs

import (
	"net/http"

	"hermes-hub/proxy"
	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// Effective is the configuration as YAML in the order of the contract, with every default filled in and [redacted] in
// place of each secret. Keys that have no value at all, such as an absent attempts cap, are left out.
func (c *Config) Effective() []byte {
	top := newTree()
	top.set("server", c.serverTree())
	top.set("client_keys", list(c.Proxy.Keys, keyTree))
	top.set("admin", c.adminTree())
	top.set("router", c.routerTree())
	top.set("roles", named(c.Roles, func(r router.Role) string { return r.ID }, roleTree))
	profiles := newTree()
	for i, p := range c.Profiles {
		profiles.set(p.ID, profileTree(p, c.Accounts[i]))
	}
	top.set("profiles", profiles)
	top.set("pricing", named(c.Prices, func(p telemetry.Price) string { return p.Model }, priceTree))
	top.set("runs", runsTree(c.Runs))
	top.set("journal", journalTree(c.Journal))
	return top.encode()
}

func (c *Config) serverTree() *tree {
	s, t := c.Server, newTree()
	t.set("listen", s.Listen)
	t.set("admin_listen", s.AdminListen)
	t.set("allowed_hosts", s.AllowedHosts)
	t.set("allowed_origins", s.AllowedOrigins)
	t.set("data_dir", s.DataDir)
	t.set("redis_url", s.RedisURL)
	t.set("instances", s.Instances)
	t.set("max_body_bytes", s.MaxBodyBytes)
	t.set("drain_grace_seconds", s.DrainGrace)
	return t
}

func keyTree(k proxy.Key) *tree {
	t := newTree()
	t.set("name", k.Name)
	t.set("key", k.Secret)
	t.set("default_role", k.DefaultRole)
	t.set("roles", k.Roles)
	return t
}

func (c *Config) adminTree() *tree {
	a, t := c.Admin, newTree()
	t.set("jwt_secret", a.JWTSecret)
	t.set("jwks_url", a.JWKSURL)
	t.set("public_key_file", a.PublicKeyFile)
	t.set("issuer", a.Issuer)
	t.set("audience", a.Audience)
	t.set("metrics_token", a.MetricsToken)
	return t
}

func (c *Config) routerTree() *tree {
	s, t := c.Router, newTree()
	t.set("enabled", s.Failover)
	t.set("default_role", s.DefaultRole)
	if s.MaxAttempts > 0 {
		t.set("max_failover_attempts", s.MaxAttempts)
	}
	t.set("session_affinity_ttl_seconds", s.AffinityTTL)
	t.set("session_headers", c.Proxy.SessionHeaders)
	t.set("auto_return_primary", s.AutoReturnPrimary)
	t.set("cooldown_base_seconds", s.Policy.CooldownBase)
	t.set("cooldown_max_seconds", s.Policy.CooldownMax)
	t.set("quota_cooldown_seconds", s.Policy.QuotaCooldown)
	t.set("rate_limit_cooldown_seconds", s.Policy.RateLimitCooldown)
	t.set("quota_threshold_percent", c.Router.Threshold.Percent)
	t.set("quota_threshold_action", thresholdAction(c.Router.Threshold))
	t.set("lease_wait_seconds", c.Proxy.LeaseWait)
	t.set("cooldown_wait_seconds", c.Proxy.CooldownWait)
	t.set("request_timeout_seconds", c.Proxy.RequestTimeout)
	t.set("commit_deadline_seconds", c.Proxy.CommitDeadline)
	t.set("connect_timeout_seconds", c.Proxy.ConnectTimeout)
	t.set("first_token_timeout_seconds", c.Proxy.FirstTokenTimeout)
	t.set("idle_timeout_seconds", c.Proxy.IdleTimeout)
	return t
}

func roleTree(r router.Role) *tree {
	t := newTree()
	t.set("role_name", r.Name)
	t.set("aliases", r.Aliases)
	t.set("preferred_chain", list(r.Chain, chainItemTree))
	t.set("fallback_capabilities", r.FallbackCapabilities)
	if r.MaxAttempts > 0 {
		t.set("max_failover_attempts", r.MaxAttempts)
	}
	t.set("session_affinity_enabled", r.Affinity)
	t.set("default_model", r.DefaultModel)
	return t
}

func chainItemTree(item router.ChainItem) any {
	if item.Model == "" {
		return item.Profile
	}
	t := newTree()
	t.set("profile", item.Profile)
	t.set("model", item.Model)
	return t
}

func profileTree(p router.Profile, a Account) *tree {
	t := newTree()
	t.set("provider", p.Provider.ID)
	t.set("display_name", p.DisplayName)
	t.set("account_id", p.AccountID)
	t.set("enabled", p.Enabled)
	t.set("cold_spare", p.ColdSpare)
	t.set("main", p.Main)
	t.set("capabilities", p.Capabilities)
	t.set("preferred_models", p.PreferredModels)
	t.set("fallback_models", p.FallbackModels)
	t.set("model_map", named(sortedKeys(p.ModelMap), same, func(asked string) string { return p.ModelMap[asked] }))
	t.set("max_concurrency", slotsValue(p.MaxConcurrency))
	t.set("lease_mode", string(p.LeaseMode))
	t.set("custom_base_url", p.BaseURL)
	t.set("protocol", string(p.Protocol))
	t.set("headers", headerTree(p.Headers))
	t.set("proxy_url", router.NewSecret(p.ProxyURL))
	t.set("context_length", p.ContextLength)
	probe := newTree()
	probe.set("enabled", a.Probe.Enabled)
	probe.set("base_url", a.Probe.BaseURL)
	t.set("probe", probe)
	auth := newTree()
	auth.set("api_key", p.Credential)
	auth.set("oauth_file", a.OAuthFile)
	auth.set("refresh", a.Refresh)
	auth.set("token_url", a.TokenURL)
	auth.set("client_id", a.ClientID)
	auth.set("client_secret", a.ClientSecret)
	auth.set("project", a.Project)
	t.set("auth_config", auth)
	return t
}

func slotsValue(n int) any {
	if n == 0 {
		return "unlimited"
	}
	return n
}

func headerTree(h http.Header) *tree {
	return named(sortedKeys(h), same, func(name string) router.Secret { return router.NewSecret(h.Get(name)) })
}

func priceTree(p telemetry.Price) *tree {
	t := newTree()
	set := func(key string, rate *float64) {
		if rate != nil {
			t.set(key, *rate)
		}
	}
	set("input_cost_per_m", p.Input)
	set("output_cost_per_m", p.Output)
	set("cached_input_cost_per_m", p.CachedInput)
	return t
}

func runsTree(r Runs) *tree {
	t := newTree()
	t.set("default_runtime", r.DefaultRuntime)
	t.set("runtimes", named(r.Runtimes, func(rt Runtime) string { return rt.Name }, func(rt Runtime) *tree {
		one := newTree()
		one.set("kind", rt.Kind)
		one.set("base_url", rt.BaseURL)
		one.set("api_key", rt.APIKey)
		return one
	}))
	return t
}

func journalTree(j Journal) *tree {
	t := newTree()
	t.set("content", j.Content)
	t.set("record_calls", j.RecordCalls)
	t.set("retention_hours", j.Retention.Hours())
	t.set("max_event_bytes", j.MaxEventBytes)
	return t
}

func thresholdAction(t router.Threshold) string {
	if t.Switch {
		return actionSwitch
	}
	return actionNotify
}
