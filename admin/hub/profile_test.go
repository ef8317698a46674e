package hub

import (
	"fmt"
	"slices"
	"testing"

	"hermes-hub/router"
)

// V01: an account is known by its e-mail, else by the name that its owner gave it, else by the provider's id of it, else by
// its own. V02: agents and pipelines show it masked.
func TestIdentity(t *testing.T) {
	f := func(email, name, account, plain, masked string) {
		t.Helper()
		p := router.Profile{ID: "ag-w1", DisplayName: name, AccountID: account}
		got := identityOf(&p, Identity{Email: email})
		if got.text != plain || got.masked() != masked {
			t.Errorf("%q %q %q: %q, masked %q", email, name, account, got.text, got.masked())
		}
	}
	f("user@example.org", "Main", "acct-123456789", "user@example.org", "u***r@example.org")
	f("", "Main", "acct-123456789", "Main", "Main")
	f("", "me@home.org", "", "me@home.org", "m***@home.org")
	f("", "", "acct-123456789", "acct-123456789", "acct...6789")
	f("", "", "acct1", "acct1", "ac***")
	f("", "", "", "ag-w1", "ag-w1")
	f("a@b.c", "", "", "a@b.c", "a***@b.c")
	f("@b.c", "", "", "@b.c", "***@b.c")
	f("юзер@почта.рф", "", "", "юзер@почта.рф", "ю***р@почта.рф")
}

// What a credential names beats what the configuration says; and no e-mail is to be seen in agents and pipelines.
func TestIdentityInPictures(t *testing.T) {
	s := team(t).build()
	if got := s.AllProfiles["codex-orch"].AccountIdentity; got != "user@example.org" {
		t.Errorf("account_identity is %q", got)
	}
	var seen []string
	for _, n := range s.Routing["orchestrator"].Nodes {
		seen = append(seen, n.AccountIdentity)
	}
	if want := []string{"u***r@example.org", "a***n@example.org", "u***r@example.org"}; !slices.Equal(seen, want) || s.Agents[0].AccountIdentity != want[1] {
		t.Errorf("masked: %q, agent %q", seen, s.Agents[0].AccountIdentity)
	}
}

// V08, V09: a plan has a code and a source; one that nothing names is unknown, and none is guessed.
func TestPlan(t *testing.T) {
	f := func(claimed, source, told, want string) {
		t.Helper()
		var p ProfileViewModel
		p.setPlan(planOf(Identity{Plan: claimed, PlanSource: source}, Look{Plan: told}))
		if got := fmt.Sprintf("%s, %s, %s, %s", p.Plan, p.PlanEN, p.PlanCode, p.PlanSource); got != want {
			t.Errorf("%q %q: %s, want %s", claimed, told, got, want)
		}
	}
	f("plus", "jwt_claim", "", "Тариф: PLUS, Plan: PLUS, PLUS, jwt_claim")
	f("", "", "", "Тариф: неизвестен, Plan: unknown, UNKNOWN, unknown")
	f("", "unknown", "", "Тариф: неизвестен, Plan: unknown, UNKNOWN, unknown")
	f("default_claude_max_20x", "provider_auth", "", "Тариф: MAX, Plan: MAX, MAX, provider_auth")
	f("", "", "g1-pro-tier", "Тариф: PRO, Plan: PRO, PRO, provider_api")
	f("plus", "jwt_claim", "plus", "Тариф: PLUS, Plan: PLUS, PLUS, jwt_claim")
	f("plus", "jwt_claim", "pro", "Тариф: PRO, Plan: PRO, PRO, provider_api") // the token is older
	f("plus", "jwt_claim", "unknown", "Тариф: PLUS, Plan: PLUS, PLUS, jwt_claim")
	f("SuperGrok Heavy", "jwt_claim", "", "Тариф: SUPERGROK, Plan: SUPERGROK, SUPERGROK, jwt_claim")
	f("API Key", "provider_auth", "", "Тариф: API, Plan: API, API, provider_auth")
	f(" - ", "jwt_claim", "", "Тариф: неизвестен, Plan: unknown, UNKNOWN, unknown")
}

// Roles, names and the rest of a profile, as the configuration has them.
func TestProfileOfConfiguration(t *testing.T) {
	s := team(t).build()
	f := func(id, want string) {
		t.Helper()
		p := s.AllProfiles[id]
		got := fmt.Sprintf("%s %q %q main=%v/%v empty=%v leases=%d checked=%s", p.DisplayName, p.AssignedRoles, p.PrimaryRole.Value, p.IsMainAccount, p.IsMainOrchestrator, p.IsEmptySlot, p.ActiveLeases, p.LastCheckedAt.Value)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", id, got, want)
		}
	}
	f("codex-orch", `Main Codex ["orchestrator (primary)"] "orchestrator" main=true/true empty=false leases=0 checked=12:01:00`)
	f("ag-orch-fallback", `Резервный оркестратор ["orchestrator (fallback 1)" "reviewer (primary)"] "reviewer" main=false/false empty=false leases=1 checked=12:01:00`)
	f("grok-orch", `Оркестратор (Grok) ["orchestrator (fallback 2)" "nightly (primary)"] "nightly" main=false/false empty=false leases=0 checked=`)
	f("claude-work", `claude-work ["coder-primary (primary)" "reviewer (fallback 1)"] "coder-primary" main=false/false empty=false leases=2 checked=12:00:00`)
	f("codex-worker-2", `Ревьюер ["research (primary)"] "research" main=false/false empty=true leases=0 checked=`)
	if p := s.AllProfiles["ag-cold-1"]; !p.IsColdSpare || p.PrimaryRole.Value != "reviewer" {
		t.Errorf("the spare: %+v", p)
	}
	if m := s.Metrics; m.TotalProfiles != 8 || m.AuthenticatedProfiles != 6 || m.ActiveCallsTotal != 3 || m.ActiveCallsByProfile["claude-work"] != 2 {
		t.Errorf("metrics: %+v", m)
	}
}

// S15: connected providers come first, then those with more slots, then by name.
func TestProviderOrder(t *testing.T) {
	s := newScene(t, []router.Profile{
		account("grok", "g1"), account("claude", "c1"), account("claude", "c2"), account("openai-codex", "x1"),
		account("antigravity", "a1"), account("antigravity", "a2"), account("deepseek", "d1"),
	}, role("orchestrator", "g1"))
	for _, id := range []string{"a1", "a2", "c2", "x1"} {
		s.Identities[id] = Identity{State: NotConfigured}
	}
	s.Identities["a2"] = Identity{State: AuthExpired}
	s.Looks["c1"] = Look{Outcome: LookMeasured, At: noon, Models: []string{"b", "a", "b"}}
	var order []string
	for _, p := range s.build().Providers {
		order = append(order, fmt.Sprintf("%s %d/%d online %d auth %d %q", p.ProviderName, p.ConnectedCount, p.TotalSlots, p.OnlineCount, p.AuthRequiredCount, p.DiscoveredModels))
	}
	want := []string{
		`Claude 1/2 online 1 auth 0 ["a" "b"]`, `DeepSeek 1/1 online 1 auth 0 []`, `Grok 1/1 online 1 auth 0 []`,
		`Google Antigravity 0/2 online 0 auth 1 []`, `OpenAI Codex 0/1 online 0 auth 0 []`,
	}
	if !slices.Equal(order, want) {
		t.Errorf("got  %q\nwant %q", order, want)
	}
}
