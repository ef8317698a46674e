package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/simulator"
)

// desk is an operator's place at a hub: a token, and what the admin plane says.
type desk struct {
	*program
	token string
}

// sit gives the operator of a hub a token.
func sit(t *testing.T, p *program, getenv func(string) string, path, data string) *desk {
	t.Helper()
	_, token, errs := command(t, getenv, "", "token", "--config", path, "--data-dir", data)
	if token == "" {
		t.Fatal(errs)
	}
	return &desk{p, strings.TrimSpace(token)}
}

// read is a GET of the admin plane, below /admin/v1.
func (d *desk) read(path string) gjson.Result {
	d.t.Helper()
	status, body := d.get(d.admn+"/admin/v1"+path, d.token)
	if status != http.StatusOK {
		d.t.Fatalf("GET %s: %d %s", path, status, body)
	}
	return gjson.Parse(strings.TrimPrefix(body, "|"))
}

// post is an action, which must be answered by the status.
func (d *desk) post(want int, path, body string) gjson.Result {
	d.t.Helper()
	status, answer := d.do(http.MethodPost, d.admn+"/admin/v1"+path, body, d.token)
	if status != want {
		d.t.Fatalf("POST %s: %d %s", path, status, answer)
	}
	return gjson.Parse(strings.TrimPrefix(answer, "|"))
}

// seen waits for a snapshot of which something holds.
func (d *desk) seen(what string, holds func(gjson.Result) bool) gjson.Result {
	d.t.Helper()
	for deadline, seq := time.Now().Add(20*time.Second), ""; ; {
		snapshot := d.read("/snapshot" + seq)
		if holds(snapshot) {
			return snapshot
		}
		if time.Now().After(deadline) {
			d.t.Fatalf("never seen: %s\n%s\n%s", what, snapshot, d.err)
		}
		seq = fmt.Sprint("?min_seq=", snapshot.Get("seq").Uint()+1)
	}
}

// soon waits for what is counted when a call has ended, which its client does not wait for.
func (d *desk) soon(what string, holds func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("it did not come to it: %s", what)
		}
	}
}

// follower reads the event bus.
type follower struct {
	t      *testing.T
	cancel context.CancelFunc
	body   *bufio.Scanner
	last   string // id
}

func (d *desk) follow(lastID string) *follower {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	d.t.Cleanup(cancel)
	ticket := d.post(http.StatusOK, "/stream-token", "").Get("ticket").String()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.admn+"/admin/v1/events?ticket="+ticket, nil)
	if err != nil {
		d.t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		d.t.Fatalf("events: %d %s", res.StatusCode, text)
	}
	f := &follower{t: d.t, cancel: cancel, body: bufio.NewScanner(res.Body)}
	f.body.Buffer(nil, 1<<20)
	return f
}

// until reads events until one of that name of which something holds, and returns its payload.
func (f *follower) until(name string, holds func(gjson.Result) bool) gjson.Result {
	f.t.Helper()
	for {
		event, data := f.next()
		if event == name && holds(data) {
			return data
		}
	}
}

// next reads one event, in the contract's order of lines.
func (f *follower) next() (name string, data gjson.Result) {
	f.t.Helper()
	line := func(prefix string) string {
		for f.body.Scan() {
			if text, ok := strings.CutPrefix(f.body.Text(), prefix); ok {
				return text
			}
			if text := f.body.Text(); text != "" && !strings.HasPrefix(text, ":") {
				f.t.Fatalf("%q, where %q was expected", text, prefix)
			}
		}
		f.t.Fatalf("the stream has ended: %v", f.body.Err())
		return ""
	}
	name, data = line("event: "), gjson.Parse(line("data: "))
	f.last = line("id: ")
	return name, data
}

// plans is a hub with an account of each of four subscriptions, in one chain. Each has two answers left in its window.
func plans(t *testing.T) (path string, sim *simulator.Provider) {
	t.Helper()
	quota := simulator.Quota{Calls: 2, Window: 5 * time.Hour, Style: simulator.QuotaSubscription}
	spent := simulator.Quota{Calls: 2, Window: 5 * time.Hour, Style: simulator.QuotaOpenCode}
	sim = simulator.New(
		simulator.Account{Name: "ag", Key: "canary-ag", Protocol: simulator.CloudCode, Project: "p-1", Models: []string{"gemini-3-pro"}, Quota: quota},
		simulator.Account{Name: "codex", Key: "canary-codex", Protocol: simulator.Responses, Models: []string{"gpt-5.5"}, Quota: quota},
		simulator.Account{Name: "go", Key: "canary-go", Protocol: simulator.Chat, Models: []string{"glm-5"}, Quota: spent},
		simulator.Account{Name: "claude", Key: "canary-claude", Protocol: simulator.Messages, Models: []string{"claude-sonnet-4-6"}, Quota: quota},
	)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	path = filepath.Join(t.TempDir(), "router_profiles.yaml")
	file := fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin_listen: "127.0.0.1:0"}
router: {cooldown_wait_seconds: 0}
pricing: {gpt-5.5: {input_cost_per_m: 1, output_cost_per_m: 10}}
roles: {orchestrator: {preferred_chain: [ag, codex, go, claude]}}
profiles:
  ag: {provider: antigravity, custom_base_url: "%[1]s", preferred_models: [gemini-3-pro], probe: {enabled: false}, auth_config: {access_token: canary-ag, project: p-1}}
  codex: {provider: openai-codex, custom_base_url: "%[1]s", preferred_models: [gpt-5.5], probe: {enabled: false}, auth_config: {access_token: canary-codex}}
  go: {provider: opencode-go, custom_base_url: "%[1]s", preferred_models: [glm-5], probe: {enabled: false}, auth_config: {api_key: canary-go}}
  claude: {provider: claude, custom_base_url: "%[1]s", preferred_models: [claude-sonnet-4-6], probe: {enabled: false}, auth_config: {access_token: canary-claude}}
`, base)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, sim
}

// turn is what is true after one request: who served it, who is to serve the next, and what has been counted so far.
type turn struct {
	served, active   string
	calls, failovers int64
}

// X01, S10, S12, S20, V10, V11, P28: the quotas of an Antigravity, a Codex, an OpenCode and a Claude account run out in turn. At
// every step the chain walks on, and the snapshot, the events, explain, the metrics and the telemetry tell the same.
func TestQuotasRunOutInTurn(t *testing.T) {
	t.Parallel()
	path, _ := plans(t)
	data := t.TempDir()
	p := start(t, env(t), "serve", "--config", path, "--data-dir", data)
	d := sit(t, p, env(t), path, data)
	events := d.follow("")
	d.seen("quotas that were asked for once", func(s gjson.Result) bool { return !s.Get("is_stale").Bool() }) // S16
	active := "ag"
	for i, want := range []turn{
		{"ag", "ag", 1, 0},
		{"ag", "ag", 2, 0},       // Antigravity says nothing of what is left
		{"codex", "codex", 4, 1}, // and so it is asked once more
		{"codex", "go", 5, 1},    // Codex has told of its empty window, and is not asked again
		{"go", "go", 6, 1},
		{"go", "go", 7, 1}, // OpenCode says nothing either
		{"claude", "claude", 9, 2},
		{"claude", "", 10, 2},
	} {
		_, body := p.do(http.MethodPost, p.proxy+"/r/orchestrator"+chatPath, autoBody, "")
		if served, rest, _ := strings.Cut(body, "|"); served != want.served {
			t.Fatalf("request %d: %s served, want %s: %s", i+1, served, want.served, rest)
		}
		seq := uint64(0)
		if want.active != active {
			told := events.until("ROUTING_UPDATED", func(e gjson.Result) bool { return e.Get("active_profile_id").String() == want.active })
			agent := events.until("AGENT_UPDATED", func(e gjson.Result) bool { return e.Get("role_id").String() == "orchestrator" })
			if agent.Get("agent.is_active").Bool() != (want.active != "") {
				t.Errorf("request %d: the agent is told as %s", i+1, agent)
			}
			seq = told.Get("seq").Uint()
			active = want.active
		}
		d.agrees(seq, want)
	}
	d.exhausted(p)
}

// agrees compares everything that tells of the role's account and of the calls so far.
func (d *desk) agrees(seq uint64, want turn) {
	d.t.Helper()
	snapshot := d.read(fmt.Sprint("/snapshot?min_seq=", seq))
	role := snapshot.Get("routing.orchestrator")
	if got := role.Get("active_profile_id").String(); got != want.active {
		d.t.Errorf("the snapshot has %q, want %q", got, want.active)
	}
	before := want.active != ""
	for i, n := range role.Get("nodes").Array() {
		id := n.Get("profile_id").String()
		before = before && id != want.active
		account := snapshot.Get("all_profiles." + id)
		spent := n.Get("status").String() == "quota_exhausted"
		if (account.Get("health_state").String() == "quota_exhausted") != spent || spent != strings.Contains(account.Get("quota_snapshot.buckets.#.status").Raw, "exhausted") {
			d.t.Errorf("step %d contradicts its account: %s\n%s", i, n, account)
		}
		if before != (n.Get("failover_reason").Type == gjson.String) || before && !strings.HasPrefix(n.Get("failover_reason").String(), []string{"Primary", "Fallback 1", "Fallback 2"}[min(i, 2)]+" исчерпал квоту") {
			d.t.Errorf("step %d: failover reason %s", i, n.Get("failover_reason"))
		}
		if n.Get("is_active").Bool() != (id == want.active) {
			d.t.Errorf("step %d: is_active %s", i, n.Get("is_active"))
		}
	}
	if got := d.post(http.StatusOK, "/explain", `{"role":"orchestrator"}`); got.Get("chosen").String() != want.active || got.Get("snapshot_seq").Uint() < seq {
		d.t.Errorf("explain chooses %q of snapshot %s, want %q of %d", got.Get("chosen"), got.Get("snapshot_seq"), want.active, seq)
	}
	d.soon("the calls", func() bool {
		all := d.read("/telemetry?role=orchestrator&window=1h")
		left := all.Get("failovers_count").Int()
		return all.Get("total_calls").Int() == want.calls && left == want.failovers && all.Get("failover_reasons.quota_exhausted").Int() == left
	})
	_, metrics := d.get(d.admn+"/metrics", "")
	for _, line := range []string{
		fmt.Sprintf(`hermes_hub_pipeline_active{profile=%q,role="orchestrator"} 1`, want.active),
		fmt.Sprintf(`hermes_hub_failovers_total{reason="quota_exhausted",role="orchestrator"} %d`, want.failovers),
		`hermes_hub_sse_subscribers{stream="events"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			d.t.Errorf("no %s in /metrics", line)
		}
	}
}

// exhausted compares the answer to a client, when nobody is left, with the snapshot: the instant is the same, and the trail has everybody's reason (P12, P28).
func (d *desk) exhausted(p *program) {
	d.t.Helper()
	res := p.ask(http.MethodPost, "/r/orchestrator"+chatPath, autoBody)
	body, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	told, trail := gjson.GetBytes(body, "error"), d.post(http.StatusOK, "/explain", fmt.Sprintf(`{"request_id":%q}`, res.Header.Get("X-Hub-Request-Id")))
	if got := trail.Get("candidates.#.verdict").Raw + trail.Get("candidates.#.reason").Raw; trail.Get("chosen").Type != gjson.Null ||
		got != `["skipped","skipped","skipped","skipped"]["quota_exhausted","quota_exhausted","quota_exhausted","quota_exhausted"]` {
		d.t.Errorf("the trail is %s", trail)
	}
	snapshot := d.read("/snapshot")
	reset, err := time.Parse(time.RFC3339, snapshot.Get("all_profiles.ag.model_states.gemini.reset_at").String())
	if err != nil {
		d.t.Fatal(err)
	}
	if res.StatusCode != http.StatusTooManyRequests || told.Get("type").String() != "usage_limit_reached" || told.Get("resets_at").Int() != reset.Unix() {
		d.t.Errorf("%d %s; the snapshot's first reset is at %d", res.StatusCode, body, reset.Unix())
	}
	if got := snapshot.Get("readiness.state").String() + " " + snapshot.Get("agents.0.status").String(); got != "critical quota_exhausted" {
		d.t.Errorf("readiness and agent: %s", got)
	}
	var spent []string
	for _, id := range []string{"ag", "codex", "go", "claude"} {
		q := snapshot.Get("quotas." + id)
		for _, b := range q.Get("buckets").Array() {
			switch b.Get("status").String() {
			case "exhausted":
				spent = append(spent, b.Get("id").String()+" "+b.Get("label_ru").String()+" "+q.Get("source").String())
			case "unknown": // Q13
				if b.Get("remaining_percent").Type != gjson.Null || b.Get("label_ru").String() != "Н/Д" {
					d.t.Errorf("unmeasured: %s", b)
				}
			}
		}
	}
	want := "antigravity.gemini.model_pool Осталось 0% runtime_event, codex.session Осталось 0% provider_api, opencode.5h Осталось 0% runtime_event, claude.session Осталось 0% provider_api"
	if got := strings.Join(spent, ", "); got != want {
		d.t.Errorf("spent:\n got %s\nwant %s", got, want)
	}
}
