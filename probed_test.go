package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An account whose week is used up, and whose provider says so when it is asked: it gets no call at all, and explain names
// the usage endpoint as its source. Its five hours at 90 % are no use to anybody (Q18). When the provider says that there is
// something again, it serves (Q20).
func TestUsageKeepsCallsAway(t *testing.T) {
	weekly := make(chan string, 1)
	weekly <- "100"
	usage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/usage") {
			http.NotFound(w, r)
			return
		}
		percent := <-weekly
		weekly <- percent
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.NewReplacer("PERCENT", percent, "HOUR", time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "WEEK", time.Now().Add(100*time.Hour).UTC().Format(time.RFC3339)).Replace(
			`{"usage":{"rolling":{"status":"ok","percent":10,"resetsAt":"HOUR"},"weekly":{"status":"ok","percent":PERCENT,"resetsAt":"WEEK"}}}`))
	}))
	t.Cleanup(usage.Close)
	sim, base := upstream(t)
	path := filepath.Join(t.TempDir(), "router_profiles.yaml")
	config := func(look string) {
		file := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
roles: {orchestrator: {preferred_chain: [first, second]}}
profiles:
  first: {provider: opencode-go, custom_base_url: %[1]s, preferred_models: [sim-1], probe: {base_url: "%[2]s"}, auth_config: {api_key: canary-first}}
  second: {provider: openai-compatible, custom_base_url: %[1]s, preferred_models: [sim-1], probe: {enabled: false}, auth_config: {api_key: canary-second}}
`, base, usage.URL+look)
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config("")
	data := t.TempDir()
	p := start(t, env(t), "serve", "--config", path, "--data-dir", data)
	explain := func() string {
		t.Helper()
		_, out, errs := command(t, env(t), "", "explain", "--config", path, "--data-dir", data, "--admin", p.admn, "--role", "orchestrator", "--json")
		return strings.Join(strings.Fields(out+errs), "")
	}
	until := func(holds func(string) bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !holds(explain()); time.Sleep(20 * time.Millisecond) { // the look is the prober's to begin
			if time.Now().After(deadline) {
				t.Fatalf("it did not come to it:\n%s\n%s", explain(), p.err)
			}
		}
	}
	until(func(told string) bool {
		return strings.Contains(told, `"reason":"quota_exhausted"`) && strings.Contains(told, `"source":"provider_api"`) && strings.Contains(told, "opencode.7d")
	})
	if status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, ""); status != 200 || !strings.HasPrefix(body, "second|") || sim.Total("first") != 0 {
		t.Errorf("%d %.80s, and the empty account got %d calls", status, body, sim.Total("first"))
	}
	_, metrics := p.get(p.admn+"/metrics", "")
	for _, line := range []string{
		`hermes_hub_quota_remaining_ratio{bucket="opencode.7d",profile="first"} 0`,
		`hermes_hub_quota_remaining_ratio{bucket="opencode.5h",profile="first"} 0.9`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in /metrics", line)
		}
	}

	<-weekly
	weekly <- "40"
	config("/again") // another address is another account to look at
	p.hangup("configuration reloaded")
	until(func(told string) bool { return strings.Contains(told, `"chosen":"first"`) })
}
