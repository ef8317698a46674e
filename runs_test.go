package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/runs"
)

// hubProcess is the built hub in a process of its own, which can be killed.
type hubProcess struct {
	*program
	cmd *exec.Cmd
}

// built is the hub's binary.
func built(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "hermes-hub")
	if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	return binary
}

func launch(t *testing.T, binary, config, data string) *hubProcess {
	t.Helper()
	p := &hubProcess{program: &program{t: t, out: &output{}, err: &output{}}}
	p.cmd = exec.CommandContext(t.Context(), binary, "serve", "--config", config, "--data-dir", data, "--log-format", "json")
	p.cmd.Env = []string{"HOME=" + t.TempDir(), "KEY_FIRST=canary-first", "KEY_SECOND=canary-second"}
	p.cmd.Stderr = p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.waitLog(`"serving"`, 1)
	p.readAddresses()
	return p
}

// kill ends the hub as a power cut would end it.
func (p *hubProcess) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it says how it ended, which is known
}

// ask sends one request and returns the answer, whose body is read by the caller.
func (p *program) ask(method, path, body string, header ...string) *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.proxy+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	return res
}

// told is an answer whose body is JSON.
func (p *program) told(want int, method, path, body string, header ...string) (o map[string]any) {
	p.t.Helper()
	res := p.ask(method, path, body, header...)
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		p.t.Fatalf("%s %s: %d %s, %v; want %d", method, path, res.StatusCode, text, err, want)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		p.t.Fatalf("%s %s: %v in %s", method, path, err, text)
	}
	return o
}

// observer reads the rows of a run as they come.
type observer struct {
	t     *testing.T
	body  *bufio.Scanner
	last  string   // id of the newest row
	lines []string // event and delta of each row
	text  string   // the visible answer
	done  bool     // [DONE] was read
}

func (p *program) observe(run, cursor string) *observer {
	p.t.Helper()
	header := []string{"Accept", "text/event-stream"}
	if cursor != "" {
		header = append(header, "Last-Event-ID", cursor)
	}
	res := p.ask(http.MethodGet, "/v1/runs/"+run+"/events", "", header...)
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		p.t.Fatalf("observe: %d %s", res.StatusCode, text)
	}
	return &observer{t: p.t, body: scanner(res)}
}

// scanner reads an answer line by line, of any length that a row may have.
func scanner(res *http.Response) *bufio.Scanner {
	s := bufio.NewScanner(res.Body)
	s.Buffer(nil, 1<<20)
	return s
}

// until reads rows until stop says so or the stream ends.
func (o *observer) until(stop func(o *observer) bool) *observer {
	o.t.Helper()
	for !stop(o) && o.body.Scan() {
		line := o.body.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			o.last = id
			continue
		}
		data, ok := strings.CutPrefix(line, "data: ")
		switch {
		case !ok:
		case data == "[DONE]":
			o.done = true
		default:
			var row struct{ Event, Type, Delta string }
			if err := json.Unmarshal([]byte(data), &row); err != nil {
				o.t.Fatalf("%v in %s", err, data)
			}
			if row.Type != "" {
				o.lines = append(o.lines, row.Type)
			}
			if row.Event == "message.delta" {
				o.text += row.Delta
			}
		}
	}
	return o
}

func never(*observer) bool { return false }

// The main job of the journal, over the hub's own accounts: a run is begun, fails over within itself, is seen by several
// observers and on the admin plane, and is replayed alike later (J07, E10, W02).
func TestRunOverAccounts(t *testing.T) {
	sim, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	p := start(t, getenv, "serve", "--config", path, "--data-dir", data)

	sim.Push("first", simulator.UsageLimit)
	begun := p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Who are you?","model":"sim-1","session_id":"s1","metadata":{"project":"p1"}}`)
	id, _ := begun["run_id"].(string)
	if begun["status"] != "started" || begun["session_id"] != "s1" || begun["replayed"] != false || !strings.HasPrefix(id, "run_") || len(id) != 36 {
		t.Fatalf("begun as %v", begun)
	}
	live := p.observe(id, "").until(never)
	again := p.observe(id, "").until(never)
	run := p.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
	if !live.done || live.text == "" || live.text != again.text || !slices.Equal(live.lines, again.lines) || run["output"] != live.text {
		t.Errorf("live %q %v, replayed %q %v, output %v", live.text, live.lines, again.text, again.lines, run["output"])
	}
	if run["role"] != "orchestrator" || run["model"] != "sim-1" {
		t.Errorf("role %v, model %v", run["role"], run["model"])
	}
	if run["status"] != "completed" || run["terminal_state"] != "completed" || run["last_event_id"] != live.last {
		t.Errorf("the run object is %v; the last id seen is %s", run, live.last)
	}
	for _, want := range []string{"run.started", "progress", "usage.final", "done", "run.closed"} {
		if !slices.Contains(live.lines, want) {
			t.Errorf("no %s among %v", want, live.lines)
		}
	}
	if none := p.observe(id, live.last).until(never); len(none.lines) > 0 || !none.done {
		t.Errorf("J09: from the end there is %v", none.lines)
	}
	_, token, _ := command(t, getenv, "", "token", "--config", path, "--data-dir", data, "--scope", "viewer")
	if status, body := p.get(p.admn+"/admin/v1/runs/"+id, strings.TrimSpace(token)); status != http.StatusOK || !strings.Contains(body, id) {
		t.Errorf("on the admin plane: %d %s", status, body)
	}
	if status, _ := p.get(p.admn+"/admin/v1/runs/"+id, ""); status != http.StatusUnauthorized {
		t.Errorf("on the admin plane without a token: %d", status)
	}
	if status, _ := p.do(http.MethodPost, p.admn+"/admin/v1/runs/"+id+"/cancel", "{}", strings.TrimSpace(token)); status != http.StatusForbidden {
		t.Errorf("a viewer's cancel: %d", status)
	}

	// A plain call leaves a run, too, and names it.
	res := p.ask(http.MethodPost, "/v1/chat/completions", chatBody)
	left := res.Header.Get("X-Hub-Run-Id")
	_, _ = io.Copy(io.Discard, res.Body)
	if seen := p.observe(left, "").until(never); !seen.done || seen.text != "" || !slices.Contains(seen.lines, "done") {
		t.Errorf("the run of a plain call is %v %q", seen.lines, seen.text)
	}
}

// J20, J21, X03, W12: the hub is killed in the middle of a run whose executor dies with it. What observers had seen is there
// after the restart, under the same ids; the run is ended by one stored row, and the next one goes well.
func TestRunSurvivesKill(t *testing.T) {
	sim, base := upstream(t)
	binary, path, data := built(t), configFor(t, base, ""), t.TempDir()
	p := launch(t, binary, path, data)

	sim.Push("first", simulator.Stall)
	id, _ := p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Tell me a long story.","model":"sim-1"}`)["run_id"].(string)
	seen := p.observe(id, "").until(func(o *observer) bool { return o.text != "" })
	p.kill()

	p = launch(t, binary, path, data)
	rest := p.observe(id, seen.last).until(never)
	whole := p.observe(id, "").until(never)
	if want := append(slices.Clone(seen.lines), rest.lines...); !slices.Equal(whole.lines, want) || whole.text != seen.text+rest.text || !whole.done {
		t.Errorf("seen before %v, after %v; replayed %v", seen.lines, rest.lines, whole.lines)
	}
	run := p.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
	if run["status"] != "failed" || run["terminal_state"] != string(runs.EndInterruptedByCrash) || run["output"] != whole.text {
		t.Errorf("the run object is %v", run)
	}
	if n := slices.Index(whole.lines, "error"); n < 0 || whole.lines[len(whole.lines)-1] != "run.closed" {
		t.Errorf("the log is %v", whole.lines)
	}
	id, _ = p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Again.","model":"sim-1"}`)["run_id"].(string)
	if o := p.observe(id, "").until(never); !o.done || o.text == "" {
		t.Errorf("after the restart: %v %q", o.lines, o.text)
	}
}

// J21: the hub is stopped in the middle of a run and its grace ends first. The run's own call was cut like any other, so
// that the run blamed its account for breaking off.
func TestRunEndsWithTheHub(t *testing.T) {
	sim, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(string(file), "server: {", "server: {drain_grace_seconds: 0, ", 1))
	binary := built(t)
	p := launch(t, binary, path, data)
	sim.Push("first", simulator.Stall)
	id, _ := p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", `{"input":"Tell me a long story.","model":"sim-1"}`)["run_id"].(string)
	seen := p.observe(id, "").until(func(o *observer) bool { return o.text != "" })
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // how it ended shows in what it left

	p = launch(t, binary, path, data)
	rest := p.observe(id, seen.last).until(never)
	run := p.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
	told, _ := run["error"].(map[string]any)
	if run["status"] != "failed" || run["terminal_state"] != string(runs.EndInterruptedByCrash) || told["code"] != "hub_stopped" || run["output"] != seen.text+rest.text {
		t.Errorf("the run object is %v", run)
	}
}

// One data dir belongs to one hub: a second one says so and ends.
func TestDataDirInUse(t *testing.T) {
	_, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	start(t, getenv, "serve", "--config", path, "--data-dir", data)
	exit, _, errs := command(t, getenv, "", "serve", "--config", path, "--data-dir", data)
	if exit != 1 || !strings.Contains(errs, "server.data_dir") || !strings.Contains(errs, "another process") {
		t.Errorf("exit %d: %s", exit, errs)
	}
}

// A data dir that takes no database keeps nobody from being served. The hub says what it lacks.
func TestDataDirWithoutDatabase(t *testing.T) {
	_, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	if err := os.Mkdir(filepath.Join(data, databaseFile), 0o700); err != nil {
		t.Fatal(err)
	}
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", data)
	if status, body := p.do(http.MethodPost, p.proxy+"/v1/chat/completions", chatBody, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if status, body := p.get(p.proxy+"/readyz", ""); status != http.StatusOK || !strings.Contains(body, "degraded") {
		t.Errorf("readiness: %d %s", status, body)
	}
}
