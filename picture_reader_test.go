package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"
)

// compiledSchema is the schema that the hub publishes, or the part of it that a fragment names.
func (d *desk) compiledSchema(fragment string) *jsonschema.Schema {
	d.t.Helper()
	_, text := d.get(d.admn+"/admin/v1/snapshot.schema.json", d.token)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.TrimPrefix(text, "|")))
	if err != nil {
		d.t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://hub.invalid/schema", doc); err != nil {
		d.t.Fatal(err)
	}
	s, err := c.Compile("https://hub.invalid/schema" + fragment)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func fits(t *testing.T, s *jsonschema.Schema, what, text string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// countdown is what passes with time in a label.
var countdown = regexp.MustCompile(` \(\d+s\)|\d+[дчм]( \d+[чм])?`)

// screens are the contract's screens, drawn with nothing but the snapshot.
func screens(s gjson.Result) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, strings.TrimRight(format, " ")+"\n", args...) }
	r := s.Get("readiness")
	line("%s: %s роли %s/%s, аккаунты %s/%s, провайдеры %s/%s", r.Get("title_ru"), r.Get("summary_ru"), r.Get("roles_ready_count"), r.Get("total_roles"),
		r.Get("accounts_connected_count"), r.Get("total_accounts"), r.Get("providers_ready_count"), r.Get("total_providers"))
	for _, w := range r.Get("warnings").Array() {
		line("! %s", w)
	}
	for _, p := range s.Get("providers").Array() {
		for _, a := range s.Get("profiles_by_provider." + p.Get("provider_id").String()).Array() {
			line("%s / %s: %s, %s", p.Get("provider_name"), a.Get("display_name"), a.Get("health_label_ru"), a.Get("assigned_roles.0"))
		}
	}
	for _, agent := range s.Get("agents").Array() {
		line("%s: %s, %s, %s, %s", agent.Get("role_name_ru"), agent.Get("assigned_display_name"), agent.Get("routing_position"), agent.Get("status_label_ru"), agent.Get("active_quota_label"))
		for i, n := range s.Get("routing." + agent.Get("role_id").String() + ".nodes").Array() {
			line("  %d %s %s %s %s", i+1, n.Get("display_name"), n.Get("model"), n.Get("status_label_ru"), n.Get("failover_reason"))
		}
	}
	for _, id := range []string{"ag", "codex", "go", "claude"} {
		q := s.Get("quotas." + id)
		line("%s %s %s", id, q.Get("source"), q.Get("unavailable_reason"))
		for _, bucket := range q.Get("buckets").Array() {
			line("  %s %s %s", bucket.Get("display_name"), bucket.Get("label_ru"), bucket.Get("reset_label_ru"))
		}
	}
	text := countdown.ReplaceAllString(b.String(), "…")
	return regexp.MustCompile(` +\n`).ReplaceAllString(text, "\n")
}

// A03, Q13: whoever never saw the code draws the contract's screens from the API alone. What the API tells fits the schema that
// it publishes, and holds no credential.
func TestStrangerDrawsTheScreens(t *testing.T) {
	t.Parallel()
	path, _ := plans(t)
	data := t.TempDir()
	p := start(t, env(t), "serve", "--config", path, "--data-dir", data)
	d := sit(t, p, env(t), path, data)
	events := d.follow("")
	for range 4 {
		p.do(http.MethodPost, p.proxy+"/r/orchestrator"+chatPath, autoBody, "")
	}
	snapshot := d.seen("Codex out of quota", func(s gjson.Result) bool {
		return s.Get("agents.0.assigned_profile_id").String() == "go" && !s.Get("is_stale").Bool()
	})
	const want = `Деградация маршрутов: Часть ролей работает через резервные аккаунты. роли 1/1, аккаунты 4/4, провайдеры 2/4
! Роль 'Главный оркестратор' работает через резервный аккаунт (Primary недоступен).
Claude / claude: Работает, orchestrator (fallback 3)
Google Antigravity / ag: Квота исчерпана, orchestrator (primary)
OpenAI Codex / codex: Квота исчерпана, orchestrator (fallback 1)
OpenCode Go / go: Работает, orchestrator (fallback 2)
Главный оркестратор: go, Fallback 2, Работает, Доступна
  1 ag gemini-3-pro Исчерпан Primary исчерпал квоту (429)
  2 codex gpt-5.5 Исчерпан Fallback 1 исчерпал квоту
  3 go glm-5 Работает
  4 claude claude-sonnet-4-6 Работает
ag runtime_event
  Claude 5h Н/Д
  Gemini 5h Н/Д
  Claude 7d Н/Д
  Gemini 7d Н/Д
  Gemini Model Pool Осталось 0% Сброс через …
codex provider_api
  Codex Session Осталось 0% Сброс через …
  Codex Weekly Н/Д
go baseline Данные лимитов ещё не получены
  OpenCode 5h Н/Д
  OpenCode 7d Н/Д
  OpenCode 30d Н/Д
claude baseline Данные лимитов ещё не получены
  Claude Session Н/Д
  Claude Weekly Н/Д
`
	if diff := cmp.Diff(want, screens(snapshot)); diff != "" {
		t.Errorf("with + what was drawn:\n%s", diff)
	}
	fits(t, d.compiledSchema(""), "snapshot", snapshot.Raw)
	var told strings.Builder
	told.WriteString(snapshot.Raw)
	for name, last := "", ""; last != "go"; {
		var payload gjson.Result
		name, payload = events.next()
		fits(t, d.compiledSchema("#/$defs/"+name), name, payload.Raw)
		if told.WriteString(payload.Raw); name == "AGENT_UPDATED" {
			last = payload.Get("agent.assigned_profile_id").String()
		}
	}
	if strings.Contains(told.String(), "canary") {
		t.Errorf("a credential is told: %s", told.String())
	}
}

// S11, S07: what a reload does to accounts is told: one that is new, one with another credential, one that is gone and stays so.
func TestReloadIsTold(t *testing.T) {
	t.Parallel()
	_, base := upstream(t)
	path := configFor(t, base, "")
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second", "KEY_OTHER", "canary-other")
	data := t.TempDir()
	p := start(t, getenv, "serve", "--config", path, "--data-dir", data)
	d := sit(t, p, getenv, path, data)
	events := d.follow("")
	d.seen("both accounts", func(s gjson.Result) bool { return s.Get("all_profiles.second").Exists() && !s.Get("is_stale").Bool() })
	write := func(change func(string) string) {
		t.Helper()
		file, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(file))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.hangup(reloaded)
	}
	of := func(id string) func(gjson.Result) bool {
		return func(e gjson.Result) bool { return e.Get("profile_id").String() == id }
	}
	const third = "  third: {<<: *account, auth_config: {api_key: \"${KEY_OTHER}\"}}\n"
	write(func(file string) string { return file + third })
	if e := events.until("ACCOUNT_ADDED", of("third")); e.Get("profile.auth_state").String() != "AUTHENTICATED" || e.Get("provider").String() != "openai-compatible" {
		t.Errorf("added: %s", e)
	}
	write(replace("KEY_FIRST", "KEY_OTHER"))
	e := events.until("ACCOUNT_AUTH_CHANGED", of("first"))
	if e.Get("auth_state").String() != "AUTHENTICATED" || strings.Contains(e.Raw, "canary") {
		t.Errorf("another credential: %s", e)
	}
	write(replace(third, ""))
	gone := events.until("ACCOUNT_REMOVED", of("third"))
	d.post(http.StatusOK, "/quotas/refresh", "")
	if s := d.read(fmt.Sprint("/snapshot?min_seq=", gone.Get("seq"))); s.Get("all_profiles.third").Exists() || s.Get("quotas.third").Exists() {
		t.Errorf("it has come back: %s", s)
	}
}
