package clients

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// agent is a coding agent on the command line that speaks a protocol of its own: Claude Code, or Codex. It is told to read a
// note with a tool of its own and to say what it says.
type agent struct {
	name    string
	npm     string // the package that holds it
	kinds   []kind // of the accounts that it can use
	command func(hubURL, home string) (args, env []string)
	read    simulator.ToolCall // how it reads note.txt in its working folder
}

// claudeCode is Anthropic's agent. Its package is a native program, which needs no Node.
func claudeCode() agent {
	return agent{
		name:  "Claude Code",
		npm:   "@anthropic-ai/claude-code-linux-x64",
		kinds: []kind{messagesAccount},
		command: func(hubURL, home string) (args, env []string) {
			return []string{filepath.Join("@anthropic-ai", "claude-code-linux-x64", "claude"), "-p", agentPrompt, "--model", "sim-1", "--allowedTools", "Bash"},
				[]string{
					"ANTHROPIC_BASE_URL=" + hubURL, "ANTHROPIC_API_KEY=" + hubKey, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
					"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CONFIG_DIR=" + home,
				}
		},
		read: simulator.ToolCall{Name: "Bash", Arguments: `{"command":"cat note.txt","description":"Read the note"}`},
	}
}

// codexCLI is OpenAI's agent.
func codexCLI() agent {
	return agent{
		name:  "Codex CLI",
		npm:   "@openai/codex",
		kinds: []kind{responsesAccount, chatAccount, messagesAccount, geminiAccount},
		command: func(hubURL, home string) (args, env []string) {
			return []string{
					filepath.Join(".bin", "codex"), "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access",
					"-c", "model_provider=hub", "-c", "model_providers.hub.name=hub", "-c", "model_providers.hub.base_url=" + hubURL + "/v1",
					"-c", "model_providers.hub.wire_api=responses", "-c", "model_providers.hub.env_key=OPENAI_API_KEY", "-m", "sim-1", agentPrompt,
				},
				[]string{"OPENAI_API_KEY=" + hubKey, "CODEX_HOME=" + home}
		},
		read: simulator.ToolCall{Name: "exec_command", Arguments: `{"cmd":"cat note.txt"}`},
	}
}

const agentPrompt = "Read note.txt and say what it says."

// accounts are two accounts whose model reads the note by the agent's tool and then tells what it found, and who it is.
func (a agent) accounts() *simulator.Provider {
	account := func(name string) simulator.Account {
		return simulator.Account{
			Name: name, Key: "sk-upstream-" + name, Models: []string{"sim-1"}, ChunkPace: 20 * time.Millisecond,
			Usage: &simulator.Usage{Prompt: 20, Completion: 4},
			Quota: simulator.Quota{Window: 5 * time.Hour, Style: simulator.QuotaCodex},
			Answer: func(r simulator.Request) simulator.Answer {
				if found := facts.FindString(string(r.Body)); found != "" {
					return simulator.Answer{Text: fmt.Sprintf("I have found %s, says %s.", found, name)}
				}
				if !slices.ContainsFunc(r.Tools, func(t simulator.Tool) bool { return t.Name == a.read.Name }) {
					return simulator.Answer{Text: "A title, says " + name}
				}
				return simulator.Answer{ToolCalls: []simulator.ToolCall{a.read}}
			},
		}
	}
	return simulator.New(account("a"), account("b"))
}

// run has the agent do its work and returns what it said.
func (a agent) run(t *testing.T, h *hub) string {
	t.Helper()
	home, work := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "note.txt"), []byte("marigold-7341\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args, env := a.command(h.url, home)
	command, err := filepath.Abs(filepath.Join("node", "node_modules", args[0]))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), agentLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, command, args[1:]...)
	cmd.Dir = work
	const nowhere = "http://127.0.0.1:1"
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+home, "TMPDIR="+home, "HTTP_PROXY="+nowhere, "HTTPS_PROXY="+nowhere, "NO_PROXY=127.0.0.1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var said, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &told
	if err := cmd.Run(); err != nil || ctx.Err() != nil {
		t.Errorf("%s: %v, %v\n%s%s", a.name, err, ctx.Err(), said.Bytes(), told.Bytes())
	}
	return strings.TrimSpace(said.String())
}

// agentLimit bounds one turn.
const agentLimit = time.Minute

// TestAgents: Claude Code and Codex over the hub: a turn with a tool on an account of a protocol that the hub serves them by,
// and one in which that account runs out between the tool's call and its result.
func TestAgents(t *testing.T) {
	t.Parallel()
	for _, a := range []agent{claudeCode(), codexCLI()} {
		for _, k := range a.kinds {
			t.Run(a.name+" "+string(k), func(t *testing.T) {
				t.Parallel()
				need(t, a.name, missingPackage(a.npm))
				a.turns(t, k)
			})
		}
	}
}

func (a agent) turns(t *testing.T, k kind) {
	for _, s := range []struct {
		name    string
		prepare func(*simulator.Provider)
		want    string
	}{
		{"P01 tool turn", nil, "I have found marigold-7341, says a."},
		{"P02 first account out of quota within the turn", play("a", simulator.Normal, simulator.UsageLimit, simulator.UsageLimit, simulator.UsageLimit), "I have found marigold-7341, says b."},
	} {
		t.Run(s.name, func(t *testing.T) {
			h := startHubOf(t, a.accounts(), patient, k, k)
			if s.prepare != nil {
				s.prepare(h.sim)
			}
			if said := a.run(t, h); !strings.Contains(said, s.want) {
				t.Errorf("it said %q, want %q", said, s.want)
			}
			h.stop()
			for _, request := range h.log.requests() {
				if !strings.HasSuffix(request, ":ok") {
					t.Errorf("a request that nobody served: %s", request)
				}
			}
		})
	}
}
