package main

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// The signals themselves, on the built program: SIGHUP reloads and ends nothing, the first SIGTERM drains, so that a call
// under way ends well, and the program exits 0; a second one does not wait for it.
func TestSignals(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "hermes-hub")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	sim := simulator.New(
		simulator.Account{Name: "first", Key: "canary-first", Models: []string{"sim-1"}, Latency: time.Second},
		simulator.Account{Name: "second", Key: "canary-second", Models: []string{"sim-1"}},
	)
	base, closeAll, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	path := configFor(t, base, "")

	launch := func() (*program, *exec.Cmd) {
		p := &program{t: t, out: &output{}, err: &output{}}
		cmd := exec.CommandContext(t.Context(), binary, "serve", "--config", path, "--data-dir", t.TempDir(), "--log-format", "json")
		cmd.Env = []string{"HOME=" + t.TempDir(), "KEY_FIRST=canary-first", "KEY_SECOND=canary-second"}
		cmd.Stderr = p.err
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		p.waitLog(`"serving"`, 1)
		p.readAddresses()
		return p, cmd
	}
	send := func(cmd *exec.Cmd, s syscall.Signal) {
		t.Helper()
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	under := func(p *program, step ...simulator.Step) <-chan string {
		calls := sim.Total("first")
		sim.Push("first", step...)
		answer := make(chan string, 1)
		go func() {
			res, err := http.Post(p.proxy+"/v1/chat/completions", "application/json", strings.NewReader(chatBody))
			if err != nil {
				answer <- "cut"
				return
			}
			defer res.Body.Close()
			answer <- res.Status + " " + res.Header.Get("X-Hub-Profile")
		}()
		if err := sim.WaitCalls(t.Context(), "first", calls+1); err != nil {
			t.Fatal(err)
		}
		return answer
	}

	p, cmd := launch()
	send(cmd, syscall.SIGHUP) // at once: nothing of the start-up may be in its way
	p.waitLog(reloaded, 1)
	answer := under(p)
	send(cmd, syscall.SIGHUP)
	p.waitLog(reloaded, 2)
	send(cmd, syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("after one SIGTERM: %v\n%s", err, p.err)
	}
	if got := <-answer; got != "200 OK first" {
		t.Errorf("the call under way: %s", got)
	}

	p, cmd = launch()
	answer = under(p, simulator.Hang)
	send(cmd, syscall.SIGTERM)
	p.waitLog(`"draining"`, 1)
	send(cmd, syscall.SIGTERM)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Errorf("after two SIGTERM: %v\n%s", err, p.err)
	}
	if got := <-answer; got != "cut" {
		t.Errorf("the call under way: %s", got)
	}
}
