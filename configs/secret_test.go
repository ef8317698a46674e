package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExpandEnv(t *testing.T) {
	env := map[string]string{"KEY": "k-1", "FILE_LIKE": "file:/etc/passwd", "DOLLAR": "${KEY}"}
	f := func(text, want, wantErr string) {
		t.Helper()
		got, err := expandEnv(text, func(name string) string { return env[name] })
		if got != want || (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("%s: %q, %v; want %q, %s", text, got, err, want, wantErr)
		}
	}
	f("plain", "plain", "")
	f("${KEY}", "k-1", "")
	f("redis://:${KEY}@${HOST:-cache}:6379", "redis://:k-1@cache:6379", "")
	f("${NONE:-}", "", "")
	f("${NONE:-a:-b}", "a:-b", "")
	f("$KEY and $ and }", "$KEY and $ and }", "")
	f("$${KEY}", "${KEY}", "")
	f("${DOLLAR}", "${KEY}", "") // a value is not expanded again
	f("${FILE_LIKE}", "file:/etc/passwd", "")
	f("${NONE}", "", "NONE is not set")
	f("${KEY", "", "begins a reference")
	f("${}", "", "begins a reference")
	f("${1KEY}", "", "begins a reference")
	f("${K EY:-x}", "", "begins a reference")
}

// TestSecretFiles: file:PATH begins at the folder of the configuration file, ends without its line break, and is
// reported with path and reason when it cannot be had.
func TestSecretFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("key", "from-file\r\n", 0o600)
	write("group", "for-the-group\n", 0o640)
	write("wide", "for-everybody\n", 0o644)
	write("empty", "\n", 0o600)
	write("two", "a\nb\n", 0o600)
	write("big", strings.Repeat("x", maxSecretBytes+1), 0o600)

	f := func(reference, want, finding string) {
		t.Helper()
		file := fmt.Sprintf("admin: {metrics_token: %q}\nroles: {orchestrator: {}}\nprofiles: {a: {provider: ollama}}\n", reference)
		c, err := Parse(filepath.Join(dir, "router_profiles.yaml"), []byte(file), func(name string) string {
			return map[string]string{"DIR": dir, "HOME": dir}[name]
		})
		found := fmt.Sprint(err)
		if err == nil {
			found = c.Warnings.Error()
			if got := c.Admin.MetricsToken.Reveal(); got != want {
				t.Errorf("%s: %q, want %q", reference, got, want)
			}
		}
		if (err == nil) != (want != "") || !strings.Contains(found, finding) {
			t.Errorf("%s: found %s, want %q in it", reference, found, finding)
		}
		if mentioned := strings.Contains(found, "metrics_token"); mentioned != (finding != "") {
			t.Errorf("%s: found %s", reference, found)
		}
	}
	f("file:key", "from-file", "")
	f("file:"+dir+"/key", "from-file", "")
	f("file:${DIR}/key", "from-file", "")
	f("file:~/key", "from-file", "")
	f("file:group", "for-the-group", "")
	f("file:wide", "for-everybody", "others may use "+dir+"/wide (mode 0644); chmod 600 it")
	f("file:none", "", "1:24: error: admin.metrics_token: cannot read "+dir+"/none: no such file or directory")
	f("file:empty", "", "want 1 to 65536 bytes")
	f("file:big", "", "want 1 to 65536 bytes")
	f("file:two", "", "line break")
	f("file:.", "", "it is not a regular file")
	f("file:/dev/zero", "", "it is not a regular file")
	f("file:${NONE}/key", "", "NONE is not set")
}

// TestDisabledProfileMayLackSecrets: an account that is switched off does not keep the hub from starting.
func TestDisabledProfileMayLackSecrets(t *testing.T) {
	file := `
roles: {orchestrator: {preferred_chain: [a]}}
profiles:
  a: {provider: ollama}
  b: {provider: openai, enabled: %s, headers: {X-Team: "${TEAM}"}, auth_config: {api_key: "${KEY}", access_token: "file:none"}}
`
	c := parse(t, fmt.Sprintf(file, "false"), nil)
	for _, want := range []string{"api_key: the environment variable KEY is not set", "X-Team: the environment variable TEAM", "cannot read none"} {
		if !strings.Contains(c.Warnings.Error(), want) {
			t.Errorf("no warning %q in\n%v", want, c.Warnings)
		}
	}
	if _, err := Parse("f", fmt.Appendf(nil, file, "true"), noEnv); err == nil {
		t.Error("an enabled account without its secret was accepted")
	}
}

// canaryFile has a secret in every place where one may stand; the places that take no reference have it as text.
const canaryFile = `
server: {redis_url: "redis://:canary-redis@cache:6379"}
client_keys: [{name: laptop, key: canary-client}]
admin: {jwt_secret: "${JWT}", metrics_token: canary-metrics}
roles: {orchestrator: {preferred_chain: [a, b]}}
profiles:
  a:
    provider: openai
    auth_config: {api_key: canary-api-key, access_token: canary-access}
    headers: {X-Api-Key: canary-header}
    proxy_url: "http://user:canary-proxy@proxy:3128"
  b:
    provider: openai
    custom_base_url: http://example.org/v1
    auth_config: {access_token: "${TOKEN}"}
runs:
  runtimes: {hermes: {kind: hermes, base_url: "http://127.0.0.1:8642", api_key: canary-runtime}}
`

// TestSecretsNeverPrint (F06): whatever is done with a Config, no secret of the file is seen.
func TestSecretsNeverPrint(t *testing.T) {
	c := parse(t, canaryFile, map[string]string{"JWT": "canary-jwt-6f1b0c9a7d2e4835b1f6c0de", "TOKEN": "canary-token"})
	if c.Profiles[0].Credential.Reveal() != "canary-api-key" || c.Profiles[0].Headers.Get("X-Api-Key") != "canary-header" {
		t.Fatal("the canaries did not arrive")
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb+"\n", c)
		fmt.Fprintf(&out, verb+"\n", *c)
		fmt.Fprintf(&out, verb+"\n", []any{c.Server, c.Proxy, c.Admin, c.Router, c.Roles, c.Runs, c.Accounts})
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		log := slog.New(h)
		log.Info("loaded", "config", c, "copy", *c, "proxy", c.Proxy, "admin", c.Admin, "server", c.Server, "runs", c.Runs)
	}
	for _, v := range []any{c, *c, c.Server, c.Proxy, c.Admin, c.Runs} {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(data)
	}
	out.Write(c.Effective())
	fmt.Fprintln(&out, c.Findings())
	if at := bytes.Index(out.Bytes(), []byte("canary")); at >= 0 {
		t.Errorf("a secret is seen: …%s…", out.Bytes()[max(0, at-80):min(out.Len(), at+40)])
	}
	if n := bytes.Count(c.Effective(), []byte("[redacted]")); n != 9 {
		t.Errorf("%d values are redacted, want 9:\n%s", n, c.Effective())
	}
}

// TestErrorsHoldNoSecret (F06): however a line with a secret is spoilt, the message about it does not quote it.
func TestErrorsHoldNoSecret(t *testing.T) {
	spoil := []string{"[%s]", "{%s: 1}", "{%s}", "{a: %s}", "*%s", "!%s", "&%s", "\"%s", "'%s", "[%s", "{%s", "%s: x", "@%s", "`%s", "%%%s", "|%s", "\t%s", "- %s", "? %s", "\"\\q%s\"", "${%s}", "${%s", "\"\\u0001%s\""}
	lines := strings.SplitAfter(strings.ReplaceAll(canaryFile, "${JWT}", "canary-jwt"), "\n")
	tried := 0
	for i, line := range lines {
		for _, word := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" {}[],\"\n", c) }) {
			if !strings.Contains(word, "canary") {
				continue
			}
			for _, s := range spoil {
				broken := strings.Join(lines[:i], "") + strings.Replace(line, word, fmt.Sprintf(s, word), 1) + strings.Join(lines[i+1:], "")
				tried++
				c, err := Parse("f", []byte(broken), noEnv)
				seen := fmt.Sprint(err)
				if err == nil {
					seen = c.Findings().Error()
				}
				if strings.Contains(seen, "canary") {
					t.Errorf("%q in place of the secret:\n%s", fmt.Sprintf(s, word), seen)
				}
			}
		}
	}
	if tried < 100 {
		t.Fatalf("only %d files were tried", tried)
	}
}
