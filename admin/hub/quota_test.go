package hub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// told is a quota as a line a bucket.
func told(q *QuotaSnapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s estimated=%v", q.Source, q.IsEstimated)
	if q.UnavailableReason.Known {
		fmt.Fprintf(&b, " (%s)", q.UnavailableReason.Value)
	}
	for _, x := range q.Buckets {
		fmt.Fprintf(&b, "\n%s %s %s %s", x.ID, x.Status, x.LabelRU, x.ResetLabelRU.Value)
	}
	return b.String()
}

// Q13: where nobody measured anything there are the provider's windows with null values, and a reason; nothing reads as 0 or
// 100. The ids and the sources are the truth matrix's.
func TestQuotaUnmeasured(t *testing.T) {
	f := func(provider string, outcome LookOutcome, why, want string) {
		t.Helper()
		s := newScene(t, []router.Profile{account(provider, "a")}, role("orchestrator", "a"))
		if outcome != "" {
			s.Looks["a"] = Look{Outcome: outcome, At: noon, UnavailableRU: why}
		}
		q := s.build().Quotas["a"]
		if got := told(q); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
		for _, b := range q.Buckets {
			if b.UsedPercent.Known || b.RemainingPercent.Known || b.UsedAbsolute.Known || b.RemainingAbsolute.Known || b.LimitAbsolute.Known || b.ResetAt.Known || b.ResetInSeconds.Known {
				t.Errorf("%s has values that nobody measured", b.ID)
			}
		}
	}
	silent := "Claude не предоставляет остаток через публичный API"
	f("claude", LookNotExposed, silent, "provider_api estimated=false ("+silent+")\nclaude.session unknown Н/Д \nclaude.weekly unknown Н/Д ")
	f("openai-codex", "", "", "baseline estimated=true (Данные лимитов ещё не получены)\ncodex.session unknown Н/Д \ncodex.weekly unknown Н/Д ")
	f("grok", LookFailed, "Провайдер не вернул данные лимитов", "baseline estimated=true (Провайдер не вернул данные лимитов)\n"+
		"grok.weekly unknown Н/Д \ngrok.chat unknown Н/Д \ngrok.build unknown Н/Д \ngrok.frequent_tasks unknown Н/Д \ngrok.normal_tasks unknown Н/Д ")
	f("opencode-go", LookEntitlement, "Для этого ключа не активна подписка OpenCode Go", "provider_api estimated=false (Для этого ключа не активна подписка OpenCode Go)\n"+
		"opencode.5h unknown Н/Д \nopencode.7d unknown Н/Д \nopencode.30d unknown Н/Д ")
	f("antigravity", LookAuth, "Авторизация истекла — обновите подключение", "baseline estimated=true (Авторизация истекла — обновите подключение)\n"+
		"antigravity.claude.5h unknown Н/Д \nantigravity.gemini.5h unknown Н/Д \nantigravity.claude.7d unknown Н/Д \nantigravity.gemini.7d unknown Н/Д ")
	f("deepseek", "", "", "baseline estimated=true (Данные лимитов ещё не получены)")
}

// An empty slot has no windows at all.
func TestQuotaUnconfigured(t *testing.T) {
	s := newScene(t, []router.Profile{account("claude", "a")}, role("orchestrator", "a"))
	s.Identities["a"] = Identity{State: NotConfigured}
	if got := told(s.build().Quotas["a"]); got != "unconfigured estimated=true (Аккаунт не настроен)" {
		t.Error(got)
	}
}

// A measurement sets values and takes the reason away; a refusal says so of itself; a look that fails later leaves the
// previous truth, with its age and the reason why there is nothing newer. What was reset since is not known any more.
func TestQuotaMeasured(t *testing.T) {
	s := newScene(t, []router.Profile{account("openai-codex", "a", "gpt-5.5")}, role("orchestrator", "a"))
	f := func(want string) {
		t.Helper()
		if got := told(s.build().Quotas["a"]); got != want {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
	s.Looks["a"] = Look{Outcome: LookNotExposed, At: s.now.Add(time.Second), UnavailableRU: "не предоставляет"}
	s.measure("a", quota.SourceProviderAPI, "codex.session=70@180", "codex.weekly.gpt-5.3-codex-spark=50@3000")
	f("provider_api estimated=false\ncodex.session healthy Осталось 70% Сброс через 3ч 0м\ncodex.weekly unknown Н/Д \n" +
		"codex.weekly.gpt-5.3-codex-spark healthy Осталось 50% Сброс через 2д 2ч")
	s.after(time.Minute)
	s.Looks["a"] = Look{Outcome: LookFailed, At: s.now, UnavailableRU: "Провайдер не вернул данные лимитов"}
	q := s.build().Quotas["a"]
	if !q.FetchedAt.Equal(noon) || q.Source != QuotaFromProvider || q.UnavailableReason.Value != "Провайдер не вернул данные лимитов" || q.Buckets[0].RemainingPercent != Known(70.0) {
		t.Errorf("after a failed look: %+v", q)
	}
	s.after(time.Minute)
	s.refuse("a", "gpt-5.5", spent("codex.session", noon.Add(3*time.Hour)))
	f("runtime_event estimated=false\ncodex.session exhausted Осталось 0% Сброс через 2ч 58м\ncodex.weekly unknown Н/Д \n" +
		"codex.weekly.gpt-5.3-codex-spark healthy Осталось 50% Сброс через 2д 1ч")
	s.after(3 * time.Hour)
	f("runtime_event estimated=false\ncodex.session unknown Н/Д Сброс: сейчас\ncodex.weekly unknown Н/Д \n" +
		"codex.weekly.gpt-5.3-codex-spark healthy Осталось 50% Сброс через 1д 22ч")
}

// Q19: what remains decides in three steps.
func TestQuotaStatus(t *testing.T) {
	for percent, want := range map[float64]QuotaStatus{100: QuotaHealthy, 15: QuotaHealthy, 14.9: QuotaWarning, 0.1: QuotaWarning, 0: QuotaExhausted} {
		s := pair(t)
		s.measure("first", quota.SourceProviderAPI, fmt.Sprintf("codex.session=%g@60", percent))
		p := s.build()
		if got := p.Quotas["first"].Buckets[0].Status; got != want || percent > 0 && p.Agents[0].ActiveQuotaStatus != want {
			t.Errorf("%g %%: %s, agent %s, want %s", percent, got, p.Agents[0].ActiveQuotaStatus, want)
		}
	}
	if got := statusOf(Maybe[float64]{}, quota.Known(0)); got != QuotaExhausted {
		t.Errorf("a balance of nothing is %s", got)
	}
	if got := statusOf(Maybe[float64]{}, quota.Known(7)); got != QuotaUnknown {
		t.Errorf("a balance without a limit is %s", got)
	}
}

// V15: how what remains is written.
func TestQuotaLabels(t *testing.T) {
	f := func(b QuotaBucket, ru, en string) {
		t.Helper()
		if got := b.label(); got != (label{ru, en}) {
			t.Errorf("%+v: %q, %q", b, got.ru, got.en)
		}
	}
	f(QuotaBucket{UsedPercent: Known(30.0), RemainingPercent: Known(70.0), UsedAbsolute: Known(int64(30)), LimitAbsolute: Known(int64(100))}, "30/100 · Осталось 70%", "30/100 · 70% left")
	f(QuotaBucket{UsedPercent: Known(30.0), RemainingPercent: Known(70.0)}, "Осталось 70%", "70% left")
	f(QuotaBucket{UsedPercent: Known(30.4)}, "Использовано 30%", "30% used")
	f(QuotaBucket{}, "Н/Д", "n/a")
	f(QuotaBucket{RemainingAbsolute: Known(int64(12))}, "Осталось 12", "12 left")
	f(QuotaBucket{RemainingPercent: Known(0.2)}, "Осталось <1%", "<1% left")
	f(QuotaBucket{RemainingPercent: Known(99.7)}, "Осталось 99%", "99% left")
	f(QuotaBucket{RemainingPercent: Known(0.0)}, "Осталось 0%", "0% left")
}

// V16: how the time until a reset is written.
func TestResetLabels(t *testing.T) {
	f := func(d time.Duration, ru, en string) {
		t.Helper()
		if got := resetLabel(secondsUntil(noon.Add(d), noon)); got != (label{ru, en}) {
			t.Errorf("%s: %q, %q", d, got.ru, got.en)
		}
	}
	f(30*time.Second, "Сброс через 1м", "Resets in 1m")
	f(5*time.Minute, "Сброс через 5м", "Resets in 5m")
	f(3*time.Hour, "Сброс через 3ч 0м", "Resets in 3h 0m")
	f(50*time.Hour, "Сброс через 2д 2ч", "Resets in 2d 2h")
	f(-time.Second, "Сброс: сейчас", "Resets now")
}

// What the ids of buckets tell.
func TestBucketNames(t *testing.T) {
	f := func(id, want string) {
		t.Helper()
		d := describe(id)
		if got := fmt.Sprintf("%s | %s | %s", d.display, d.family.Value, d.period.Value); got != want {
			t.Errorf("%s: %s", id, got)
		}
	}
	f("antigravity.claude.5h", "Claude 5h | claude | 5h")
	f("antigravity.gemini.7d", "Gemini 7d | gemini | 7d")
	f("antigravity.gemini.model_pool", "Gemini Model Pool | gemini | ")
	f("antigravity.gemini.gemini-2.5-pro", "Gemini gemini-2.5-pro | gemini | ")
	f("codex.session", "Codex Session | gpt | 5h")
	f("codex.weekly", "Codex Weekly | gpt | 7d")
	f("codex.weekly.gpt-5.3-codex-spark", "Codex Weekly gpt-5.3-codex-spark | gpt | 7d")
	f("claude.weekly.sonnet", "Claude Weekly Sonnet | claude | 7d")
	f("grok.frequent_tasks", "Grok Frequent Tasks | grok | ")
	f("opencode.30d", "OpenCode 30d | opencode | 30d")
	f("openai.requests", "OpenAI Requests |  | sliding")
	f("deepseek.balance_usd", "DeepSeek Balance Usd |  | ")
	f("odd", "Odd |  | ")
}

// Absolute values are whole units; a fraction is never rounded up to what is not there.
func TestQuotaAbsolute(t *testing.T) {
	s := newScene(t, []router.Profile{account("deepseek", "a")}, role("orchestrator", "a"))
	s.router.Measure("a", quota.Reading{Class: quota.OK, Scope: quota.ScopeAccount, Source: quota.SourceProviderAPI, Buckets: []quota.Bucket{
		{ID: "deepseek.balance_usd", Limit: quota.Known(100), Remaining: quota.Known(12.75), UsedPercent: quota.Known(120)},
	}}, s.now)
	b := s.build().Quotas["a"].Buckets[0]
	if got := fmt.Sprint(b.UsedAbsolute.Value, b.RemainingAbsolute.Value, b.LimitAbsolute.Value, b.UsedPercent.Value, b.RemainingPercent.Value); got != "87 12 100 100 0" {
		t.Error(got)
	}
}

// What an operator simulates is marked wherever it shows.
func TestQuotaSimulated(t *testing.T) {
	s := pair(t)
	s.measure("first", quota.Source(QuotaSimulated), "codex.session=0@60")
	p := s.build()
	q, account, agent, node := p.Quotas["first"], p.AllProfiles["first"], p.Agents[0], p.Routing["orchestrator"].Nodes[0]
	if q.Source != QuotaSimulated || !q.IsEstimated || q.Buckets[0].DisplayName != "Codex Session (simulated)" || q.Buckets[0].LabelRU != "Осталось 0% (симуляция)" {
		t.Errorf("quota: %+v", q)
	}
	if account.HealthLabelRU != "Квота исчерпана (симуляция)" || node.StatusLabelRU != "Исчерпан (симуляция)" || node.FailoverReason.Value != "Primary исчерпал квоту (симуляция)" || agent.AssignedProfileID.Value != "second" {
		t.Errorf("%q, %q, %q, agent %q", account.HealthLabelRU, node.StatusLabelRU, node.FailoverReason.Value, agent.AssignedProfileID.Value)
	}
}
