package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/simulator"
)

// S16, A05, S09: the first snapshot that is not stale has what the providers were asked. An operator's refresh asks them again, and
// what it finds out steers the next call. A provider that answers garbage leaves what was known, with its age, and the reason why
// there is nothing newer; nothing is invented.
func TestProvidersAreAsked(t *testing.T) {
	t.Parallel()
	sim := simulator.New(
		simulator.Account{
			Name: "go", Key: "canary-go", Protocol: simulator.Chat, Models: []string{"glm-5"},
			Quota: simulator.Quota{Calls: 4, Window: 5 * time.Hour, Style: simulator.QuotaOpenCode},
		},
		simulator.Account{Name: "spare", Key: "canary-spare", Protocol: simulator.Chat, Models: []string{"glm-5"}},
	)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	path, data := filepath.Join(t.TempDir(), "router_profiles.yaml"), t.TempDir()
	file := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
roles: {orchestrator: {preferred_chain: [go, spare]}}
profiles:
  go: {provider: opencode-go, custom_base_url: "%[1]s", preferred_models: [glm-5], probe: {base_url: "%[1]s"}, auth_config: {api_key: canary-go}}
  spare: {provider: openai-compatible, custom_base_url: "%[1]s", preferred_models: [glm-5], probe: {enabled: false}, auth_config: {api_key: canary-spare}}
`, base)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, env(t), "serve", "--config", path, "--data-dir", data)
	d := sit(t, p, env(t), path, data)
	pool := func(s gjson.Result) string {
		q := s.Get("quotas.go")
		b := q.Get(`buckets.#(id=="opencode.5h")`)
		return fmt.Sprint(q.Get("source"), " ", b.Get("remaining_percent"), " ", b.Get("status"), " ", q.Get("unavailable_reason").Type == gjson.String)
	}
	if got := pool(d.seen("a fresh snapshot", func(s gjson.Result) bool { return !s.Get("is_stale").Bool() })); got != "provider_api 100 healthy false" {
		t.Errorf("the first fresh snapshot has %s", got)
	}
	ask := func(want string) {
		t.Helper()
		_, body := p.do(http.MethodPost, p.proxy+"/r/orchestrator"+chatPath, autoBody, "")
		if served, _, _ := strings.Cut(body, "|"); served != want {
			t.Errorf("%s serves, want %s", served, want)
		}
	}
	for range 4 {
		ask("go") // which says nothing of what is left
	}
	if got := pool(d.read("/snapshot")); got != "provider_api 100 healthy false" {
		t.Errorf("before it is asked again: %s", got)
	}
	d.post(http.StatusOK, "/profiles/go/refresh", "")
	spent := d.read("/snapshot")
	if got := pool(spent); got != "provider_api 0 exhausted false" || spent.Get("routing.orchestrator.active_profile_id").String() != "spare" {
		t.Errorf("asked again: %s, %s", got, spent.Get("routing"))
	}
	ask("spare")
	if n := sim.Total("go"); n != 4 {
		t.Errorf("an account that has said that it is empty got %d calls", n)
	}
	if got := d.post(http.StatusOK, "/profiles/go/test", ""); !got.Get("ok").Bool() || got.Get("outcome").String() != "measured" || got.Get("models.0").String() != "glm-5" {
		t.Errorf("test: %s", got)
	}

	events := d.follow("")
	measured := d.read("/snapshot").Get("quotas.go.fetched_at").String()
	sim.PushAside("go", simulator.Status(http.StatusOK, "<html>surprise</html>", nil))
	d.post(http.StatusBadGateway, "/profiles/go/refresh", "")
	failed := events.until("REFRESH_FAILED", func(gjson.Result) bool { return true })
	after := d.read("/snapshot")
	if got := pool(after); got != "provider_api 0 exhausted true" || after.Get("quotas.go.fetched_at").String() != measured {
		t.Errorf("after garbage: %s, measured at %s, before %s", got, after.Get("quotas.go.fetched_at"), measured)
	}
	if failed.Get("key").String() != "account:go" || failed.Get("error").String() == "" || strings.Contains(failed.Raw, "surprise") || strings.Contains(failed.Raw, base) {
		t.Errorf("told as %s", failed)
	}
	sim.RestoreQuota("go")
	d.post(http.StatusOK, "/quotas/refresh", "")
	ask("go")
}
