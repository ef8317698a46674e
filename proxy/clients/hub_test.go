package clients

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// built is the hub's binary, which TestMain builds once.
var built string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hermes-hub-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	built = filepath.Join(dir, "hermes-hub")
	build := exec.Command("go", "build", "-o", built, ".")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, text)
		return 1
	}
	return m.Run()
}

// hubKey is the one key that may call the hub.
const hubKey = "hub-key-of-the-test"

// hub is a running hub with the simulated accounts a and b behind it, which the role orchestrator tries in that order.
type hub struct {
	sim  *simulator.Provider
	base string // URL that a client appends /chat/completions to
	url  string // URL of the proxy plane
	meta string // URL of the admin plane
	log  *hubLog
}

// startHub starts the hub and waits until it listens. When the test ends it is asked to stop, and must.
func startHub(t *testing.T) *hub {
	t.Helper()
	h := &hub{sim: accounts(), log: &hubLog{}}
	upstream, closeAll, err := h.sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	dir := t.TempDir()
	file := filepath.Join(dir, "router_profiles.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, upstream, upstream), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), built, "serve", "--config", file, "--listen", "127.0.0.1:0",
		"--admin-listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"), "--log-format", "json")
	cmd.Env = []string{"HOME=" + dir, "HUB_TEST_KEY=" + hubKey}
	// The test's context ends before its cleanups run: this is how the hub is asked to stop.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var reading sync.WaitGroup
	listening := make(chan addresses, 1)
	reading.Go(func() { h.log.read(stderr, listening) })
	t.Cleanup(func() {
		reading.Wait() // all of the log must be read before Wait closes it
		// Wait tells of the ended context even when the hub ended well.
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("the hub did not end well: %v\n%s", errors.Join(err, t.Context().Err()), h.log)
		}
		if t.Failed() {
			t.Logf("the hub's log:\n%s", h.log)
		}
	})
	at, ok := <-listening
	if !ok {
		t.Fatalf("the hub did not start:\n%s", h.log)
	}
	h.url, h.meta = "http://"+at.Proxy, "http://"+at.Admin
	h.base = h.url + "/v1"
	return h
}

// accounts are two accounts of one provider. They say who they are, and call a tool when one is offered. Their streams
// are slow enough for an answer to have begun, at the client, when it is cut.
func accounts() *simulator.Provider {
	account := func(name string) simulator.Account {
		return simulator.Account{
			Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1"}, ChunkPace: 25 * time.Millisecond,
			Usage: &simulator.Usage{Prompt: 20, Completion: 4},
			Quota: simulator.Quota{Window: 5 * time.Hour, Style: simulator.QuotaCodex},
			Answer: func(r simulator.Request) simulator.Answer {
				switch {
				case r.LastRole == "tool":
					return simulator.Say("It is sunny, says " + name)(r)
				case len(r.Tools) > 0:
					return simulator.CallTool("get_weather", `{"city":"Paris"}`)(r)
				}
				return simulator.Say("Hello, I am " + name)(r)
			},
		}
	}
	return simulator.New(account("a"), account("b"))
}

// configuration is the hub's file; it lacks the simulator's URL, twice.
const configuration = `
server: {drain_grace_seconds: 2}
client_keys: [{name: test, key: "${HUB_TEST_KEY}"}]
router: {first_token_timeout_seconds: 1, idle_timeout_seconds: 1, request_timeout_seconds: 5}
roles:
  orchestrator: {preferred_chain: [a, b]}
profiles:
  a:
    provider: openai-compatible
    custom_base_url: %s
    preferred_models: [sim-1]
    auth_config: {api_key: sk-upstream-a}
  b:
    provider: openai-compatible
    custom_base_url: %s
    preferred_models: [sim-1]
    auth_config: {api_key: sk-upstream-b}
`

// addresses is the log line by which the hub says that both planes listen.
type addresses struct {
	Proxy string `json:"proxy_addr"`
	Admin string `json:"admin_addr"`
}

// hubLog keeps what the hub logs.
type hubLog struct {
	mu   sync.Mutex
	text strings.Builder
}

// read keeps every line until the log ends, and tells the addresses when they come.
func (l *hubLog) read(from io.Reader, listening chan<- addresses) {
	defer close(listening)
	told := false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.mu.Lock()
		l.text.WriteString(lines.Text() + "\n")
		l.mu.Unlock()
		var at addresses
		if !told && json.Unmarshal(lines.Bytes(), &at) == nil && at.Proxy != "" && at.Admin != "" {
			listening <- at
			told = true
		}
	}
}

func (l *hubLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var requestCount = regexp.MustCompile(`(?m)^hermes_hub_requests_total\{[^}]*endpoint="/v1/chat/completions"[^}]*\} (\d+)`)

// requests is how many chat requests the hub has answered, by its own metrics.
func (h *hub) requests(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.meta+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("metrics: status %d, %v", res.StatusCode, err)
	}
	sum := 0
	for _, m := range requestCount.FindAllSubmatch(text, -1) {
		var n int
		if _, err := fmt.Sscan(string(m[1]), &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// calls tells how many calls each account got.
func (h *hub) calls() string {
	return fmt.Sprintf("a=%d b=%d", h.sim.Total("a"), h.sim.Total("b"))
}
