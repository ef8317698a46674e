package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"hermes-hub/proxy/simulator"
)

// pair is a served hub of two accounts with an operator at it.
func pair(t *testing.T, path, data string) *desk {
	t.Helper()
	getenv := env(t, "KEY_FIRST", "canary-first", "KEY_SECOND", "canary-second")
	return sit(t, start(t, getenv, "serve", "--config", path, "--data-dir", data), getenv, path, data)
}

func (d *desk) chat() string {
	d.t.Helper()
	status, body := d.do(http.MethodPost, d.proxy+"/r/orchestrator"+chatPath, chatBody, "")
	served, _, _ := strings.Cut(body, "|")
	return fmt.Sprint(status, " ", served)
}

// S18, T09, A05: numbers go on above those that were published before a restart, the calls of the day are remembered, and so
// is what an operator has switched. The file is as it was.
func TestPictureSurvivesRestart(t *testing.T) {
	t.Parallel()
	_, base := upstream(t)
	path, data := configFor(t, base, ""), t.TempDir()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := pair(t, path, data)
	events := d.follow("")
	for range 3 {
		if got := d.chat(); got != "200 first" {
			t.Fatal(got)
		}
	}
	off := d.post(http.StatusOK, "/profiles/first/disable", "")
	if off.Get("profile.enabled").Bool() || off.Get("profile.health_state").String() != "disabled" {
		t.Errorf("disabled: %s", off)
	}
	events.until("ROUTING_UPDATED", func(e gjson.Result) bool { return e.Get("active_profile_id").String() == "second" })
	d.post(http.StatusOK, "/profiles/second/set-main", "{}")
	if got := d.chat(); got != "200 second" {
		t.Error(got)
	}
	before := d.read("/snapshot")
	d.stop()

	d = pair(t, path, data)
	after := d.seen("an account", func(s gjson.Result) bool { return s.Get("all_profiles.first").Exists() })
	if a, b := after.Get("store_epoch").String(), before.Get("store_epoch").String(); a != b || a == "" {
		t.Errorf("epoch %q after %q", a, b)
	}
	for _, number := range []string{"generation", "seq"} {
		if after.Get(number).Uint() <= before.Get(number).Uint() {
			t.Errorf("%s %s after %s", number, after.Get(number), before.Get(number))
		}
	}
	if after.Get("all_profiles.first.enabled").Bool() || !after.Get("all_profiles.second.is_main_account").Bool() {
		t.Errorf("what was switched is forgotten: %s", after.Get("all_profiles"))
	}
	if got := d.read("/telemetry").Get("total_calls").Int(); got != 4 {
		t.Errorf("%d calls are remembered, want 4", got)
	}
	if name, _ := d.follow(events.last).next(); name != "RESYNC" {
		t.Errorf("who was away over a restart is sent %s", name)
	}
	on := d.post(http.StatusOK, "/profiles/first/enable", "")
	if got := d.chat(); got != "200 first" || !on.Get("profile.enabled").Bool() {
		t.Errorf("%s; %s", got, on)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(file) {
		t.Errorf("the file was written to: %v\n%s", err, now)
	}
}

// A05, Q24: what an operator does can be seen in a snapshot of a higher seq, and steers the next call. What is simulated says
// so wherever it shows.
func TestOperatorActs(t *testing.T) {
	t.Parallel()
	sim, base := upstream(t)
	d := pair(t, configFor(t, base, ""), t.TempDir())
	sim.Push("first", simulator.UsageLimit)
	if got := d.chat(); got != "200 second" {
		t.Fatal(got)
	}
	last := d.read("/snapshot").Get("seq").Uint()
	act := func(path, body string) gjson.Result {
		t.Helper()
		done := d.post(http.StatusOK, path, body)
		if seq := done.Get("seq").Uint(); seq <= last {
			t.Errorf("%s: seq %d after %d", path, seq, last)
		} else {
			last = seq
		}
		if seen := d.read("/snapshot").Get("seq").Uint(); seen < last {
			t.Errorf("%s: the snapshot has seq %d, its answer %d", path, seen, last)
		}
		return done
	}
	if got := act("/profiles/first/clear-cooldown", "").Get("profile.health_state").String(); got != "healthy" {
		t.Errorf("cleared: %s", got)
	}
	if got := d.chat(); got != "200 first" {
		t.Errorf("after clearing: %s", got)
	}

	made := act("/quotas/first/simulate", `{"bucket":"first.5h","remaining_percent":0,"reset_in_seconds":3600}`).Get("profile")
	if got := made.Get("health_label_ru").String(); got != "Квота исчерпана (симуляция)" {
		t.Errorf("simulated: %s", made)
	}
	if q := d.read("/quotas/first"); q.Get("source").String() != "simulated" || !q.Get("is_estimated").Bool() || q.Get("buckets.0.label_en").String() != "0% left (simulated)" {
		t.Errorf("simulated: %s", q)
	}
	if _, metrics := d.get(d.admn+"/metrics", ""); strings.Contains(metrics, `bucket="first.5h"`) {
		t.Error("a series cannot say that it is simulated")
	}
	if got := d.post(http.StatusOK, "/explain", `{"role":"orchestrator"}`).Get("candidates.0.evidence.source").String(); got != "simulated" {
		t.Errorf("explain rests it on %q", got)
	}
	node := d.read("/snapshot").Get("routing.orchestrator.nodes.0")
	if got := d.chat(); got != "200 second" || node.Get("failover_reason").String() != "Primary исчерпал квоту (симуляция)" {
		t.Errorf("%s is served; the node is %s", got, node)
	}
	status, body := d.do(http.MethodDelete, d.admn+"/admin/v1/quotas/first/simulate", "", d.token)
	if got := d.chat(); status != http.StatusOK || got != "200 first" || strings.Contains(body, "simul") {
		t.Errorf("%s after the simulation: %d %s", got, status, body)
	}

	if got := act("/profiles/first/test", ""); got.Get("outcome").String() != "not_probed" {
		t.Errorf("test: %s", got)
	}
	act("/profiles/first/refresh", "")
	act("/quotas/refresh", `{"profile":"second"}`)
	act("/quotas/refresh", "")
	act("/quotas/refresh", "") // every time, not only the first
	for _, path := range []string{"/profiles/nobody/enable", "/profiles/nobody/set-main", "/profiles/nobody/test", "/profiles/nobody/refresh", "/profiles/nobody/clear-cooldown"} {
		d.post(http.StatusNotFound, path, "")
	}
	d.post(http.StatusNotFound, "/quotas/nobody/simulate", `{"bucket":"a.5h","remaining_percent":1}`)
	d.post(http.StatusNotFound, "/quotas/refresh", `{"profile":"nobody"}`)
}

// Q24: an account that is below the threshold is passed over where the owner wants that, and comes back by itself.
func TestThresholdPassesOver(t *testing.T) {
	t.Parallel()
	_, base := upstream(t)
	d := pair(t, configFor(t, base, "router: {quota_threshold_percent: 20, quota_threshold_action: switch}\n"), t.TempDir())
	d.post(http.StatusOK, "/quotas/first/simulate", `{"bucket":"first.5h","remaining_percent":15}`)
	if got := d.chat(); got != "200 second" {
		t.Errorf("at 15%% of 20%%: %s", got)
	}
	if node := d.read("/snapshot").Get("routing.orchestrator.nodes.0"); node.Get("failover_reason").String() != "Primary близок к исчерпанию квоты (симуляция)" {
		t.Errorf("the node is %s", node)
	}
	d.post(http.StatusOK, "/quotas/first/simulate", `{"bucket":"first.5h","remaining_percent":25}`)
	if got := d.chat(); got != "200 first" {
		t.Errorf("at 25%%: %s", got)
	}
}

// L07, V12: a call under way is a lease, and shows as one wherever calls are counted; when it has ended, nowhere. The session
// that the role served last is its agent's.
func TestCallsUnderWayShow(t *testing.T) {
	t.Parallel()
	sim, base := upstream(t)
	d := pair(t, configFor(t, base, ""), t.TempDir())
	sim.Push("first", simulator.Stall)
	res := d.ask(http.MethodPost, "/r/orchestrator"+chatPath, strings.Replace(chatBody, "{", `{"stream":true,`, 1))
	counted := func(s gjson.Result) string {
		m := s.Get("metrics")
		return fmt.Sprint(m.Get("active_calls_total"), m.Get("active_calls_by_profile.first"), m.Get("active_calls_by_profile.second"),
			s.Get("all_profiles.first.active_leases"), s.Get("profiles_by_provider.openai-compatible.0.active_leases"))
	}
	d.seen("a call", func(s gjson.Result) bool { return counted(s) == "1 1 0 1 1" })
	res.Body.Close() // it is given up
	d.seen("no call", func(s gjson.Result) bool { return counted(s) == "0 0 0 0 0" })

	d.ask(http.MethodPost, "/r/orchestrator"+chatPath, chatBody, "X-Hub-Session", "s-7")
	d.seen("a session", func(s gjson.Result) bool { return s.Get("agents.0.session_id").String() == "s-7" })
	d.soon("no lease", func() bool { return d.read("/leases").Get("data.#").Int() == 0 })
	if got := d.read("/host"); got.Get("source").String() != "host_measurement" {
		t.Errorf("host: %s", got)
	}
	d.soon("telemetry of both calls", func() bool {
		got := d.read("/telemetry?profile=first&window=90m")
		return got.Get("total_calls").Int() == 2 && got.Get("window_seconds").Float() == 5400
	})
}
