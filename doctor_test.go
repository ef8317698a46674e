package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// visits is an upstream that notes what it is asked.
type visits struct {
	mu   sync.Mutex
	seen []string
}

func (v *visits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = append(v.seen, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header))
	http.NotFound(w, r)
}

// webToken is a JSON Web Token that says when it expires.
func webToken(expires time.Time) string {
	part := func(json string) string { return base64.RawURLEncoding.EncodeToString([]byte(json)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"sub":"canary","exp":%d}`, expires.Unix())) + ".canary"
}

// On a machine where all is well every line says so, in an order a person can follow, and the exit code is 0. An upstream is
// connected to; the one request there asks the time and carries no credential.
func TestDoctor(t *testing.T) {
	seen := &visits{}
	server := httptest.NewServer(seen)
	defer server.Close()
	path := configFor(t, server.URL+"/v1", "")
	data := filepath.Join(t.TempDir(), "made", "later")
	edit(t, path, replace(`server: {`, `server: {data_dir: `+data+`, `, "preferred_models", "display_name: The desk's\n    preferred_models"))
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", webToken(time.Now().Add(time.Hour)))
	exit, out, errs := command(t, getenv, "", "doctor", "--config", path)
	want := `ok    config      PATH: 1 roles, 2 profiles
ok    credential  first (The desk's): present
ok    credential  second (The desk's): present, good until TIME
ok    port        proxy plane, 127.0.0.1:0: free
ok    port        admin plane, 127.0.0.1:0: free
ok    data dir    DATA: will be made at the first start
ok    redis       not configured: this hub shares its state with no other
ok    clock       TIME, as an upstream has it
ok    upstream    UPSTREAM (first, second): reachable
`
	got := regexp.MustCompile(`20\d\d-\d\d-\d\dT\S+Z`).ReplaceAllString(out, "TIME")
	got = replace(path, "PATH", data, "DATA", server.Listener.Addr().String(), "UPSTREAM")(got)
	if exit != 0 || got != want {
		t.Errorf("exit %d %s\n got\n%s\nwant\n%s", exit, errs, got, want)
	}
	if len(seen.seen) != 1 || !strings.HasPrefix(seen.seen[0], "HEAD / ") || strings.Contains(strings.ToLower(seen.seen[0]), "authorization") {
		t.Errorf("the upstream was asked %q", seen.seen)
	}
	if strings.Contains(out+errs, "canary") {
		t.Errorf("a secret shows:\n%s", out)
	}
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Error("doctor made the data dir")
	}
}

// What is broken is a FAIL and exit code 1; what is only unwise is a warning and 0. No line holds a secret.
func TestDoctorFindings(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	expired := webToken(time.Now().Add(-30 * time.Hour))
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second", "KEY_EXPIRED", expired)
	f := func(exit int, line string, flags []string, pairs ...string) {
		t.Helper()
		path := configFor(t, "http://127.0.0.1:9/v1", "")
		edit(t, path, replace(append(pairs, "server: {", "server: {data_dir: "+filepath.Join(dir, "data")+", ")...))
		got, out, errs := command(t, getenv, "", append([]string{"doctor", "--config", path}, flags...)...)
		if got != exit || !strings.Contains(out, line) {
			t.Errorf("exit %d, want %d with %q; %s\n%s", got, exit, line, errs, out)
		}
		if strings.Contains(out+errs, "canary") {
			t.Errorf("a secret shows:\n%s", out)
		}
	}
	offline := []string{"--offline"}
	f(0, "ok    upstream    not looked at: --offline", offline)
	f(1, "FAIL  upstream    127.0.0.1:9 (first, second): connect: connection refused", nil)
	f(1, "FAIL  upstream    no-such-host.invalid:443 (first, second): its name cannot be resolved", nil, "http://127.0.0.1:9/v1", "https://no-such-host.invalid/v1")
	f(1, "FAIL  upstream    "+closed.Addr().String()+", the proxy to api.example (first, second): connect: connection refused", nil,
		"custom_base_url: http://127.0.0.1:9/v1", "custom_base_url: https://api.example/v1\n    proxy_url: http://user:canary@"+closed.Addr().String())

	f(1, "FAIL  config      ", offline, "[first, second]", "[first, nobody]")
	f(1, "there is no profile nobody", offline, "[first, second]", "[first, nobody]")
	f(1, "KEY_THIRD is not set", offline, "${KEY_FIRST}", "${KEY_THIRD}")
	f(1, "there are no client_keys", offline, `listen: "127.0.0.1:0"`, `listen: "0.0.0.0:0"`)
	f(0, "1 warnings: hermes-hub check lists them", offline, "aliases: [manager]", "max_failover_attempts: 1")

	f(1, "FAIL  credential  first: missing: set auth_config.api_key", offline, "http://127.0.0.1:9/v1", "https://api.example/v1", "${KEY_FIRST}", "")
	f(0, "ok    credential  first: none, as a local account may be", offline, "${KEY_FIRST}", "")
	f(0, "ok    credential  first: in its headers", offline, "{api_key: \"${KEY_FIRST}\"}", "{}\n    headers: {X-Key: canary}")
	f(1, "FAIL  credential  first: expired 30 hours ago, at ", offline, "${KEY_FIRST}", "${KEY_EXPIRED}")
	f(0, "ok    credential  first: present, in its file", offline, "${KEY_FIRST}", "file:"+file("key", "canary", 0o600))
	f(0, "others can read its file "+filepath.Join(dir, "open"), offline, "${KEY_FIRST}", "file:"+file("open", "canary", 0o644))
	f(1, "cannot read", offline, "${KEY_FIRST}", "file:"+filepath.Join(dir, "nothing"))
	oauth := func(path string) string { return "{oauth_file: " + path + "}" }
	const auth = `{api_key: "${KEY_FIRST}"}`
	f(0, "ok    credential  first: in its OAuth file, good until ", offline, auth, oauth(file("oauth", `{"tokens":{"access_token":"`+webToken(time.Now().Add(time.Hour))+`"}}`, 0o600)))
	f(0, "warn  credential  first: its OAuth file's token expired 30 hours ago: the hub refreshes it", offline, auth, `{token_url: "http://127.0.0.1:9/", client_id: c, oauth_file: `+file("old", `{"tokens":{"access_token":"`+expired+`","refresh_token":"canary"}}`, 0o600)+"}")
	f(1, "FAIL  credential  first: "+filepath.Join(dir, "alone")+" holds no refresh token", offline, auth, oauth(file("alone", `{"tokens":{"access_token":"`+expired+`"}}`, 0o600)))
	f(1, "FAIL  credential  first: ", offline, auth, "{refresh: off, oauth_file: "+file("off", `{"tokens":{"access_token":"`+expired+`","refresh_token":"canary"}}`, 0o600)+"}")
	f(0, "warn  credential  first: others can read its OAuth file", offline, auth, oauth(file("wide", `{"access_token":"canary"}`, 0o640)))
	f(1, "is no JSON object", offline, auth, oauth(file("none", `[{"refresh_token":"canary"}]`, 0o600)))
	f(1, "is no JSON, or was cut short", offline, auth, oauth(file("text", `canary`, 0o600)))
	f(1, "is not there: sign in", offline, auth, oauth(filepath.Join(dir, "nothing")))

	f(1, "FAIL  port        proxy plane, "+taken.Addr().String()+": bind: address already in use", offline, `listen: "127.0.0.1:0", admin`, `listen: "`+taken.Addr().String()+`", admin`)
	f(0, "ok    redis       not looked at: --offline", offline, "server: {", "server: {redis_url: \"redis://:canary@127.0.0.1:1\", ")
	f(1, "FAIL  redis       redis is unavailable: no connection: runs are kept in memory until it does", nil, "server: {", "server: {redis_url: \"redis://:canary@127.0.0.1:1\", ")
}

func TestDoctorWithoutAFile(t *testing.T) {
	exit, out, errs := command(t, env(t), "", "doctor")
	if exit != 1 || !strings.Contains(out, "FAIL  config      no configuration file; looked at ") || !strings.Contains(out, "clock") {
		t.Errorf("exit %d: %s%s", exit, out, errs)
	}
}

// While a hub runs, its ports are its own, and its data dir is looked at as it is.
func TestDoctorOfARunningHub(t *testing.T) {
	_, base := upstream(t)
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	path, data := configFor(t, base, ""), filepath.Join(t.TempDir(), "data")
	edit(t, path, replace(`server: {`, `server: {data_dir: `+data+`, `))
	p := start(t, getenv, "serve", "--config", path)
	edit(t, path, replace(`listen: "127.0.0.1:0"`, `listen: "`+strings.TrimPrefix(p.proxy, "http://")+`"`, `admin_listen: "127.0.0.1:0"`, `admin_listen: "`+strings.TrimPrefix(p.admn, "http://")+`"`))
	f := func(exit int, lines ...string) {
		t.Helper()
		got, out, errs := command(t, getenv, "", "doctor", "--config", path, "--offline")
		for _, line := range lines {
			if got != exit || !strings.Contains(out, line) {
				t.Errorf("exit %d, want %d with %q; %s\n%s", got, exit, line, errs, out)
			}
		}
	}
	f(0, "ok    port        proxy plane, "+strings.TrimPrefix(p.proxy, "http://")+": held by a running hub",
		"ok    port        admin plane, "+strings.TrimPrefix(p.admn, "http://")+": held by a running hub",
		"ok    data dir    "+data+": writable, and nobody else's")
	if err := os.Chmod(data, 0o755); err != nil {
		t.Fatal(err)
	}
	f(0, "warn  data dir    "+data+" is open to others (mode 0755): chmod 700 it")
	p.stop()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f(1, "FAIL  data dir    "+data+" is not a folder")
}

func TestExamineClock(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	f := func(now, other time.Time, want string) {
		t.Helper()
		if got := examineClock(now, other); fmt.Sprint(got.grade, " ", got.text) != want {
			t.Errorf("got %s %s, want %s", got.grade, got.text, want)
		}
	}
	f(at, time.Time{}, "ok 2026-03-04T05:06:07Z, compared with nobody's")
	f(at, at.Add(-20*time.Second), "ok 2026-03-04T05:06:07Z, as an upstream has it")
	f(at, at.Add(-2*time.Minute), "warn 2026-03-04T05:06:07Z is 2m0s ahead of an upstream's: set the clock")
	f(at, at.Add(2*time.Hour), "warn 2026-03-04T05:06:07Z is 2h0m0s behind an upstream's: set the clock")
	f(time.Unix(0, 0), at, "FAIL 1970-01-01T00:00:00Z cannot be now: set the clock")
}

// An upstream that takes the connection and then says nothing is given up in time.
func TestDoctorGivesUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = (&target{scheme: "https", address: silent.Addr().String()}).connect(ctx)
	if err == nil || unreachable(err) != "no connection within 3s" {
		t.Errorf("%v", err)
	}
}

func FuzzExpiry(f *testing.F) {
	f.Add(webToken(time.Unix(1_800_000_000, 0)))
	f.Add("a.b.c")
	f.Add("sk-proj-1.2.3")
	f.Fuzz(func(t *testing.T, credential string) {
		if at, ok := expiry(credential); ok && (at.Unix() < 0 || at.Year() > 9999) {
			t.Errorf("%q expires at %v", credential, at)
		}
	})
}
