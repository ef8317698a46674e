package main

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes-hub/runs/runtime/fakehermes"
)

// withRuntime is the configuration of two accounts with a Hermes runtime beside them, which runs go to.
func withRuntime(t *testing.T, base, agent string) string {
	t.Helper()
	return configFor(t, base, `runs:
  default_runtime: hermes
  runtimes:
    hermes: {kind: hermes, base_url: "`+agent+`", api_key: canary-agent-key-1}
`)
}

// told folds a log: what somebody sees who reads all of it. Rows about the stream itself say nothing of the run.
func (o *observer) folded() string {
	kept := slices.DeleteFunc(slices.Clone(o.lines), func(family string) bool {
		return slices.Contains([]string{"status", "progress", "journal.gap", "token.delta", "reasoning.delta"}, family)
	})
	return o.text + " | " + strings.Join(kept, " ")
}

// The first success criterion of the run adapter contract, X03, W12: a run goes on at a Hermes while the hub is killed and
// started anew. An observer that comes back with its last id gets the rest and no row twice, and what it has then is what
// an observer of an undisturbed run has. An approval is asked for before and answered after.
func TestHermesRunSurvivesKill(t *testing.T) {
	_, base := upstream(t)
	gate := make(chan struct{}, 10)
	agent := fakehermes.New(fakehermes.Options{Key: "canary-agent-key-1", Durable: true}, func(t *fakehermes.Turn) (string, error) {
		t.Say("I look around. ")
		t.Tool("terminal", "ls")
		t.ToolDone("terminal", false)
		t.Wait(gate)
		if t.Approve("rm -rf build") == "deny" {
			return "I look around. I was not allowed to.", nil
		}
		t.Say("It is gone.")
		return "I look around. It is gone.", nil
	})
	t.Cleanup(agent.Close)
	address, stop, err := agent.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	binary, path, data := built(t), withRuntime(t, base, address), t.TempDir()
	body := `{"input":"Clean up.","session_id":"s1","workspace":"/home/me/project","toolsets":["terminal"]}`
	approve := func(p *program, id string) {
		t.Helper()
		for range 200 {
			run := p.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
			if approval, _ := run["pending_approval_id"].(string); approval != "" {
				answer, _ := json.Marshal(map[string]string{"choice": "once", "approval_id": approval})
				p.told(http.StatusOK, http.MethodPost, "/v1/runs/"+id+"/approval", string(answer))
				p.told(http.StatusConflict, http.MethodPost, "/v1/runs/"+id+"/approval", string(answer))
				return
			}
			time.Sleep(25 * time.Millisecond) // another process asks in its own time
		}
		t.Fatal("no approval was asked for")
	}

	p := launch(t, binary, path, data)
	id, _ := p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", body)["run_id"].(string)
	gate <- struct{}{}
	undisturbed := p.observe(id, "").until(func(o *observer) bool { return slices.Contains(o.lines, "approval.requested") })
	approve(p.program, id)
	undisturbed.until(never)

	id, _ = p.told(http.StatusAccepted, http.MethodPost, "/v1/runs", body)["run_id"].(string)
	before := p.observe(id, "").until(func(o *observer) bool { return slices.Contains(o.lines, "tool.done") })
	p.kill()
	gate <- struct{}{} // the agent goes on while nobody listens
	p = launch(t, binary, path, data)
	after := p.observe(id, before.last)
	approve(p.program, id)
	after.until(never)
	whole := p.observe(id, "").until(never)

	if lines := append(slices.Clone(before.lines), after.lines...); !slices.Equal(lines, whole.lines) || before.text+after.text != whole.text {
		t.Errorf("before %v, after %v; replayed %v", before.lines, after.lines, whole.lines)
	}
	if whole.folded() != undisturbed.folded() || !whole.done {
		t.Errorf("killed      %s\nundisturbed %s", whole.folded(), undisturbed.folded())
	}
	run := p.told(http.StatusOK, http.MethodGet, "/v1/runs/"+id, "")
	if run["status"] != "completed" || run["output"] != "I look around. It is gone." || run["runtime"] != "hermes" {
		t.Errorf("the run object is %v", run)
	}
	if orders := agent.Calls(http.MethodPost, "/v1/runs"); len(orders) != 2 || !strings.Contains(string(orders[0].Body), `"workspace":"/home/me/project"`) {
		t.Errorf("the runtime was ordered %d runs: %s", len(orders), orders)
	}
	if log, err := os.ReadFile(data + "/" + databaseFile); err != nil || strings.Contains(string(log), "canary-agent-key-1") {
		t.Errorf("the database holds the runtime's key, or nothing: %v", err)
	}
}

// A response is made in the background, over accounts that speak Responses or chat completions, and outlives the hub's stop; it
// is fetched, streamed from any of its own sequence numbers, and deleted.
func TestBackgroundResponse(t *testing.T) {
	for _, protocol := range []string{"responses", "chat"} {
		t.Run(protocol, func(t *testing.T) { backgroundResponse(t, protocol) })
	}
}

func backgroundResponse(t *testing.T, protocol string) {
	_, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(string(file), "provider: openai-compatible", "provider: openai-compatible\n    protocol: "+protocol, 1))
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	p := start(t, getenv, "serve", "--config", path, "--data-dir", data)
	made := p.told(http.StatusOK, http.MethodPost, "/v1/responses", `{"model":"sim-1","input":"Who are you?","background":true}`)
	id, _ := made["id"].(string)
	if !strings.HasPrefix(id, "resp_") || made["background"] != true || made["status"] != "queued" && made["status"] != "in_progress" {
		t.Fatalf("made as %v", made)
	}
	status := made["status"]
	for range 200 {
		if status = p.told(http.StatusOK, http.MethodGet, "/v1/responses/"+id, "")["status"]; status == "completed" {
			break
		}
		time.Sleep(25 * time.Millisecond) // it is made while nobody listens
	}
	if status != "completed" {
		t.Fatalf("status %v", status)
	}
	p.stop()
	p = start(t, getenv, "serve", "--config", path, "--data-dir", data)
	numbers := func(after string) (ns []float64) {
		t.Helper()
		res := p.ask(http.MethodGet, "/v1/responses/"+id+"?stream=true"+after, "")
		o := &observer{t: t, body: scanner(res)}
		for o.body.Scan() {
			if data, ok := strings.CutPrefix(o.body.Text(), "data: "); ok {
				var e struct {
					N float64 `json:"sequence_number"`
				}
				if err := json.Unmarshal([]byte(data), &e); err == nil {
					ns = append(ns, e.N)
				}
			}
		}
		return ns
	}
	all := numbers("")
	if len(all) < 5 || !slices.IsSorted(all) || !slices.Equal(numbers("&starting_after=3"), all[slices.Index(all, 3)+1:]) {
		t.Errorf("numbers %v; from 3 on %v", all, numbers("&starting_after=3"))
	}
	p.told(http.StatusOK, http.MethodDelete, "/v1/responses/"+id, "")
	p.told(http.StatusNotFound, http.MethodGet, "/v1/responses/"+id, "")
}
