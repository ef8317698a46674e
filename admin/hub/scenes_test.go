package hub

import (
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// scenes are hubs in all kinds of conditions, by name.
func scenes(t testing.TB) map[string]*scene {
	return map[string]*scene{
		"quiet": pair(t), "team": team(t), "broken": broken(t),
	}
}

// team is a household of all providers in the middle of a day: Codex is out of quota, one Claude family is, an account has to
// sign in again, a slot is empty, and one account is busy.
func team(t testing.TB) *scene {
	with := func(p router.Profile, change func(*router.Profile)) router.Profile {
		change(&p)
		return p
	}
	s := newScene(t, []router.Profile{
		with(account("openai-codex", "codex-orch", "gpt-5.5"), func(p *router.Profile) { p.DisplayName, p.Main = "Main Codex", true }),
		account("antigravity", "ag-orch-fallback", "gemini-3.1-pro", "claude-sonnet-4-6"),
		account("claude", "claude-work", "claude-opus-4-6", "claude-sonnet-4-6"),
		account("opencode-go", "opengo-1", "deepseek-v4"),
		account("grok", "grok-orch", "grok-5"),
		with(account("antigravity", "ag-cold-1", "gemini-3.1-pro"), func(p *router.Profile) { p.ColdSpare = true }),
		with(account("openai-codex", "codex-worker-1", "gpt-5.5"), func(p *router.Profile) { p.Enabled = false }),
		account("openai-codex", "codex-worker-2", "gpt-5.5"),
	},
		role("orchestrator", "codex-orch", "ag-orch-fallback", "grok-orch"),
		role("coder-primary", "claude-work", "opengo-1"),
		role("reviewer", "ag-orch-fallback/claude-sonnet-4-6", "claude-work", "ag-cold-1"),
		role("research", "codex-worker-2", "opengo-1"),
		role("nightly", "grok-orch", "codex-worker-1"),
	)
	s.Identities["codex-orch"] = Identity{State: Authenticated, Email: "user@example.org", AccountID: "acct-0123456789", Plan: "plus", PlanSource: "jwt_claim"}
	s.Identities["ag-orch-fallback"] = Identity{State: Authenticated, Email: "ann@example.org"}
	s.Identities["claude-work"] = Identity{State: Authenticated, Plan: "max_20x", PlanSource: "provider_auth"}
	s.Identities["grok-orch"] = Identity{State: AuthExpired, Email: "user@example.org"}
	s.Identities["codex-worker-2"] = Identity{State: NotConfigured}
	s.Looks["opengo-1"] = Look{
		Outcome: LookNotExposed, At: noon, Models: []string{"qwen3", "deepseek-v4"},
		UnavailableRU: "OpenCode Go не предоставляет остаток через публичный API", UnavailableEN: "OpenCode Go does not publish what is left through its API",
	}
	s.Looks["ag-orch-fallback"] = Look{Outcome: LookMeasured, At: noon, Models: []string{"gemini-3.1-pro"}, Plan: "g1-pro-tier"}
	s.measure("codex-orch", quota.SourceProviderAPI, "codex.session=12@180", "codex.weekly=60@3000")
	s.measure("ag-orch-fallback", quota.SourceProviderAPI, "antigravity.claude.5h=40@60", "antigravity.gemini.5h=85@5", "antigravity.claude.7d=71.5@5000", "antigravity.gemini.7d=100@5000")
	s.measure("claude-work", quota.SourceProviderAPI, "claude.session=55@90", "claude.weekly=14@4000", "claude.weekly.sonnet=3@4000")
	s.after(time.Minute)
	s.refuse("codex-orch", "gpt-5.5", spent("codex.session", noon.Add(3*time.Hour)))
	s.refuse("ag-orch-fallback", "claude-sonnet-4-6", quota.Reading{
		Class: quota.QuotaExhausted, Scope: quota.ScopeFamily, ResetAt: noon.Add(time.Hour), Reason: "code:resource_exhausted",
		Buckets: []quota.Bucket{{ID: "antigravity.claude.5h", UsedPercent: quota.Known(100), RemainingPercent: quota.Known(0), ResetAt: noon.Add(time.Hour)}},
	})
	s.ActiveCalls["claude-work"], s.ActiveCalls["ag-orch-fallback"] = 2, 1
	s.Sessions["orchestrator"] = "session-42"
	return s
}

// broken is a hub that can do nothing: every account is in another trouble.
func broken(t testing.TB) *scene {
	s := newScene(t, []router.Profile{
		account("openai-codex", "unpaid", "gpt-5.5"), account("claude", "refused", "claude-opus-4-6"),
		account("grok", "slow", "grok-5"), account("opencode-go", "limited", "deepseek-v4"),
	}, role("orchestrator", "unpaid", "refused", "slow", "limited"), role("idle"))
	s.refuse("unpaid", "gpt-5.5", quota.Reading{Class: quota.Billing, Reason: "code:billing"})
	s.refuse("refused", "claude-opus-4-6", quota.Reading{Class: quota.AuthInvalid, Reason: "status:401"})
	s.refuse("slow", "grok-5", quota.Reading{Class: quota.Timeout, Reason: "no answer"})
	s.refuse("limited", "deepseek-v4", quota.Reading{Class: quota.RateLimited, RetryAfter: 30 * time.Second, Reason: "status:429"})
	return s
}
