package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// Two sign-ins of one account looked like two accounts, and the second was asked for what the first had just been refused.
// Their tokens say that they are one: the hub tells, and lets them share what is left.
func TestTwinSignIns(t *testing.T) {
	const limit = `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_in_seconds":7200}}`
	sim, base := upstream(t)
	dir := t.TempDir()
	signIn := func(name, token string) string {
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"https://api.openai.com/auth":{"chatgpt_account_id":"acc-1","chatgpt_plan_type":"plus"}}`))
		path := filepath.Join(dir, name)
		put(t, path, fmt.Sprintf(`{"tokens":{"id_token":"eyJhbGciOiJub25lIn0.%s.x","access_token":%q,"refresh_token":"r"}}`, claims, token))
		return path
	}
	path := filepath.Join(dir, "router_profiles.yaml")
	file := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
roles: {orchestrator: {preferred_chain: [one, other, third]}}
profiles:
  one: {provider: openai-codex, protocol: chat, custom_base_url: "%[1]s", preferred_models: [sim-1], probe: {enabled: false}, auth_config: {refresh: off, oauth_file: "%[2]s"}}
  other: {provider: openai-codex, protocol: chat, custom_base_url: "%[1]s", preferred_models: [sim-1], probe: {enabled: false}, auth_config: {refresh: off, oauth_file: "%[3]s"}}
  third: {provider: openai-compatible, custom_base_url: "%[1]s", preferred_models: [sim-1], probe: {enabled: false}, auth_config: {api_key: canary-second}}
`, base, signIn("one.json", "canary-first"), signIn("other.json", "canary-first"))
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, env(t), "serve", "--config", path, "--data-dir", t.TempDir())
	sim.Push("first", simulator.Status(http.StatusTooManyRequests, limit, nil))
	if status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, ""); status != 200 || !strings.HasPrefix(body, "third|") {
		t.Errorf("%d %.80s", status, body)
	}
	if n := sim.Total("first"); n != 1 {
		t.Errorf("the account behind both was called %d times, want once", n)
	}
	if told := `"msg":"profiles are one account, and share its quota","profiles":["one","other"]`; !strings.Contains(p.err.String(), told) {
		t.Errorf("the log does not tell %s:\n%s", told, p.err)
	}
}
