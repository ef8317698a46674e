package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// redisServer is a Redis of the test's own, on loopback, as the store wants it: host:port.
func redisServer(t *testing.T) string {
	t.Helper()
	name, err := exec.LookPath("redis-server")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("redis-server is missing: make deps installs it")
	} else if err != nil {
		t.Skip("redis-server is missing: make deps installs it")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := strings.Cut(addr, ":")
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "yes", "--maxmemory-policy", "noeviction")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() }) // it says that it was killed
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(10 * time.Millisecond) // another process starts in its own time
	}
	t.Fatal("redis-server does not listen")
	return ""
}

// Two hubs on one Redis: what one executes, clients of the other observe, look at and stop, with the same ids (E10, J08, C01).
func TestTwoHubsShareRuns(t *testing.T) {
	sim, base := upstream(t)
	shared := redisServer(t)
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	hub := func() *program {
		path := configFor(t, base, "")
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, strings.Replace(string(file), `admin_listen: "127.0.0.1:0"`, `admin_listen: "127.0.0.1:0", redis_url: "redis://`+shared+`"`, 1))
		return start(t, getenv, "serve", "--config", path, "--data-dir", t.TempDir())
	}
	one, two := hub(), hub()

	id, _ := one.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Hello","model":"sim-1"}`)["run_id"].(string)
	here, there := one.observe(id, "").until(never), two.observe(id, "").until(never)
	if here.text == "" || here.text != there.text || !slices.Equal(here.lines, there.lines) || !there.done {
		t.Errorf("here %v %q, there %v %q", here.lines, here.text, there.lines, there.text)
	}

	sim.Push("first", simulator.Stall)
	id, _ = one.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Hello","model":"sim-1"}`)["run_id"].(string)
	there = two.observe(id, "").until(func(o *observer) bool { return o.text != "" })
	two.told(http.StatusOK, http.MethodPost, "/v1/runs/"+id+"/stop", "{}")
	there.until(never)
	run := one.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
	if run["status"] != "cancelled" || run["output"] == "" || !there.done || !slices.Contains(there.lines, "cancelled") {
		t.Errorf("stopped from the other hub: %v, its log %v", run, there.lines)
	}
	if err := sim.WaitCancelled(t.Context(), "first", 1); err != nil {
		t.Error(err)
	}
	two.told(http.StatusConflict, http.MethodPost, "/v1/runs/"+id+"/steer", `{"input":"left"}`)
}
