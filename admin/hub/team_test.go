package hub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// line is a pipeline and its agent as text: a line a step, the active one starred.
func line(s HubSnapshot, role string) string {
	var b strings.Builder
	for _, a := range s.Agents {
		if a.RoleID == role {
			fmt.Fprintf(&b, "%s: %s %s active=%v %s %q %s %q", a.RoleNameRU, a.AssignedProfileID.Value, a.RoutingPosition, a.IsActive, a.Status, a.StatusLabelRU, a.ActiveQuotaStatus, a.ActiveQuotaLabel)
		}
	}
	for _, n := range s.Routing[role].Nodes {
		star := " "
		if n.IsActive {
			star = "*"
		}
		fmt.Fprintf(&b, "\n%s %s %s %s %s %d", star, n.ProfileID, n.Model, n.Status, n.QuotaStatus, n.CooldownRemainingSec)
		if n.FailoverReason.Known {
			fmt.Fprintf(&b, " ← %s", n.FailoverReason.Value)
		}
	}
	return b.String()
}

func expectLine(t *testing.T, s HubSnapshot, role, want string) {
	t.Helper()
	if got := line(s, role); got != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, strings.TrimSpace(want))
	}
}

// V10, V11: the first usable step is the agent; those before it say what they were left for, in the words of the evidence;
// the active one and those after it say nothing.
func TestPipelineReasons(t *testing.T) {
	s := newScene(t, []router.Profile{
		account("openai-codex", "quota", "gpt-5.5"), account("claude", "rate", "claude-opus-4-6"), account("grok", "down", "grok-5"),
		account("openai", "auth", "gpt-5.5"), account("gemini", "off", "gemini-3.1-pro"), account("deepseek", "poor", "deepseek-v4"),
		account("opencode-go", "good", "deepseek-v4"), account("mistral", "last", "devstral-2"),
	}, role("orchestrator", "quota", "rate", "down", "auth", "off", "poor", "good", "last"))
	s.profiles[4].Enabled = false
	s.reload()
	s.refuse("quota", "gpt-5.5", spent("codex.session", noon.Add(time.Hour)))
	s.refuse("rate", "claude-opus-4-6", quota.Reading{Class: quota.RateLimited, RetryAfter: time.Minute})
	s.refuse("down", "grok-5", quota.Reading{Class: quota.Overloaded})
	s.refuse("auth", "gpt-5.5", quota.Reading{Class: quota.AuthInvalid})
	s.refuse("poor", "deepseek-v4", quota.Reading{Class: quota.Billing})
	s.refuse("last", "devstral-2", quota.Reading{Class: quota.Timeout})
	expectLine(t, s.build(), "orchestrator", `
Главный оркестратор: good Fallback 6 active=true healthy "Работает" unknown "Доступна"
  quota gpt-5.5 quota_exhausted exhausted 3600 ← Primary исчерпал квоту (429)
  rate claude-opus-4-6 rate_limited unknown 60 ← Fallback 1 превысил лимит запросов (429)
  down grok-5 cooldown unknown 300 ← Недоступен (провайдер перегружен)
  auth gpt-5.5 auth_required unknown 0 ← Требуется авторизация
  off gemini-3.1-pro disabled unknown 0 ← Отключён
  poor deepseek-v4 unhealthy unknown 3600 ← Недоступен (требуется оплата)
* good deepseek-v4 healthy unknown 0
  last devstral-2 cooldown unknown 300`)
}

// P12: nobody can serve. The agent is the primary in its trouble, and no step was left for another.
func TestPipelineExhausted(t *testing.T) {
	s := pair(t)
	s.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(time.Hour)))
	s.refuse("second", "gemini-3.1-pro", quota.Reading{Class: quota.QuotaExhausted, RetryAfter: time.Hour})
	p := s.build()
	expectLine(t, p, "orchestrator", `
Главный оркестратор: first Primary active=false quota_exhausted "Исчерпан" exhausted "Осталось 0%"
  first gpt-5.5 quota_exhausted exhausted 3600
  second gemini-3.1-pro quota_exhausted exhausted 3600`)
	if p.Routing["orchestrator"].ActiveProfileID != "" {
		t.Errorf("active: %q", p.Routing["orchestrator"].ActiveProfileID)
	}
}

// S20: after a refusal the very next picture agrees everywhere, and after the reset it is as before. Nothing measured the
// second account: its refusal is known by itself.
func TestRefusalEverywhere(t *testing.T) {
	s := pair(t)
	s.measure("first", quota.SourceProviderAPI, "codex.session=40@60", "codex.weekly=80@3000")
	f := func(want string) {
		t.Helper()
		p := s.build()
		first := p.AllProfiles["first"]
		got := fmt.Sprintf("%s %s | %s | active %s | agent %s | %s", first.QuotaSnapshot.Buckets[0].Status, first.HealthState,
			first.ModelStates["gpt"].State, p.Routing["orchestrator"].ActiveProfileID, p.Agents[0].AssignedProfileID.Value, p.Readiness.State)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f("healthy healthy | healthy | active first | agent first | healthy")
	s.after(time.Second)
	s.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(time.Hour)))
	f("exhausted quota_exhausted | quota_exhausted | active second | agent second | degraded")
	s.refuse("second", "gemini-3.1-pro", quota.Reading{Class: quota.QuotaExhausted, RetryAfter: time.Hour, Scope: quota.ScopeFamily})
	f("exhausted quota_exhausted | quota_exhausted | active  | agent first | critical")
	s.after(time.Hour)
	f("unknown healthy | healthy | active first | agent first | healthy")
}

// Q24: under "switch" an account below the threshold is left, and it comes back by itself; under "notify" nothing moves; what
// is unknown is never below.
func TestPipelineThreshold(t *testing.T) {
	f := func(to bool, bucket, want string) {
		t.Helper()
		s := pair(t)
		s.settings.Threshold = router.Threshold{Percent: 10, Switch: to}
		s.reload()
		if bucket != "" {
			s.measure("first", quota.SourceProviderAPI, bucket)
		}
		expectLine(t, s.build(), "orchestrator", want)
		s.after(time.Hour)
		if p := s.build(); p.Agents[0].AssignedProfileID.Value != "first" {
			t.Errorf("after the reset %s serves", p.Agents[0].AssignedProfileID.Value)
		}
	}
	f(true, "codex.session=9.5@60", `
Главный оркестратор: second Fallback 1 active=true healthy "Работает" unknown "Доступна"
  first gpt-5.5 healthy warning 0 ← Primary близок к исчерпанию квоты
* second gemini-3.1-pro healthy unknown 0`)
	f(false, "codex.session=9.5@60", `
Главный оркестратор: first Primary active=true healthy "Работает" warning "Осталось 10%"
* first gpt-5.5 healthy warning 0
  second gemini-3.1-pro healthy unknown 0`)
	f(true, "", `
Главный оркестратор: first Primary active=true healthy "Работает" unknown "Доступна"
* first gpt-5.5 healthy unknown 0
  second gemini-3.1-pro healthy unknown 0`)
}

// An account that lists no models is asked for whatever a client names: it serves. One that cannot be spoken to, or that has
// only names for models of its own, does not.
func TestPipelineWithoutModels(t *testing.T) {
	named, mute := account("openai", "named"), account("ollama", "mute")
	named.ModelMap, mute.Protocol = map[string]string{"fast": "gpt-5.5-mini"}, "telepathy"
	s := newScene(t, []router.Profile{named, mute, account("openai-compatible", "open")}, role("orchestrator", "named", "mute", "open"))
	expectLine(t, s.build(), "orchestrator", `
Главный оркестратор: open Fallback 2 active=true healthy "Работает" unknown "Доступна"
  named default unhealthy unknown 0 ← Недоступен (модель не обслуживается)
  mute default unhealthy unknown 0 ← Недоступен (протокол не поддерживается)
* open default healthy unknown 0`)
	s.refuse("open", "whatever", quota.Reading{Class: "unheard_of"})
	s.refuse("open", "whatever", quota.Reading{Class: quota.QuotaExhausted, RetryAfter: time.Hour})
	if p := s.build(); p.Readiness.State != ReadinessCritical || p.Agents[0].ActiveQuotaLabel != "Н/Д" {
		t.Errorf("%s, %q", p.Readiness.State, p.Agents[0].ActiveQuotaLabel)
	}
}

// A cold spare stands by until nobody else is left; then it works.
func TestPipelineSpare(t *testing.T) {
	s := pair(t)
	s.profiles[0].ColdSpare = true
	s.reload()
	expectLine(t, s.build(), "orchestrator", `
Главный оркестратор: second Primary active=true healthy "Работает" unknown "Доступна"
* second gemini-3.1-pro healthy unknown 0
  first gpt-5.5 cold_spare unknown 0`)
	s.refuse("second", "gemini-3.1-pro", quota.Reading{Class: quota.QuotaExhausted, RetryAfter: time.Hour})
	expectLine(t, s.build(), "orchestrator", `
Главный оркестратор: first Fallback 1 active=true healthy "Работает" unknown "Доступна"
  second gemini-3.1-pro quota_exhausted exhausted 3600 ← Primary исчерпал квоту (429)
* first gpt-5.5 healthy unknown 0`)
}

// V12, and what else of a team is the configuration's.
func TestAgentOfConfiguration(t *testing.T) {
	s := team(t).build()
	if got := s.Agents[0].SessionID; got != Known("session-42") || s.Agents[1].SessionID.Known {
		t.Errorf("sessions: %v, %v", got, s.Agents[1].SessionID)
	}
	if p := s.Routing["orchestrator"]; p.DefaultModel != "auto" || p.MaxFailover != 3 || !p.SessionAffinity {
		t.Errorf("pipeline: %+v", p)
	}
	var roles []string
	for _, a := range s.Agents {
		roles = append(roles, fmt.Sprintf("%s %s %v", a.RoleID, a.RoleNameRU, a.IsMainOrchestrator))
	}
	if got := strings.Join(roles, ", "); got != "orchestrator Главный оркестратор true, coder-primary Кодер 1 false, reviewer Ревьюер false, research Исследователь false, nightly nightly false" {
		t.Error(got)
	}
	own := role("reviewer")
	own.Name = "Критик"
	if got := textOf(&own); got.name != (label{"Критик", "Критик"}) || got.purpose != roleTexts["reviewer"].purpose {
		t.Errorf("a role's own name: %+v", got)
	}
	expectLine(t, broken(t).build(), "idle", `idle:  Primary active=false not_configured "Аккаунт не добавлен" unknown "Н/Д"`)
}

// P28: the picture and the explain view cannot disagree: they rest on one plan. Of roles whose accounts all have their
// credentials the active step is the one that explain selects.
func TestPipelineAgreesWithExplain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anything(t, rt)
		for _, p := range s.profiles {
			s.Identities[p.ID] = Identity{State: Authenticated}
		}
		picture, snapshot := s.build(), s.router.Snapshot()
		for _, role := range snapshot.Table.Roles {
			pipeline := picture.Routing[role.ID]
			var plan router.Plan
			router.Choose(snapshot, router.Query{Role: role, AnyNode: true}, -1, router.Vacant{}, s.now, &plan)
			selected := ""
			for n, c := range router.Explain(&plan, router.RoleExplicit, nil, "").Candidates {
				node := pipeline.Nodes[n]
				if node.ProfileID != c.ProfileID || node.IsActive != (c.Verdict == router.VerdictSelected) || node.FailoverReason.Known && c.Verdict != router.VerdictSkipped {
					rt.Fatalf("%s, step %d: %+v is explained as %+v", role.ID, n, node, c)
				}
				if c.Verdict == router.VerdictSelected {
					selected = c.ProfileID
				}
			}
			if pipeline.ActiveProfileID != selected {
				rt.Fatalf("%s: %q is active, explain selects %q", role.ID, pipeline.ActiveProfileID, selected)
			}
		}
	})
}
