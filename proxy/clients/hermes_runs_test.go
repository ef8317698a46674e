package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
)

// runsConfiguration is the hub's file for runs that Hermes executes; it lacks the simulator's URL and the gateway's.
const runsConfiguration = `
server: {drain_grace_seconds: 2}
client_keys: [{name: test, key: "${HUB_TEST_KEY}"}]
router: {first_token_timeout_seconds: 60, idle_timeout_seconds: 60, request_timeout_seconds: 120}
runs: {default_runtime: hermes, runtimes: {hermes: {kind: hermes, base_url: "http://%[2]s", api_key: %[3]s}}}
roles: {orchestrator: {preferred_chain: [a, b]}}
profiles:
  a: {provider: openai-compatible, custom_base_url: "%[1]s", preferred_models: [sim-1], context_length: 128000, max_concurrency: 1, auth_config: {api_key: sk-upstream-a}}
  b: {provider: openai-compatible, custom_base_url: "%[1]s", preferred_models: [sim-1], context_length: 128000, max_concurrency: 1, auth_config: {api_key: sk-upstream-b}}
`

// runsWorld is Hermes' gateway as the runtime behind hubs that follow each other at one address.
type runsWorld struct {
	gateway *gateway
	address string // of every hub
}

func newRunsWorld(t *testing.T) *runsWorld {
	t.Helper()
	need(t, "Hermes Agent's API server", missingEnvironment("hermes"))
	w := &runsWorld{address: freeAddress(t)}
	w.gateway = newGateway(t, w.address)
	w.gateway.start(t)
	return w
}

// runsHub is a hub of this world, with what a second one needs that takes over from it.
type runsHub struct {
	*hub
	file, data, address string
}

// hub starts a hub that knows nothing, over accounts that have done nothing.
func (w *runsWorld) hub(t *testing.T) *runsHub {
	t.Helper()
	sim := hermesAccounts()
	upstream, closeAll, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	dir := t.TempDir()
	h := &runsHub{file: filepath.Join(dir, "router_profiles.yaml"), data: filepath.Join(dir, "data"), address: w.address}
	if err := os.WriteFile(h.file, fmt.Appendf(nil, runsConfiguration, upstream, w.gateway.address, gatewayKey), 0o600); err != nil {
		t.Fatal(err)
	}
	h.hub = &hub{sim, launchHub(t, h.file, h.data, h.address)}
	return h
}

// restart ends the hub and starts another one in its place.
func (h *runsHub) restart(t *testing.T, end func()) {
	t.Helper()
	end()
	h.hubProcess = launchHub(t, h.file, h.data, h.address)
}

// keep makes a file or, by the slash at the end of its name, a folder in the gateway's folder.
func (w *runsWorld) keep(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(w.gateway.work, name)
	var err error
	if strings.HasSuffix(name, "/") {
		err = os.Mkdir(path, 0o700)
	} else {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(path) }) // who waits for that must not for ever
	return path
}

// remove removes a file, for which a tool may wait.
func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestHermesRuns: Hermes Agent's own API server behind the hub, which has it execute its runs, and in front of it, as its
// model is behind the hub too.
func TestHermesRuns(t *testing.T) {
	t.Parallel()
	w := newRunsWorld(t)
	t.Run("J07 P02 a tool, and an account out of quota within the run", w.tool)
	t.Run("E10 two observers, one leaves", w.twoObservers)
	t.Run("C08 an approval", w.approve)
	t.Run("C07 an approval that is denied", w.deny)
	t.Run("C01 C02 a stop", w.stop)
	t.Run("C01 a stop while a tool works", w.stopTool)
	t.Run("C09 a control that it does not have", w.steer)
	t.Run("J08 W12 hub killed while a tool works", w.killedAtTool)
	t.Run("J08 W12 hub stopped while a tool works", w.stoppedAtTool)
	t.Run("W12 hub killed while the model thinks", w.killedAtModel)
	t.Run("W12 hub killed while the model speaks", w.killedAtWord)
	t.Run("W12 hub killed while an approval is open", w.killedAtApproval)
	t.Run("W01 W02 W04 the WebUI in gateway mode", w.webUI)
}

// tool: a run with a tool call is journaled whole. That an account runs out within it is nothing to whoever observes it.
func (w *runsWorld) tool(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	h.sim.Push("a", simulator.Normal, simulator.UsageLimit)
	id := c.start("read")
	live := c.observe(id, "").end()
	sameRows(t, "replayed", c.observe(id, "").end().rows, live.rows)
	sameRows(t, "replayed behind the second row", c.observe(id, live.rows[1].ID).end().rows, live.rows[2:])
	if steps, want := live.steps(), []string{"tool.started read_file", "tool.completed read_file", "run.completed"}; !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	if live.text() != foundByB || live.count(func(r row) bool { return r.Type == "usage.final" }) != 1 {
		t.Errorf("it says %q, in %s", live.text(), live)
	}
	run := c.run(id)
	if run.Status != "completed" || run.TerminalState != "completed" || run.Output != foundByB || run.LastEventID != live.last() || run.Runtime != "hermes" {
		t.Errorf("the run is %+v", run)
	}
	if run.Usage.Input == 0 || run.Usage.Output == 0 {
		t.Errorf("it used %+v", run.Usage)
	}
	h.stop()
	if calls, want := h.log.requests(), []string{"orchestrator a:ok", "orchestrator a:quota_exhausted,b:ok"}; !slices.Equal(calls, want) {
		t.Errorf("requests %q, want %q", calls, want)
	}
}

// twoObservers: Hermes' own stream belongs to one client and goes with it; the hub's do not.
func (w *runsWorld) twoObservers(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	wait := w.keep(t, "wait")
	id := c.start("wait")
	first, second := c.observe(id, ""), c.observe(id, "")
	first.until(is("tool.started"))
	second.until(is("tool.started"))
	sameRows(t, "seen by both", first.rows, second.rows)
	_ = first.body.Close()
	remove(t, wait)
	if second.end(); second.text() != foundByA || second.count(is("tool.completed")) != 1 {
		t.Errorf("the other has seen %s", second)
	}
	sameRows(t, "replayed", c.observe(id, "").end().rows, second.rows)
}

// approve: an approval is asked for, and answered once. 0.19.0 has no ids for approvals and takes an answer for the oldest one
// that is open: the id is the hub's, which sends an answer on only if it goes to that approval.
func (w *runsWorld) approve(t *testing.T) {
	c := w.hub(t).client(t)
	rubbish := w.keep(t, "rubbish/")
	id := c.start("remove")
	o := c.observe(id, "")
	asked := o.until(is("approval.request"))
	if asked.ApprovalID == "" || !slices.Equal(asked.Choices, []string{"once", "session", "always", "deny"}) || !strings.HasPrefix(asked.Command, "rm -r rubbish") {
		t.Errorf("it asks by %s", asked.Frame)
	}
	if run := c.run(id); run.Status != "awaiting_approval" || run.PendingApprovalID != asked.ApprovalID {
		t.Errorf("the run is %+v", run)
	}
	if e := c.answer(http.StatusConflict, id, "once", "another-approval"); e.code() != "not_active" {
		t.Errorf("another approval's id: %s", e.Error)
	}
	c.answer(http.StatusOK, id, "once", asked.ApprovalID)
	if e := c.answer(http.StatusConflict, id, "deny", asked.ApprovalID); e.code() != "not_active" {
		t.Errorf("answered twice: %s", e.Error)
	}
	want := []string{"tool.started terminal", "approval.request", "approval.responded", "tool.completed terminal", "run.completed"}
	if steps := o.end().steps(); !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
	if n := o.count(func(r row) bool {
		return r.Event == "approval.responded" && r.ApprovalID == asked.ApprovalID && r.Choice == "once"
	}); n != 1 {
		t.Errorf("%d answers in %s", n, o)
	}
	if run := c.run(id); run.Output != foundByA || run.PendingApprovalID != "" {
		t.Errorf("the run is %+v", run)
	}
	if _, err := os.Stat(rubbish); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was approved of was not done: %v", err)
	}
}

// deny: what is denied is not done, and the run goes on without.
func (w *runsWorld) deny(t *testing.T) {
	c := w.hub(t).client(t)
	rubbish := w.keep(t, "rubbish/")
	id := c.start("remove")
	o := c.observe(id, "")
	asked := o.until(is("approval.request"))
	c.answer(http.StatusOK, id, "deny", asked.ApprovalID)
	o.end()
	if run := c.run(id); run.Status != "completed" || strings.Contains(run.Output, "marigold") {
		t.Errorf("the run is %+v", run)
	}
	if _, err := os.Stat(rubbish); err != nil {
		t.Errorf("what was denied was done: %v", err)
	}
	if e := c.answer(http.StatusConflict, id, "once", asked.ApprovalID); e.code() != "not_active" {
		t.Errorf("answered after the end: %s", e.Error)
	}
}

// answer answers an approval; the hub's answer to that must have the status.
func (c *runsClient) answer(want int, run, choice, approval string) runObject {
	c.t.Helper()
	body := fmt.Sprintf(`{"choice":%q,"approval_id":%q}`, choice, approval)
	return c.call(want, http.MethodPost, "/v1/runs/"+run+"/approval", body)
}

// stop: a run whose model has fallen silent is stopped: it ends once, with what it has said, and the model's account is free
// for the next one.
func (w *runsWorld) stop(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	h.sim.Push("a", simulator.Stall)
	id := c.start("")
	o := c.observe(id, "")
	o.until(is("message.delta"))
	c.call(http.StatusOK, http.MethodPost, "/v1/runs/"+id+"/stop", "{}")
	if err := h.sim.WaitCancelled(c.ctx, "a", 1); err != nil {
		t.Error(err)
	}
	if o.end(); o.count(is("run.cancelled")) != 1 || o.count(func(r row) bool { return r.Type == "done" || r.Type == "error" }) != 0 {
		t.Errorf("it ended by %s", o)
	}
	run := c.run(id)
	if run.Status != "cancelled" || run.TerminalState != "interrupted-by-user" || run.Output == "" || strings.TrimSpace(run.Output) != o.text() {
		t.Errorf("the run is %+v, its text %q", run, o.text())
	}
	if again := c.call(http.StatusOK, http.MethodPost, "/v1/runs/"+id+"/stop", "{}"); again.Status != "cancelled" {
		t.Errorf("stopped twice: %+v", again)
	}
	next := c.start("read")
	c.observe(next, "").end()
	if run := c.run(next); run.Output != foundByA {
		t.Errorf("the next run is %+v", run)
	}
}

// stopTool: what a run's tool is doing ends with the run.
func (w *runsWorld) stopTool(t *testing.T) {
	h := w.hub(t)
	c := h.client(t)
	w.keep(t, "wait")
	id := c.start("wait")
	o := c.observe(id, "")
	o.until(is("tool.started"))
	c.call(http.StatusOK, http.MethodPost, "/v1/runs/"+id+"/stop", "{}")
	if o.end(); o.count(is("run.cancelled")) != 1 || h.calls() != "a=1 b=0" {
		t.Errorf("after calls %s it ended by %s", h.calls(), o)
	}
}

// steer: 0.19.0 has no steering of runs, and says so.
func (w *runsWorld) steer(t *testing.T) {
	c := w.hub(t).client(t)
	wait := w.keep(t, "wait")
	id := c.start("wait")
	o := c.observe(id, "")
	o.until(is("tool.started"))
	if e := c.call(http.StatusConflict, http.MethodPost, "/v1/runs/"+id+"/steer", `{"input":"Hurry."}`); e.code() != "unsupported_control" {
		t.Errorf("steered: %s", e.Error)
	}
	remove(t, wait)
	o.end()
}
