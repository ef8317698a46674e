package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The exit codes of the contract, and the line that goes with each: 0 fine, 1 a finding or failure, 2 wrong usage.
func TestExitCodes(t *testing.T) {
	good := configFor(t, "http://127.0.0.1:9/v1", "")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("roles:\n  main: {preferred_chain: [nobody]}\nprofiles:\n  a: {provider: opena1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	open := configFor(t, "http://127.0.0.1:9/v1", "")
	text, _ := os.ReadFile(open)
	if err := os.WriteFile(open, []byte(strings.Replace(string(text), `listen: "127.0.0.1:0"`, `listen: "0.0.0.0:0"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	f := func(exit int, want string, args ...string) {
		t.Helper()
		got, out, errs := command(t, getenv, "", args...)
		if got != exit || !strings.Contains(out+errs, want) {
			t.Errorf("%v: exit %d, want %d with %q\n%s%s", args, got, exit, want, out, errs)
		}
	}
	f(0, "hermes-hub dev", "version")
	f(0, "fine: 1 roles, 2 profiles", "check", "--config", good)
	f(0, "cooldown_base_seconds: 300", "check", "--config", good, "--show-effective")
	f(1, `bad.yaml:2:28: error: `, "check", "--config", bad)
	f(1, `did you mean`, "check", "--config", bad)
	f(1, "no configuration file", "check")
	f(1, "serve --init", "serve")
	f(1, "there are no client_keys", "serve", "--config", open)
	f(1, "there are no client_keys", "check", "--config", open)
	f(1, "is it running?", "explain", "--config", good, "--role", "main", "--admin", "http://127.0.0.1:1")
	f(1, "not ready", "healthcheck", "--config", good, "--admin", "http://127.0.0.1:1")
	f(2, "unknown command", "serv")
	f(2, "unknown flag", "check", "--confg", good)
	f(2, "name a role", "explain", "--config", good)
	f(2, "no_such", "serve", "no_such", "--config", good)
	f(2, "--listen", "serve", "--config", good, "--listen", "nowhere")
	f(2, "verbose", "serve", "--config", good, "--log-level", "verbose")
	f(2, "name a command")
	f(1, "use 1s to 24h", "token", "--config", good, "--data-dir", t.TempDir(), "--ttl", "48h")
	f(1, "admin", "token", "--config", good, "--data-dir", t.TempDir(), "--scope", "root")
}

// serve --init writes a file that check finds fine, and never writes over one.
func TestInit(t *testing.T) {
	getenv := env(t)
	path := filepath.Join(t.TempDir(), "deep", "router_profiles.yaml")
	if exit, out, errs := command(t, getenv, "", "serve", "--init", path); exit != 0 || !strings.Contains(out, path) {
		t.Fatalf("exit %d: %s%s", exit, out, errs)
	}
	if exit, out, errs := command(t, getenv, "", "check", "--config", path); exit != 0 {
		t.Errorf("the file that was written has errors: %d\n%s%s", exit, out, errs)
	}
	before, _ := os.ReadFile(path)
	if exit, _, errs := command(t, getenv, "", "serve", "--init", path); exit != 1 || !strings.Contains(errs, "exists and was not changed") {
		t.Errorf("exit %d: %s", exit, errs)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
	if exit, out, _ := command(t, getenv, "", "serve", "--init"); exit != 0 || !strings.Contains(out, filepath.Join(".config", "hermes-hub", "router_profiles.yaml")) {
		t.Errorf("without a name: exit %d: %s", exit, out)
	}
}

// An address that is taken is a failed start that names the plane, not a hub that serves half.
func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := configFor(t, "http://127.0.0.1:9/v1", "")
	getenv := env(t, "KEY_FIRST", "x", "KEY_SECOND", "y")
	exit, _, errs := command(t, getenv, "", "serve", "--config", path, "--data-dir", t.TempDir(), "--admin-listen", l.Addr().String())
	if exit != 1 || !strings.Contains(errs, "listen for the admin plane") {
		t.Errorf("exit %d: %s", exit, errs)
	}
}

// What the hub remembers and what it keeps secret is for its owner alone.
func TestDataDirIsPrivate(t *testing.T) {
	_, base := upstream(t)
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", configFor(t, base, ""), "--data-dir", data)
	p.do("POST", p.proxy+"/v1/chat/completions", chatBody, "")
	p.stop()
	for _, name := range []string{"", "admin.secret"} {
		info, err := os.Stat(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
	}
}
