package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// edit replaces a file as editors do: the new one is written whole beside it and takes its name.
func edit(t *testing.T, path string, change func(string) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, change(string(text)))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	draft := path + ".new"
	if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(draft, path); err != nil {
		t.Fatal(err)
	}
}

func replace(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

const (
	reloaded    = `"configuration reloaded"`
	notReloaded = `"configuration not reloaded`
)

// waitLog waits until the log has the words n times.
func (p *program) waitLog(words string, n int) {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for strings.Count(p.err.String(), words) < n {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s is not in the log %d times:\n%s", words, n, p.err)
		}
		time.Sleep(5 * time.Millisecond) // another goroutine of the program under test is at work
	}
}

// hangup asks for a reload and waits for it.
func (p *program) hangup(words string) {
	p.t.Helper()
	n := strings.Count(p.err.String(), words)
	p.hangups <- syscall.SIGHUP
	p.waitLog(words, n+1)
}

func (p *program) chat(path, key string) string {
	p.t.Helper()
	status, body := p.do(http.MethodPost, p.proxy+path+"/v1/chat/completions", chatBody, key)
	profile, _, _ := strings.Cut(body, "|")
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, profile))
}

func (p *program) metric(line string) bool {
	p.t.Helper()
	_, text := p.get(p.admn+"/metrics", "")
	return strings.Contains(text, line+"\n")
}

// The file is watched: written over, renamed over, and behind Kubernetes' symbolic links. A touch that changes no byte is
// no reload.
func TestReloadByWatching(t *testing.T) {
	_, base := upstream(t)
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	swapped := replace("[first, second]", "[second, first]")
	f := func(name string, path string, change func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			p := start(t, getenv, "serve", "--config", path, "--data-dir", t.TempDir())
			if got := p.chat("", ""); got != "200 first" {
				t.Fatal(got)
			}
			change(t)
			p.waitLog(reloaded, 1)
			if got := p.chat("", ""); got != "200 second" {
				t.Error(got)
			}
			p.stop()
			if n := strings.Count(p.err.String(), reloaded); n != 1 {
				t.Errorf("%d reloads", n)
			}
		})
	}
	path := configFor(t, base, "")
	f("renamed over", path, func(t *testing.T) { edit(t, path, swapped) })

	written := configFor(t, base, "")
	f("written over", written, func(t *testing.T) {
		text, err := os.ReadFile(written)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(written, []byte(swapped(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(written, time.Time{}, time.Now()); err != nil {
			t.Fatal(err)
		}
	})

	text, err := os.ReadFile(configFor(t, base, ""))
	if err != nil {
		t.Fatal(err)
	}
	mount := t.TempDir()
	publish := func(t *testing.T, version, text string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(mount, version), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(mount, version, "router_profiles.yaml"), text)
		if err := os.Symlink(version, filepath.Join(mount, "..next")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(mount, "..next"), filepath.Join(mount, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, "..1", string(text))
	link := filepath.Join(mount, "router_profiles.yaml")
	if err := os.Symlink(filepath.Join("..data", "router_profiles.yaml"), link); err != nil {
		t.Fatal(err)
	}
	f("a projected volume", link, func(t *testing.T) { publish(t, "..2", swapped(string(text))) })

	elsewhere := configFor(t, base, "")
	dotfile := filepath.Join(t.TempDir(), "router_profiles.yaml")
	if err := os.Symlink(elsewhere, dotfile); err != nil {
		t.Fatal(err)
	}
	f("a link to another folder", dotfile, func(t *testing.T) { edit(t, elsewhere, swapped) })
}

// F02: a bad file changes nothing but what tells of it: each problem once, with its line, and a metric. The next good file
// makes up for it.
func TestBadReloadKeepsTheOld(t *testing.T) {
	_, base := upstream(t)
	path := configFor(t, base, "")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !p.metric("hermes_hub_config_last_reload_successful 1") {
		t.Error("it begins with a reload that failed")
	}
	f := func(name, text, problem string) {
		t.Helper()
		n := strings.Count(p.err.String(), notReloaded)
		put(t, path, text)
		p.waitLog(notReloaded, n+1)
		p.waitLog(problem, 1)
		if got := p.chat("", ""); got != "200 first" {
			t.Errorf("%s: %s", name, got)
		}
		if !p.metric("hermes_hub_config_last_reload_successful 0") {
			t.Errorf("%s: the metric does not know", name)
		}
		if status, body := p.get(p.proxy+"/readyz", ""); status != 200 || !strings.Contains(body, "the last reload failed") {
			t.Errorf("%s: readyz %d %s", name, status, body)
		}
	}
	text := string(good)
	f("broken", strings.Replace(text, "roles:", "roles: [", 1), "broken YAML")
	f("two problems", replace("[first, second]", "[first, nobody]", "openai-compatible", "opena1")(text), "there is no profile nobody")
	f("a variable that is not set", strings.Replace(text, "${KEY_FIRST}", "${KEY_THIRD}", 1), "KEY_THIRD is not set")
	f("empty", "", "the file is empty")
	n := strings.Count(p.err.String(), notReloaded)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	p.waitLog(notReloaded, n+1)
	p.waitLog("cannot read", 1)
	put(t, path, strings.Replace(text, "[first, second]", "[second, first]", 1))
	p.waitLog(reloaded, 1)
	if got := p.chat("", ""); got != "200 second" || !p.metric("hermes_hub_config_last_reload_successful 1") {
		t.Errorf("after the good one: %s", got)
	}
	p.stop()
	for _, problem := range []string{"there is no profile nobody", "profiles.first.provider: there is no provider opena1", "KEY_THIRD is not set", "broken YAML", "the file is empty", "cannot read"} {
		if n := strings.Count(p.err.String(), problem); n != 1 {
			t.Errorf("%q was logged %d times:\n%s", problem, n, p.err)
		}
	}
	if strings.Contains(p.err.String(), "canary") {
		t.Error("a secret is in the log")
	}
}

// What a running hub cannot change is said and kept; a hangup reads again even where no byte has changed, because the file
// may name others that have.
func TestReloadNeedsARestart(t *testing.T) {
	sim, base := upstream(t)
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("canary-first"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := configFor(t, base, "")
	edit(t, path, replace("${KEY_FIRST}", "file:"+key))
	p := start(t, env(t, "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	edit(t, path, replace(`admin_listen: "127.0.0.1:0"`, `admin_listen: "0.0.0.0:7999", redis_url: "redis://x"`))
	p.waitLog(reloaded, 1)
	p.waitLog(`"needs a restart","key":"server.admin_listen"`, 1)
	p.waitLog(`"needs a restart","key":"server.redis_url"`, 1)
	if got := p.chat("", ""); got != "200 first" {
		t.Error(got)
	}
	if status, _ := p.get(p.admn+"/healthz", ""); status != 200 {
		t.Errorf("the admin plane answers %d", status)
	}
	if err := os.WriteFile(key, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.hangup(reloaded)
	if got := p.chat("", ""); got != "200 second" || sim.Total("first") != 1 {
		t.Errorf("with another key of the first account: %s", got)
	}
}

// A reload cannot open what a start would have refused to: the address stays, so the keys that guard it must.
func TestReloadNeverOpens(t *testing.T) {
	_, base := upstream(t)
	path := configFor(t, base, "client_keys: [{name: desk, key: canary-desk}]\n")
	edit(t, path, replace(`listen: "127.0.0.1:0", admin`, `listen: "0.0.0.0:0", admin`))
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	p.proxy = strings.Replace(p.proxy, "[::]", "127.0.0.1", 1) // everywhere is no address to ask at
	edit(t, path, replace("client_keys:", "#", `listen: "0.0.0.0:0", admin`, `listen: "127.0.0.1:0", admin`))
	p.waitLog("there are no client_keys", 1)
	if got := p.chat("", ""); got != "401" {
		t.Errorf("without a key: %s", got)
	}
	if got := p.chat("", "canary-desk"); got != "200 first" {
		t.Errorf("with the key: %s", got)
	}
}

// A reload forgets what was learnt of an account only when it is another one: other address, other credential.
func TestReloadKeepsStandings(t *testing.T) {
	sim, base := upstream(t)
	path := configFor(t, base, "")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second", "KEY_NEW", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	sim.Push("first", simulator.Status(429, `{"error":{"type":"usage_limit_reached","message":"limit","resets_in_seconds":7200}}`, nil))
	if got := p.chat("", ""); got != "200 second" {
		t.Fatal(got)
	}
	edit(t, path, replace("aliases: [manager]", "aliases: [manager, boss]"))
	p.waitLog(reloaded, 1)
	if got := p.chat("/r/boss", ""); got != "200 second" || sim.Total("first") != 1 {
		t.Errorf("after a reload that has nothing to do with it: %s", got)
	}
	edit(t, path, replace("${KEY_FIRST}", "${KEY_NEW}"))
	p.waitLog(`"reset":["first"]`, 1)
	if got := p.chat("", ""); got != "200 first" {
		t.Errorf("with another credential: %s", got)
	}
}

// A request that has begun ends under what it began with, although its account, its role and its key are gone from the
// file; its lease is counted until it ends.
func TestReloadLeavesRequestsAlone(t *testing.T) {
	sim := simulator.New(
		simulator.Account{Name: "first", Key: "canary-first", Models: []string{"sim-1"}, ChunkPace: 50 * time.Millisecond},
		simulator.Account{Name: "second", Key: "canary-second", Models: []string{"sim-1"}},
	)
	base, stop, err := sim.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	path := configFor(t, base, "client_keys: [{name: desk, key: canary-desk}, {name: lab, key: canary-lab}]\n")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	stream := strings.Replace(chatBody, "{", `{"stream":true,`, 1)
	done := make(chan string, 1)
	go func() {
		status, body := p.do(http.MethodPost, p.proxy+"/r/manager/v1/chat/completions", stream, "canary-desk")
		done <- fmt.Sprint(status, strings.HasPrefix(body, "first|"), strings.Contains(body, "data: [DONE]"))
	}()
	if err := sim.WaitCalls(t.Context(), "first", 1); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(text string) string {
		text, _, _ = strings.Cut(text, "roles:")
		return text + fmt.Sprintf(`client_keys: [{name: lab, key: canary-lab}]
roles: {other: {preferred_chain: [second]}}
profiles: {second: {provider: openai-compatible, custom_base_url: %q, preferred_models: [sim-1], auth_config: {api_key: "${KEY_SECOND}"}}}
router: {default_role: other}
`, base)
	})
	p.hangup(reloaded)
	if got := p.chat("/r/manager", "canary-lab"); got != "404" {
		t.Errorf("a role that is gone: %s", got)
	}
	if got := p.chat("", "canary-desk"); got != "401" {
		t.Errorf("a key that is gone: %s", got)
	}
	if got := p.chat("", "canary-lab"); got != "200 second" {
		t.Errorf("the new role: %s", got)
	}
	if got := <-done; got != "200 true true" {
		t.Errorf("the stream that was under way: %s", got)
	}
	if err := sim.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
	p.waitMetric(`hermes_hub_inflight_requests 0`)
}

func (p *program) waitMetric(line string) {
	p.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !p.metric(line) {
		if time.Now().After(deadline) {
			p.t.Fatalf("no %s in /metrics", line)
		}
		time.Sleep(5 * time.Millisecond) // a handler is ending
	}
}

// F05: under load from 40 clients, plain and streamed, the file is rewritten 20 times: order, accounts' slots, prices,
// deadlines. No request fails, no lease stays.
func TestReloadUnderLoad(t *testing.T) {
	sim, base := upstream(t)
	sim.Strict(t)
	path := configFor(t, base, "")
	p := start(t, env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second"), "serve", "--config", path, "--data-dir", t.TempDir())
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 40}}
	defer client.CloseIdleConnections()
	var load sync.WaitGroup
	var rewritten atomic.Bool
	var served atomic.Int64
	stream := strings.Replace(chatBody, "{", `{"stream":true,`, 1)
	for i := range 40 {
		body := []string{chatBody, stream}[i%2]
		load.Go(func() {
			for n := 0; n < 5 || !rewritten.Load(); n++ {
				res, err := client.Post(p.proxy+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				answer, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || res.StatusCode != 200 || i%2 == 1 && !strings.Contains(string(answer), "[DONE]") {
					t.Errorf("%d, %v: %s", res.StatusCode, err, answer)
				}
				served.Add(1)
			}
		})
	}
	for i := range 20 {
		chain := []string{"[first, second]", "[second, first]"}[i%2]
		put(t, path, strings.Replace(string(original), "[first, second]", chain, 1)+fmt.Sprintf(
			"pricing: {sim-1: {input_cost_per_m: %d}}\nrouter: {idle_timeout_seconds: %d, connect_timeout_seconds: %d}\n", i+1, 100+i, 10+i))
		p.hangup(reloaded)
	}
	rewritten.Store(true)
	load.Wait()
	if err := sim.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
	for _, profile := range []string{"first", "second"} {
		p.waitMetric(fmt.Sprintf("hermes_hub_leases{profile=%q} 0", profile))
		if sim.Total(profile) == 0 {
			t.Errorf("%s was never called", profile)
		}
	}
	if served.Load() < 200 || strings.Contains(p.err.String(), notReloaded) {
		t.Errorf("%d served; log:\n%s", served.Load(), p.err)
	}
}

// A look that showed what the look before showed asks for nothing: a broken file is complained about once, however often
// something else happens in its folder.
func TestChanged(t *testing.T) {
	path := configFor(t, "http://127.0.0.1:9/v1", "")
	f := configFile{path: path, getenv: env(t, "KEY_FIRST", "a", "KEY_SECOND", "b")}
	look := func(what string, change func(), changed, loads bool) {
		t.Helper()
		change()
		if f.changed() != changed {
			t.Errorf("%s: changed is %v", what, !changed)
		}
		if _, err := f.load(); (err == nil) != loads {
			t.Errorf("%s: %v", what, err)
		}
		if f.changed() {
			t.Errorf("%s: changed right after it was read", what)
		}
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	look("the first look", func() {}, true, true)
	look("nothing happened", func() {}, false, true)
	look("the same bytes in another file", func() { put(t, path, string(good)) }, false, true)
	look("broken", func() { put(t, path, "roles: [") }, true, false)
	look("still broken", func() {}, false, false)
	look("gone", func() { os.Remove(path) }, true, false) //nolint:errcheck // the look tells
	look("still gone", func() {}, false, false)
	look("back again", func() { put(t, path, string(good)) }, true, true)
}

func TestSettleIn(t *testing.T) {
	stirred := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var got []time.Duration
	for _, after := range []time.Duration{0, time.Second, 2700 * time.Millisecond, 2900 * time.Millisecond, time.Hour} {
		got = append(got, settleIn(stirred, stirred.Add(after)))
	}
	ms := time.Millisecond
	if want := []time.Duration{300 * ms, 300 * ms, 300 * ms, 100 * ms, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// L07: while a call runs, the lease table and the gauge show who holds what; when it has ended they show nothing. A viewer
// may look.
func TestLeasesAreShown(t *testing.T) {
	sim, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	p := start(t, getenv, "serve", "--config", path, "--data-dir", data)
	_, token, _ := command(t, getenv, "", "token", "--config", path, "--data-dir", data, "--scope", "viewer")
	f := func(want string) {
		t.Helper()
		status, body := p.get(p.admn+"/admin/v1/leases", strings.TrimSpace(token))
		got := regexp.MustCompile(`"(lease_id|run_id|started_at|instance)":"[^"]+"`).ReplaceAllString(strings.TrimSpace(body), `"$1":"…"`)
		if status != 200 || got != "|"+want {
			t.Errorf("%d\n got %s\nwant %s", status, got, want)
		}
	}
	const none = `{"data":[],"next_cursor":null}`
	f(none)
	sim.Push("first", simulator.Hang)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.proxy+"/r/manager/v1/chat/completions", strings.NewReader(chatBody))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Hub-Session", "s-1")
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	if err := sim.WaitCalls(t.Context(), "first", 1); err != nil {
		t.Fatal(err)
	}
	f(`{"data":[{"profile_id":"first","lease_id":"…","run_id":"…","session":"s-1","role":"orchestrator","started_at":"…","instance":"…"}],"next_cursor":null}`)
	if !p.metric(`hermes_hub_leases{profile="first"} 1`) {
		t.Error("the gauge does not show the lease")
	}
	leave()
	<-gone
	p.waitMetric(`hermes_hub_leases{profile="first"} 0`)
	f(none)
	if status, _ := p.get(p.admn+"/admin/v1/leases", ""); status != 401 {
		t.Errorf("without a token: %d", status)
	}
}
