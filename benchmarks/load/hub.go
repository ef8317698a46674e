package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"
)

const (
	hubKey      = "key-of-the-load-generator"
	hubPath     = "/r/main/v1/chat/completions"
	foreignPath = "/r/foreign/v1/chat/completions"
)

// hubFile turns everything on that a request passes on its way: a client key with its roles, a chain of accounts with caps
// on their leases, affinity, prices. Metrics, trails, heartbeats and the journal are on by themselves. The provider is one
// whose answers tell what is left of its rates. A role apart has accounts of another protocol.
var hubFile = template.Must(template.New("hub").Parse(`
server: {drain_grace_seconds: 1}
{{- with .Record}}
journal: {record_calls: {{.}}}
{{- end}}
client_keys: [{name: load, key: ` + hubKey + `, roles: [main, other, foreign]}]
router: {default_role: main}
roles:
  main: {preferred_chain: [account-1, account-2, account-3, account-4, account-5, account-6], session_affinity_enabled: true}
  other: {preferred_chain: [account-6, account-5]}
  foreign: {preferred_chain: [claude-1, claude-2, claude-3], session_affinity_enabled: true}
pricing:
  ` + model + `: {input_cost_per_m: 1.25, output_cost_per_m: 10, cached_input_cost_per_m: 0.125}
profiles:
{{- range .Accounts}}
  {{.}}:
    provider: openai
    custom_base_url: http://{{$.Upstream}}/v1
    preferred_models: [` + model + `]
    max_concurrency: 32768
    auth_config: {api_key: sk-upstream-{{.}}}
{{- end}}
{{- range .Foreign}}
  {{.}}:
    provider: claude
    custom_base_url: http://{{$.Upstream}}
    preferred_models: [` + model + `]
    max_concurrency: 32768
    auth_config: {api_key: sk-upstream-{{.}}}
{{- end}}
`))

// hubText is the hub's configuration file over an upstream, host:port. record is how much calls leave in the journal, "" =
// what they leave by default.
func hubText(upstream, record string) ([]byte, error) {
	accounts := strings.Fields("account-1 account-2 account-3 account-4 account-5 account-6")
	foreign := strings.Fields("claude-1 claude-2 claude-3")
	var text bytes.Buffer
	err := hubFile.Execute(&text, map[string]any{"Upstream": upstream, "Record": record, "Accounts": accounts, "Foreign": foreign})
	return text.Bytes(), err
}

// hubBinary is the program to measure: the named one, or one that is built as it is delivered. clean removes the latter.
func hubBinary(ctx context.Context, named string) (name string, clean func(), err error) {
	if named != "" {
		return named, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "hermes-hub-load-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	name = filepath.Join(dir, "hermes-hub")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", name, "hermes-hub")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		clean()
		return "", nil, fmt.Errorf("go build: %w\n%s", err, text)
	}
	return name, clean, nil
}

// hub is a running hub.
type hub struct {
	*process
	admin string // address of the admin plane
	dir   string // its file and its state
}

// startHub starts the hub over the upstream and waits until it listens.
func startHub(ctx context.Context, binary, upstream, record string) (*hub, error) {
	dir, err := os.MkdirTemp("", "hermes-hub-load-")
	if err != nil {
		return nil, err
	}
	h := &hub{process: &process{name: "hub"}, dir: dir}
	file := filepath.Join(dir, "router_profiles.yaml")
	text, err := hubText(upstream, record)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	h.cmd = exec.CommandContext(ctx, binary, "serve", "--config", file, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--data-dir", filepath.Join(dir, "data"), "--log-format", "json")
	h.cmd.Env = []string{"HOME=" + dir}
	h.end = func() { h.cmd.Process.Signal(syscall.SIGTERM) }
	log, err := h.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := h.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the hub: %w", err)
	}
	if err := h.awaitAddresses(log); err != nil {
		h.stop()
		return nil, err
	}
	return h, nil
}

// awaitAddresses reads the log up to the line that says where both planes listen. The rest of the log is read and dropped
// until the hub ends.
func (h *hub) awaitAddresses(log io.Reader) error {
	lines := bufio.NewScanner(log)
	var seen strings.Builder
	for lines.Scan() {
		var line struct {
			Proxy string `json:"proxy_addr"`
			Admin string `json:"admin_addr"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Proxy != "" {
			h.addr, h.admin = line.Proxy, line.Admin
			go io.Copy(io.Discard, log) //nolint:errcheck // ends with the process
			return nil
		}
		fmt.Fprintln(&seen, lines.Text())
	}
	return fmt.Errorf("the hub did not start:\n%s", &seen)
}

// stop ends the hub and removes what it had.
func (h *hub) stop() error {
	defer os.RemoveAll(h.dir)
	return h.process.stop()
}

// allocated reads what the hub's metrics say of its allocations.
func (h *hub) allocated(ctx context.Context) (allocations, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.admin+"/metrics", nil)
	if err != nil {
		return allocations{}, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return allocations{}, err
	}
	defer res.Body.Close()
	return parseMetrics(res.Body)
}

// parseMetrics finds two figures in Prometheus' text format. They are printed as floats: 1.234567e+06.
func parseMetrics(text io.Reader) (allocations, error) {
	var a allocations
	wanted := map[string]*uint64{"go_memstats_mallocs_total": &a.Count, "go_memstats_alloc_bytes_total": &a.Bytes}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		into, ok := wanted[name]
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return a, fmt.Errorf("metric %s: %w", name, err)
		}
		*into = uint64(v)
		delete(wanted, name)
	}
	if len(wanted) > 0 {
		return a, fmt.Errorf("metrics lack %d of the two counts of allocations", len(wanted))
	}
	return a, lines.Err()
}
