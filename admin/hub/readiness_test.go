package hub

import (
	"fmt"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// V13, V14: the four conditions, the worst first; a role on its fallback is served; an empty slot is no broken account.
func TestReadiness(t *testing.T) {
	f := func(happened func(*scene), want string) {
		t.Helper()
		s := newScene(t, []router.Profile{
			account("openai-codex", "first", "gpt-5.5"), account("antigravity", "second", "gemini-3.1-pro"), account("grok", "slot", "grok-5"),
		}, role("orchestrator", "first", "second"), role("fast", "second"))
		s.Identities["slot"] = Identity{State: NotConfigured}
		happened(s)
		r := s.build().Readiness
		got := fmt.Sprintf("%s %q roles %d/%d accounts %d/%d providers %d/%d %q %q", r.State, r.TitleRU, r.RolesReadyCount, r.TotalRoles,
			r.AccountsConnectedCount, r.TotalAccounts, r.ProvidersReadyCount, r.TotalProviders, r.SummaryRU, r.Warnings)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(func(*scene) {}, `healthy "Полная готовность" roles 2/2 accounts 2/2 providers 2/3 "Все системы и резервы в строю." []`)
	f(func(s *scene) { s.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(time.Hour))) },
		`degraded "Деградация маршрутов" roles 2/2 accounts 2/2 providers 1/3 "Часть ролей работает через резервные аккаунты." ["Роль 'Главный оркестратор' работает через резервный аккаунт (Primary недоступен)."]`)
	f(func(s *scene) {
		s.refuse("second", "gemini-3.1-pro", spent("antigravity.gemini.5h", noon.Add(time.Hour)))
	},
		`critical "Критическое состояние" roles 1/2 accounts 2/2 providers 1/3 "Есть роли без рабочих аккаунтов." ["Роль 'Быстрый агент' не имеет рабочих аккаунтов (все исчерпаны)."]`)
	f(func(s *scene) { s.Identities["slot"] = Identity{State: AuthRequired} },
		`limited "Ограниченная готовность" roles 2/2 accounts 2/3 providers 2/3 "Подключены не все аккаунты." []`)
	f(func(s *scene) { s.refuse("second", "gemini-3.1-pro", quota.Reading{Class: quota.AuthInvalid}) },
		`critical "Критическое состояние" roles 1/2 accounts 1/2 providers 1/3 "Есть роли без рабочих аккаунтов." ["Роль 'Быстрый агент' не имеет рабочих аккаунтов (все недоступны)."]`)
}

// A07: before anything is known there is a picture all the same.
func TestBootstrap(t *testing.T) {
	s := Build(Sources{}, noon)
	if s.Generation != 0 || s.Seq != 0 || !s.IsStale || s.Timestamp != float64(noon.Unix()) || s.Readiness.TitleRU != "Инициализация" {
		t.Errorf("%+v", s)
	}
	if len(s.AllProfiles)+len(s.ProfilesByProvider)+len(s.Agents)+len(s.Providers)+len(s.Routing)+len(s.Quotas) != 0 {
		t.Errorf("it is not empty: %+v", s)
	}
}
