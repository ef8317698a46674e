package hub

// readinessTexts are the title and the summary of each state.
var readinessTexts = map[ReadinessState]struct{ title, summary label }{
	ReadinessCritical: {label{"Критическое состояние", "Critical"}, label{"Есть роли без рабочих аккаунтов.", "Some roles have no working account."}},
	ReadinessDegraded: {label{"Деградация маршрутов", "Routes degraded"}, label{"Часть ролей работает через резервные аккаунты.", "Some roles are served by their fallbacks."}},
	ReadinessLimited:  {label{"Ограниченная готовность", "Limited readiness"}, label{"Подключены не все аккаунты.", "Not all accounts are connected."}},
	ReadinessHealthy:  {label{"Полная готовность", "Fully ready"}, label{"Все системы и резервы в строю.", "All systems and reserves are in place."}},
}

// readiness sums the picture up: the worst that is true of it. A role that a fallback serves is served, and an empty slot is
// no broken account.
func (b *builder) readiness(providers []ProviderSummary) SystemReadiness {
	r := SystemReadiness{TotalRoles: len(b.lines), TotalProviders: len(providers), Warnings: []string{}, WarningsEN: []string{}}
	for _, p := range b.views {
		if p.IsEmptySlot {
			continue
		}
		r.TotalAccounts++
		if p.AuthState == Authenticated {
			r.AccountsConnectedCount++
		}
	}
	for _, p := range providers {
		if p.OnlineCount > 0 {
			r.ProvidersReadyCount++
		}
	}
	fallback := false
	for _, l := range b.lines {
		if l.active >= 0 {
			r.RolesReadyCount++
		}
		fallback = fallback || l.active > 0
		if warning := l.warning(); warning != (label{}) {
			r.Warnings, r.WarningsEN = append(r.Warnings, warning.ru), append(r.WarningsEN, warning.en)
		}
	}
	switch {
	case r.RolesReadyCount < r.TotalRoles:
		r.State = ReadinessCritical
	case fallback:
		r.State = ReadinessDegraded
	case r.AccountsConnectedCount < r.TotalAccounts:
		r.State = ReadinessLimited
	default:
		r.State = ReadinessHealthy
	}
	texts := readinessTexts[r.State]
	r.TitleRU, r.TitleEN, r.SummaryRU, r.SummaryEN = texts.title.ru, texts.title.en, texts.summary.ru, texts.summary.en
	return r
}

// warning is what is wrong with a role; none where its primary serves.
func (l *route) warning() label {
	ru, en := "Роль '"+l.names.name.ru+"' ", "Role '"+l.names.name.en+"' "
	switch {
	case len(l.steps) == 0:
		return label{ru + "не имеет настроенных профилей.", en + "has no profiles configured."}
	case l.active == 0:
		return label{}
	case l.active > 0:
		return label{ru + "работает через резервный аккаунт (Primary недоступен).", en + "is served by a fallback (Primary is not available)."}
	}
	for i := range l.steps {
		if l.condition(i).state != HealthQuota {
			return label{ru + "не имеет рабочих аккаунтов (все недоступны).", en + "has no working account (none is available)."}
		}
	}
	return label{ru + "не имеет рабочих аккаунтов (все исчерпаны).", en + "has no working account (all are exhausted)."}
}
