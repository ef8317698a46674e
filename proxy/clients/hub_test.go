package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// hub is a running hub with the simulated accounts a and b behind it.
type hub struct {
	sim *simulator.Provider
	*hubProcess
}

// hubProcess is the built hub, running.
type hubProcess struct {
	url  string // of the proxy plane; a client's base URL begins with it
	log  *hubLog
	stop func() // asks it to stop, and waits until it has
	kill func() // ends it as a power cut would end it, and waits until it has
}

// startHub starts the hub with the accounts that the libraries are tried with.
func startHub(t *testing.T) *hub {
	t.Helper()
	return startHubOver(t, accounts(), patient)
}

// How long the hub holds a request for an account that will be back: longer than it gives a request, or not at all.
const patient, impatient = 45, 0

// startHubOver starts the hub over accounts that speak chat completions.
func startHubOver(t *testing.T, sim *simulator.Provider, patience int) *hub {
	t.Helper()
	return startHubOf(t, sim, patience, chatAccount, chatAccount)
}

// kind is what an account speaks, as its profile says it.
type kind string

// The kinds: every protocol there is, and the backend that speaks less of one.
const (
	chatAccount      kind = "provider: openai-compatible"
	messagesAccount  kind = "provider: claude"
	responsesAccount kind = "provider: openai, protocol: responses"
	codexAccount     kind = "provider: openai-codex"
	geminiAccount    kind = "provider: gemini"
	cloudCodeAccount kind = "provider: antigravity"
)

// startHubOf starts the hub over accounts of two kinds.
func startHubOf(t *testing.T, sim *simulator.Provider, patience int, a, b kind) *hub {
	t.Helper()
	upstream, closeAll, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	dir := t.TempDir()
	file := filepath.Join(dir, "router_profiles.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, upstream, patience, a, b), 0o600); err != nil {
		t.Fatal(err)
	}
	return &hub{sim, launchHub(t, file, filepath.Join(dir, "data"), "127.0.0.1:0")}
}

// launchHub starts a hub with that file, data dir and address of the proxy plane, and waits until it listens. At the latest
// when the test ends it is asked to stop, and must.
func launchHub(t *testing.T, file, data, listen string) *hubProcess {
	t.Helper()
	h := &hubProcess{log: &hubLog{}}
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, built, "serve", "--config", file, "--listen", listen,
		"--admin-listen", "127.0.0.1:0", "--data-dir", data, "--log-level", "debug", "--log-format", "json")
	cmd.Env = []string{"HOME=" + filepath.Dir(file), "HUB_TEST_KEY=" + hubKey}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second // then it is killed
	listening := make(chan string, 1)
	cmd.Stderr = h.log.until(listening)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var end sync.Once
	h.stop = func() {
		end.Do(func() {
			cancel()
			// Wait tells of the ended context even when the hub ended well.
			if err := <-ended; cmd.ProcessState.ExitCode() != 0 {
				t.Errorf("the hub did not end well: %v", err)
			}
			if t.Failed() {
				t.Logf("the hub's log:\n%s", h.log)
			}
		})
	}
	h.kill = func() {
		end.Do(func() {
			_ = cmd.Process.Kill()
			<-ended
			cancel()
		})
	}
	t.Cleanup(h.stop)
	select {
	case addr := <-listening:
		h.url = "http://" + addr
	case err := <-ended:
		ended <- err
		t.Fatalf("the hub did not start: %v", err)
	}
	return h
}

// accounts are two accounts of one provider. They say who they are, and call a tool when one is offered. Their streams
// are slow enough for an answer to have begun, at the client, when it is cut.
func accounts() *simulator.Provider {
	account := func(name string) simulator.Account {
		return simulator.Account{
			Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1"}, ChunkPace: 50 * time.Millisecond,
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

// configuration is the hub's file; it lacks the simulator's URL, the hub's patience and what the accounts are.
const configuration = `
server: {drain_grace_seconds: 2}
client_keys: [{name: test, key: "${HUB_TEST_KEY}"}]
router: {first_token_timeout_seconds: 1, idle_timeout_seconds: 1, request_timeout_seconds: 5, cooldown_wait_seconds: %[2]d}
roles:
  orchestrator: {preferred_chain: [a, b]}
  worker: {preferred_chain: [b, a]}
  eyes: {preferred_chain: [b, a]}
profiles:
  a: {%[3]s, custom_base_url: "%[1]s", preferred_models: [sim-1], context_length: 128000, max_concurrency: unlimited, auth_config: {api_key: sk-upstream-a}}
  b: {%[4]s, custom_base_url: "%[1]s", preferred_models: [sim-1], context_length: 128000, max_concurrency: unlimited, auth_config: {api_key: sk-upstream-b}}
`

// answering are the endpoints where a model answers.
var answering = []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"}

// logLine is what the tests read of a line of the hub's log.
type logLine struct {
	Message  string `json:"msg"`
	Proxy    string `json:"proxy_addr"` // in the line that says that both planes listen
	Endpoint string `json:"endpoint"`   // in the line that tells a request
	Role     string `json:"role"`
	Tried    string `json:"tried"` // a:quota_exhausted,b:ok
}

// hubLog keeps what the hub logs.
type hubLog struct {
	mu        sync.Mutex
	text      []byte
	listening chan<- string
}

// until makes the log tell the proxy plane's address, once it is logged.
func (l *hubLog) until(listening chan<- string) *hubLog {
	l.listening = listening
	return l
}

// Write keeps a piece of the log, as it comes.
func (l *hubLog) Write(piece []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, piece...)
	if l.listening == nil {
		return len(piece), nil
	}
	for line := range l.lines() {
		if line.Proxy != "" {
			l.listening <- line.Proxy
			l.listening = nil
			break
		}
	}
	return len(piece), nil
}

// lines are the whole lines so far; the caller holds mu.
func (l *hubLog) lines() iter.Seq[logLine] {
	return func(yield func(logLine) bool) {
		for text := range bytes.Lines(l.text) {
			var line logLine
			if json.Unmarshal(text, &line) == nil && !yield(line) {
				return
			}
		}
	}
}

func (l *hubLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// requests are the requests for answers that the hub has told in its log, each as role and accounts: "worker b:ok". It is
// complete once the hub has stopped.
func (l *hubLog) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for line := range l.lines() {
		if line.Message == "request" && slices.Contains(answering, line.Endpoint) {
			all = append(all, line.Role+" "+line.Tried)
		}
	}
	return all
}

// calls tells how many calls each account got.
func (h *hub) calls() string {
	return fmt.Sprintf("a=%d b=%d", h.sim.Total("a"), h.sim.Total("b"))
}
