package configs

import (
	"net/textproto"
	"time"

	"hermes-hub/proxy"
	"hermes-hub/quota"
	"hermes-hub/router"
)

// defaultRole is the role of requests that name none, as in the Python hub. Its later files call it manager; the alias
// table bridges that.
const defaultRole = "orchestrator"

// What router.quota_threshold_action may be; the first is the default.
const (
	actionNotify = "notify"
	actionSwitch = "switch"
)

var sessionHeaders = []string{"X-Hub-Session", "X-Hermes-Session-Id", "X-Session-Id"}

// readRouter reads the block router and, where it is silent, the same keys at the top level, as old files have them.
func (r *reader) readRouter(b, top *block, c *Config) {
	defer b.done()
	b.legacy = top
	enabled := b.get("enabled")
	r.places[enabled.path] = enabled.at
	c.Router = router.Settings{
		Failover:          enabled.yes(true),
		DefaultRole:       r.defaultRole(b.get("default_role")),
		MaxAttempts:       attempts(b.get("max_failover_attempts")),
		AffinityTTL:       b.get("session_affinity_ttl_seconds").wait(1800 * time.Second),
		AutoReturnPrimary: b.get("auto_return_primary").yes(true),
		Policy:            r.policy(b),
		Protocols:         proxy.Protocols(),
	}
	c.Router.Threshold.Percent = 10
	if v, ok := b.get("quota_threshold_percent").number("percentage", 0, 100); ok {
		c.Router.Threshold.Percent = v
	}
	c.Router.Threshold.Switch = b.get("quota_threshold_action").oneOf(actionNotify, actionSwitch) == actionSwitch
	c.Proxy.SessionHeaders = headerNames(b.get("session_headers"), sessionHeaders)
	c.Proxy.LeaseWait = b.get("lease_wait_seconds").wait(10 * time.Second)
	c.Proxy.CooldownWait = b.get("cooldown_wait_seconds").wait(45 * time.Second)
	c.Proxy.RequestTimeout = b.get("request_timeout_seconds").timeout(1800 * time.Second)
	c.Proxy.CommitDeadline = b.get("commit_deadline_seconds").timeout(240 * time.Second)
	c.Proxy.ConnectTimeout = b.get("connect_timeout_seconds").timeout(10 * time.Second)
	c.Proxy.FirstTokenTimeout = b.get("first_token_timeout_seconds").timeout(120 * time.Second)
	c.Proxy.IdleTimeout = b.get("idle_timeout_seconds").timeout(150 * time.Second)
}

func (r *reader) policy(b *block) quota.Policy {
	base, ceiling := b.get("cooldown_base_seconds"), b.get("cooldown_max_seconds")
	p := quota.Policy{
		CooldownBase:      base.wait(300 * time.Second),
		CooldownMax:       ceiling.wait(3600 * time.Second),
		QuotaCooldown:     b.get("quota_cooldown_seconds").wait(1800 * time.Second),
		RateLimitCooldown: b.get("rate_limit_cooldown_seconds").wait(60 * time.Second),
	}
	if p.CooldownMax < p.CooldownBase {
		at := ceiling
		if ceiling.absent() {
			at = base
		}
		at.fail(": cooldown_max_seconds (%v) is less than cooldown_base_seconds (%v)", p.CooldownMax, p.CooldownBase)
	}
	return p
}

// defaultRole reads router.default_role. A file that names none and has no role of that name is left without one.
func (r *reader) defaultRole(n node) string {
	if n.blank() {
		id, ok := r.roles[defaultRole]
		if !ok && len(r.roles) > 0 {
			n.warn(" is absent and there is no role %s: a request that names no role is refused", defaultRole)
		}
		return id
	}
	id, _ := n.role()
	return id
}

// attempts reads a max_failover_attempts; absent is 0, every candidate once.
func attempts(n node) int {
	if n.absent() {
		return 0
	}
	return int(n.whole(0, 1))
}

// headerNames reads names of HTTP headers in canonical form.
func headerNames(n node, def []string) []string {
	if n.absent() {
		return def
	}
	names := []string{}
	for name := range n.words("the name of a header", checkHeaderName) {
		names = append(names, textproto.CanonicalMIMEHeaderKey(name))
	}
	return names
}
