package hub

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// condition texts say how an account is shown: state, label, seconds.
func shown(p *ProfileViewModel) string {
	return fmt.Sprintf("%s %s %q %d", p.AuthState, p.HealthState, p.HealthLabelRU, p.CooldownRemainingSec)
}

// V03: each condition has its state and its label, and the first of the contract's list wins.
func TestHealthOrder(t *testing.T) {
	s := newScene(t, []router.Profile{account("openai-codex", "a", "gpt-5.5")}, role("orchestrator", "a"))
	f := func(want string) {
		t.Helper()
		if got := shown(s.build().AllProfiles["a"]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(`AUTHENTICATED healthy "Работает" 0`)
	s.refuse("a", "gpt-5.5", quota.Reading{Class: quota.Billing, Reason: "code:billing"})
	f(`AUTHENTICATED unhealthy "Ошибка" 3600`)
	s.refuse("a", "gpt-5.5", quota.Reading{Class: quota.Timeout, Reason: "no answer"})
	f(`AUTHENTICATED cooldown "Временная пауза" 300`)
	s.refuse("a", "gpt-5.5", quota.Reading{Class: quota.RateLimited, RetryAfter: 29500 * time.Millisecond})
	f(`AUTHENTICATED rate_limited "Лимит запросов" 30`) // V05: not quota, whatever waits longer
	s.refuse("a", "gpt-5.5", spent("codex.weekly", noon.Add(time.Hour)))
	s.refuse("a", "gpt-5.5", spent("codex.session", noon.Add(time.Minute)))
	f(`AUTHENTICATED quota_exhausted "Квота исчерпана" 3600`) // the longest of several
	s.refuse("a", "gpt-5.5", quota.Reading{Class: quota.AuthInvalid, Reason: "status:401"})
	f(`AUTH_REQUIRED unhealthy "Требуется повторная авторизация" 0`) // V06: the provider's word beats the credential's
	s.Identities["a"] = Identity{State: NotConfigured}
	f(`NOT_CONFIGURED not_configured "Аккаунт не добавлен" 0`) // V04: an exhausted quota is no matter of a stranger's
	s.profiles[0].ColdSpare = true
	s.reload()
	f(`NOT_CONFIGURED cold_spare "Холодный резерв" 0`)
	s.profiles[0].Enabled = false
	s.reload()
	f(`NOT_CONFIGURED disabled "Отключён" 0`)
	if p := s.build().AllProfiles["a"]; !p.IsColdSpare || p.Enabled { // V07
		t.Errorf("a disabled cold spare is shown as %+v", p)
	}
}

// V04, V06: whose credential is no good is neither healthy nor out of quota.
func TestHealthUnauthenticated(t *testing.T) {
	f := func(state AuthState, want string) {
		t.Helper()
		s := newScene(t, []router.Profile{account("claude", "a", "claude-opus-4-6")}, role("orchestrator", "a"))
		s.refuse("a", "claude-opus-4-6", spent("claude.session", noon.Add(time.Hour)))
		s.Identities["a"] = Identity{State: state}
		p := s.build()
		view := p.AllProfiles["a"]
		if got := fmt.Sprintf("%s · %s · %q", shown(view), view.ModelStates["claude"].State, p.Agents[0].StatusLabelRU); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(AuthExpired, `AUTH_EXPIRED unhealthy "Требуется повторная авторизация" 0 · auth_required · "Требуется авторизация"`)
	f(AuthRequired, `AUTH_REQUIRED unhealthy "Требуется повторная авторизация" 0 · auth_required · "Требуется авторизация"`)
	f(NotConfigured, `NOT_CONFIGURED not_configured "Аккаунт не добавлен" 0 · not_configured · "Аккаунт не добавлен"`)
}

// Nothing was told of an account's identity: then its credential says whether there is one. A machine of the user's own needs
// none, and neither does an account whose headers hold it.
func TestHealthWithoutIdentity(t *testing.T) {
	f := func(p router.Profile, want AuthState) {
		t.Helper()
		s := newScene(t, []router.Profile{p}, role("orchestrator", p.ID))
		delete(s.Identities, p.ID)
		if got := s.build().AllProfiles[p.ID].AuthState; got != want {
			t.Errorf("%s: %s", p.ID, got)
		}
	}
	bare := func(provider, id string) router.Profile {
		p := account(provider, id)
		p.Credential = router.Secret{}
		return p
	}
	f(account("openai", "key"), Authenticated)
	f(bare("openai", "none"), NotConfigured)
	f(bare("ollama", "own"), Authenticated)
	header := bare("openai", "header")
	header.Headers = http.Header{"Authorization": {"Bearer x"}}
	f(header, Authenticated)
}

// One family of an account is out and the other is not: the account works. When both are, it is out until the first is back.
func TestHealthOfFamilies(t *testing.T) {
	s := newScene(t, []router.Profile{account("antigravity", "a", "claude-sonnet-4-6", "gemini-3.1-pro")}, role("orchestrator", "a"))
	family := func(name string, reset time.Duration) {
		rd := spent("antigravity."+name+".5h", noon.Add(reset))
		rd.Scope, rd.Reason = quota.ScopeFamily, "code:resource_exhausted"
		s.refuse("a", name+"-x", rd)
	}
	f := func(want string) {
		t.Helper()
		p := s.build().AllProfiles["a"]
		claude, gemini := p.ModelStates["claude"], p.ModelStates["gemini"]
		got := fmt.Sprintf("%s | %s %q %s | %s %q", shown(p), claude.State, claude.LabelRU, claude.Reason.Value, gemini.State, gemini.LabelRU)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	family("claude", time.Hour)
	f(`AUTHENTICATED healthy "Работает" 0 | quota_exhausted "Квота исчерпана (3600s)" code:resource_exhausted | healthy "Работает"`)
	family("gemini", 10*time.Minute)
	f(`AUTHENTICATED quota_exhausted "Квота исчерпана" 600 | quota_exhausted "Квота исчерпана (3600s)" code:resource_exhausted | quota_exhausted "Квота исчерпана (600s)"`)
	s.after(10 * time.Minute)
	f(`AUTHENTICATED healthy "Работает" 0 | quota_exhausted "Квота исчерпана (3000s)" code:resource_exhausted | healthy "Работает"`)
}

// Accounts of one provider that fail alike rest together, also those that were not called.
func TestHealthOfRestingProvider(t *testing.T) {
	var profiles []router.Profile
	for _, id := range []string{"a", "b", "c"} {
		p := account("grok", id, "grok-5")
		p.BaseURL = "https://one.test"
		profiles = append(profiles, p)
	}
	s := newScene(t, profiles, role("orchestrator", "a", "b", "c"))
	for _, id := range []string{"a", "b"} {
		s.refuse(id, "grok-5", quota.Reading{Class: quota.Overloaded, Scope: quota.ScopeProvider, Reason: "status:503"})
	}
	p := s.build().AllProfiles["c"]
	if got := shown(p); got != `AUTHENTICATED cooldown "Временная пауза" 5` || p.ModelStates["grok"].State != HealthCooldown {
		t.Errorf("%s, %s", got, p.ModelStates["grok"].State)
	}
}
