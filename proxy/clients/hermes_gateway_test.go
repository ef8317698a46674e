package clients

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// gatewayConfiguration is the file of a Hermes Agent whose gateway is the runtime behind the hub: its model is behind the
// same hub, and a person has to approve of what may do harm.
const gatewayConfiguration = `
model: {provider: custom, base_url: %[1]s/r/orchestrator/v1, default: orchestrator, api_key: %[2]s}
terminal: {backend: local, cwd: %[3]q}
approvals: {mode: manual, timeout: 60}
agent: {environment_probe: false}
model_catalog: {enabled: false}
security: {allow_lazy_installs: false, tirith_enabled: false}
`

// gatewayKey is the one key that may call the gateway: the hub's.
const gatewayKey = "00112233445566778899aabbccddeeff"

// gateway is Hermes Agent's own API server, with a home of its own, in a folder with a note.
type gateway struct {
	home, work string
	address    string

	mu   sync.Mutex
	said bytes.Buffer
	end  func() // ends the process and what it has started
}

// newGateway returns a gateway, not started, whose model is behind the hub at that address.
func newGateway(t *testing.T, hub string) *gateway {
	t.Helper()
	g := &gateway{home: t.TempDir(), work: t.TempDir(), address: freeAddress(t)}
	for path, content := range map[string]string{
		filepath.Join(g.home, "config.yaml"): fmt.Sprintf(gatewayConfiguration, "http://"+hub, hubKey, g.work),
		filepath.Join(g.work, "note.txt"):    "marigold-7341\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// freeAddress is an address of the loopback interface where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Write keeps what the gateway says.
func (g *gateway) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.said.Write(p)
}

func (g *gateway) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.said.String()
}

// start starts the gateway and waits until it answers. It has ended when the test has.
func (g *gateway) start(t *testing.T) {
	t.Helper()
	command, err := filepath.Abs(filepath.Join(environment("hermes"), "hermes"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, "gateway", "run")
	cmd.Dir = g.work
	_, port, _ := strings.Cut(g.address, ":")
	// Whatever still wants to leave this machine meets a proxy that is not there.
	const nowhere = "http://127.0.0.1:1"
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.home, "HERMES_HOME=" + g.home,
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1",
		"API_SERVER_ENABLED=true", "API_SERVER_KEY=" + gatewayKey, "API_SERVER_PORT=" + port,
	}
	// Its tools run in shells: they end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	cmd.Stdout, cmd.Stderr = g, g
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	g.end = sync.OnceFunc(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	})
	t.Cleanup(func() {
		g.end()
		if t.Failed() {
			t.Logf("the gateway said:\n%s", g)
		}
	})
	g.wait(t, ended)
}

// wait waits until the gateway answers.
func (g *gateway) wait(t *testing.T, ended chan error) {
	t.Helper()
	tick, limit := time.NewTicker(100*time.Millisecond), time.After(runsLimit)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the gateway did not start: %v", err)
		case <-limit:
			t.Fatal("the gateway does not answer")
		case <-tick.C:
		}
		resp, err := http.Get("http://" + g.address + "/health")
		if err == nil {
			resp.Body.Close()
			return
		}
	}
}
