package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeys: the list holds what every block's reader asks for, knows what nothing acts on, and the table of those has no
// row for a key that there is not.
func TestKeys(t *testing.T) {
	why := map[string]string{}
	for _, k := range Keys() {
		why[k.Path] = k.NotYet
	}
	for _, path := range []string{
		"server.listen", "client_keys[].roles", "admin.jwt_secret", "router.enabled", "roles.*.preferred_chain[].model",
		"profiles.*.auth_config.api_key", "profiles.*.probe.enabled", "pricing.*.input_cost_per_m", "runs.runtimes.*.kind", "journal.content",
	} {
		if _, ok := why[path]; !ok {
			t.Errorf("%s is missing", path)
		}
	}
	for _, block := range []string{"server", "profiles", "profiles.*.auth_config", "roles.*.preferred_chain", "runs.runtimes"} {
		if _, ok := why[block]; ok {
			t.Errorf("%s is a block and no key", block)
		}
	}
	for row, want := range notYet {
		if !slices.ContainsFunc(Keys(), func(k Key) bool { return (k.Path == row || isUnder(k.Path, row)) && k.NotYet == want }) {
			t.Errorf("the table of what is not yet effective has a row %s, and there is no such key", row)
		}
	}
}

// TestKeepRunning: what only a restart can change stays as it is, named by its key; everything else is the new file's.
func TestKeepRunning(t *testing.T) {
	f := func(file string, want ...string) {
		t.Helper()
		running, fresh := parse(t, everyKey, everyKeyEnv), parse(t, file, everyKeyEnv)
		if diff := cmp.Diff(want, fresh.KeepRunning(running)); diff != "" {
			t.Errorf("waiting for a restart (-want +got)\n%s", diff)
		}
		if again := fresh.KeepRunning(running); len(again) > 0 {
			t.Errorf("%v are not kept", again)
		}
		if fresh.Proxy.Listen != running.Proxy.Listen || fresh.Admin.Listen != running.Admin.Listen {
			t.Errorf("the planes' own addresses are %s and %s", fresh.Proxy.Listen, fresh.Admin.Listen)
		}
	}
	f(everyKey)
	f(strings.NewReplacer("max_body_bytes: 1048576", "max_body_bytes: 1", "enabled: no", "enabled: yes", "hub.example.org", "other.example.org").Replace(everyKey))
	f(strings.NewReplacer(
		"127.0.0.1:8400", "127.0.0.1:9400", "[::1]:8401", "[::1]:9401", "data_dir: data", "data_dir: elsewhere", "cache:6379", "cache:6380",
		"6f1b0c9a7d2e4835b1f66f1b0c9a7d2e", "7f1b0c9a7d2e4835b1f66f1b0c9a7d2e", "https://idp.example.org/keys/", "https://idp.example.org/other",
		"issuer: https://idp.example.org", "issuer: another", "audience: hub", "audience: other", "metrics_token: token", "metrics_token: other",
	).Replace(everyKey),
		"server.listen", "server.admin_listen", "server.data_dir", "server.redis_url", "admin.jwt_secret", "admin.jwks_url",
		"admin.issuer", "admin.audience", "admin.metrics_token")
}

// TestKeyFile: where a credential's file is can be told without the credential.
func TestKeyFile(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	if err := os.WriteFile(key, []byte("sk-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(auth, want string) {
		t.Helper()
		c, err := Parse(filepath.Join(dir, "f.yaml"), []byte(
			"roles: {main: {preferred_chain: [a]}}\nprofiles: {a: {provider: openai, auth_config: {"+auth+"}}}\n"), func(name string) string {
			return map[string]string{"DIR": dir, "KEY": "sk-2"}[name]
		})
		if err != nil {
			t.Errorf("%s: %v", auth, err)
		} else if got := c.Accounts[0].KeyFile; got != want {
			t.Errorf("%s: %q, want %q", auth, got, want)
		}
	}
	f("api_key: file:key", key)
	f(`api_key: "file:${DIR}/key"`, key)
	f(`api_key: "", access_token: file:key`, key)
	f(`api_key: "${KEY}", access_token: file:key`, "")
	f("api_key: sk-3", "")
	f("", "")
}
