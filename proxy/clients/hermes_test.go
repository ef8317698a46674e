package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// hermesConfiguration is Hermes Agent's file: the main conversation, sub-agents and the reading of pictures each have a role
// of their own, named by its base URL. What would ask hosts outside this machine is switched off as far as it can be.
const hermesConfiguration = `
model: {provider: custom, base_url: %[1]s/r/orchestrator/v1, default: orchestrator, api_key: %[2]s}
delegation: {base_url: %[1]s/r/worker/v1, model: worker, api_key: %[2]s}
auxiliary:
  vision: {base_url: %[1]s/r/eyes/v1, model: eyes, api_key: %[2]s}
agent: {environment_probe: false}
model_catalog: {enabled: false}
security: {allow_lazy_installs: false}
`

// hermes is Hermes Agent, headless, with a home of its own, in a folder with a note and a picture.
type hermes struct {
	home, work string
	tap        *tap // what it asks the hub
}

func newHermes(t *testing.T, h *hub) *hermes {
	t.Helper()
	a := &hermes{home: t.TempDir(), work: t.TempDir(), tap: h.tap(t)}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 32, 32))); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{
		filepath.Join(a.home, "config.yaml"): fmt.Appendf(nil, hermesConfiguration, a.tap.url, hubKey),
		filepath.Join(a.work, "note.txt"):    []byte("marigold-7341\n"),
		filepath.Join(a.work, "picture.png"): picture.Bytes(),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// hermesTurn is what Hermes makes of one prompt.
type hermesTurn struct {
	Said      string // its final answer
	Completed bool   `json:"completed"` // its own opinion
	Failed    bool   `json:"failed"`
}

// hermesLimit bounds one turn.
const hermesLimit = time.Minute

// obey has Hermes follow the orders; see hermesModel for what there is.
func (a *hermes) obey(t *testing.T, orders string) hermesTurn {
	t.Helper()
	command, err := filepath.Abs(filepath.Join(environment("hermes"), "hermes"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hermesLimit)
	defer cancel()
	report := filepath.Join(a.home, "report.json")
	cmd := exec.CommandContext(ctx, command, "--usage-file", report, "-z", "Follow these orders: "+orders)
	cmd.Dir = a.work
	// Whatever still wants to leave this machine meets a proxy that is not there.
	const nowhere = "http://127.0.0.1:1"
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "HERMES_HOME=" + a.home,
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1",
	}
	// Its tools run in shells: they end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &told
	runErr := cmd.Run()
	text, err := os.ReadFile(report)
	if err != nil || ctx.Err() != nil {
		t.Fatalf("hermes: %v, %v, %v\n%s%s", runErr, ctx.Err(), err, said.Bytes(), told.Bytes())
	}
	turn := hermesTurn{Said: strings.TrimSpace(said.String())}
	if err := json.Unmarshal(text, &turn); err != nil {
		t.Fatalf("read Hermes' report: %v\n%s", err, text)
	}
	return turn
}

// facts are what only tools can find out: the note's text and the account's view of the picture.
var facts = regexp.MustCompile(`marigold-\d+|grey square`)

// hermesModel is a model that follows the orders of the first prompt; see hermesCalls. For each it calls the tool; at last
// it says what the tools found, and who it is.
func hermesModel(r simulator.Request) simulator.Answer {
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return simulator.Answer{Text: err.Error()}
	}
	if len(r.Tools) == 0 {
		return simulator.Answer{Text: "It is a grey square, says " + r.Account + "."}
	}
	var orders, found []string
	answered := 0
	for _, m := range body.Messages {
		switch content := string(m.Content); m.Role {
		case "user":
			if _, list, ok := strings.Cut(content, "orders: "); ok && orders == nil {
				orders = strings.Fields(strings.Trim(list, `"`))
			}
		case "assistant":
			if orders != nil { // what is before them is another turn's
				answered++
			}
		case "tool":
			found = append(found, facts.FindAllString(content, -1)...)
		}
	}
	if answered < len(orders) {
		call := hermesCalls[orders[answered]]
		call.ID = fmt.Sprintf("call_%d", answered)
		return simulator.Answer{ToolCalls: []simulator.ToolCall{call}}
	}
	slices.Sort(found)
	return simulator.Answer{Text: fmt.Sprintf("I have found %s, says %s.", strings.Join(slices.Compact(found), " and "), r.Account)}
}

// hermesCalls are the orders as calls of Hermes' own tools: read the note, look at the picture, have a sub-agent read the
// note, read it when the file `wait` is gone, remove a folder, of which a person has to approve, and read it.
var hermesCalls = map[string]simulator.ToolCall{
	"read":     {Name: "read_file", Arguments: `{"path":"note.txt"}`},
	"look":     {Name: "vision_analyze", Arguments: `{"image_url":"picture.png","question":"What is it?"}`},
	"delegate": {Name: "delegate_task", Arguments: `{"goal":"Follow these orders: read"}`},
	"wait":     {Name: "terminal", Arguments: `{"command":"while [ -e wait ]; do sleep 0.1; done; cat note.txt"}`},
	"remove":   {Name: "terminal", Arguments: `{"command":"rm -r rubbish && cat note.txt"}`},
}
