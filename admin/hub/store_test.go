package hub

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
	"hermes-hub/telemetry"
	"hermes-hub/telemetry/host"
)

// S01, A07: the bootstrap has generation 0, is stale and can be read; the first accepted build is generation 1.
func TestStoreBootstrap(t *testing.T) {
	g := newStage(t, pair(t))
	s := decoded(t, g.store.Current(), g.now)
	if s.Generation != 0 || s.Seq != 0 || !s.IsStale || s.StoreEpoch != "e1" || len(s.AllProfiles) != 0 {
		t.Errorf("bootstrap: %+v", s)
	}
	g.refresh()
	if s = decoded(t, g.store.Current(), g.now); s.Generation != 1 || s.Seq != 2 || s.IsStale || len(s.AllProfiles) != 2 || s.Metrics.Generation != 1 || s.Metrics.Seq != 2 {
		t.Errorf("first: %+v", s)
	}
	if got := g.store.Current().ETag(); got != `"e1.1.2"` {
		t.Errorf("etag %s", got)
	}
}

// S02: a refresh that ends after a later one of the same key, or of everything, is dropped and counted.
func TestStoreLate(t *testing.T) {
	g := newStage(t, pair(t))
	first, second := g.store.Begin(t.Context(), KeyAll), g.store.Begin(t.Context(), KeyAll)
	third := g.store.Begin(t.Context(), "provider:grok")
	if err := g.store.Complete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	was := g.numbers()
	g.events()
	if err := g.store.Complete(t.Context(), first); !errors.Is(err, ErrLate) || g.numbers() != was {
		t.Errorf("late: %v, %s after %s", err, g.numbers(), was)
	}
	expectEvents(t, g.events(), `REFRESH_FAILED all_accounts:full superseded by a later refresh 1/1`)
	// S21: the same ticket is good for one picture only.
	if err := g.store.Complete(t.Context(), second); !errors.Is(err, ErrLate) {
		t.Errorf("the same ticket again: %v", err)
	}
	if err := g.store.Complete(t.Context(), third); err != nil {
		t.Errorf("a later refresh of another key: %v", err)
	}
	if got := decoded(t, g.store.Current(), g.now).Metrics.RefreshSkippedTotal; got != 2 {
		t.Errorf("%d were skipped", got)
	}
}

// S04: what a refresh finds out is published as it is found out, and that does not make the refresh late: it is applied and
// REFRESH_COMPLETED says so, last.
func TestStoreRefreshOverItsDeltas(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	g.events()
	ticket := g.store.Begin(t.Context(), "provider:openai-codex")
	g.after(1500 * time.Millisecond)
	g.measure("first", quota.SourceProviderAPI, "codex.session=50@60")
	g.sync()
	if err := g.store.Complete(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	expectEvents(t, g.events(), `
REFRESH_STARTED provider:openai-codex 1/3
QUOTA_UPDATED first 2/4
ROUTING_UPDATED orchestrator 2/4
AGENT_UPDATED orchestrator 2/4
REFRESH_COMPLETED 3/5`)
}

// S05: a picture is stale when the last refresh is more than 300 s ago. Deltas make it no fresher. A reader who holds it is
// told so, although it has no other number.
func TestStoreStale(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	f := func(after time.Duration, stale bool) {
		t.Helper()
		e, now := g.store.Current(), noon.Add(after)
		if got := decoded(t, e, now).IsStale; got != stale || e.Stale(now) != stale || e.Unchanged(e.ETag(), now) == stale {
			t.Errorf("after %s: stale %v, unchanged %v", after, got, e.Unchanged(e.ETag(), now))
		}
	}
	f(299*time.Second, false)
	f(300*time.Second, false)
	f(301*time.Second, true)
	g.after(200 * time.Second)
	g.ActiveCalls["first"] = 1
	g.sync()
	f(299*time.Second, false)
	f(301*time.Second, true)
	g.refresh()
	f(499*time.Second, false)
}

// S06: a delta changes what it is about and nothing else, and the picture of before stays as it was.
func TestStoreDelta(t *testing.T) {
	g := newStage(t, team(t))
	g.refresh()
	before := g.store.Current()
	was := decoded(t, before, g.now)
	g.measure("claude-work", quota.SourceProviderAPI, "claude.session=54@80")
	g.sync()
	is := decoded(t, g.store.Current(), g.now)
	for id, p := range is.AllProfiles {
		same := p.same(was.AllProfiles[id]) && p.QuotaSnapshot.same(was.AllProfiles[id].QuotaSnapshot)
		if same == (id == "claude-work") {
			t.Errorf("%s: same %v", id, same)
		}
	}
	if again := decoded(t, before, g.now); again.AllProfiles["claude-work"].QuotaSnapshot.Buckets[0].RemainingPercent.Value != 55 {
		t.Error("the picture of before has changed")
	}
	was2 := g.numbers()
	if g.sync(); g.numbers() != was2 {
		t.Error("nothing changed, and there is another picture")
	}
}

// S07: an account that is removed while a refresh is under way stays removed.
func TestStoreRemoval(t *testing.T) {
	g := newStage(t, newScene(t, []router.Profile{account("claude", "stays"), account("grok", "goes")}, role("orchestrator", "stays")))
	g.refresh()
	ticket := g.store.Begin(t.Context(), KeyAll)
	g.profiles = g.profiles[:1]
	g.reload()
	g.events()
	g.sync()
	if err := g.store.Complete(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	if s := decoded(t, g.store.Current(), g.now); len(s.AllProfiles) != 1 || len(s.ProfilesByProvider) != 1 || len(s.Quotas) != 1 {
		t.Errorf("it is back: %+v", s.AllProfiles)
	}
	expectEvents(t, g.events(), `
ACCOUNT_REMOVED goes 2/4
SYSTEM_READINESS_CHANGED 2/4
REFRESH_COMPLETED 3/5`)
}

// S10: a failover is told as it happened: who serves the role now, and why the other does not.
func TestStoreFailover(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	g.events()
	g.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(time.Hour)))
	g.sync()
	expectEvents(t, g.events(), `
ACCOUNT_UPDATED first 2/3
QUOTA_UPDATED first 2/3
ROUTING_UPDATED orchestrator 2/3
AGENT_UPDATED orchestrator 2/3
SYSTEM_READINESS_CHANGED 2/3`)
	if reason := decoded(t, g.store.Current(), g.now).Routing["orchestrator"].Nodes[0].FailoverReason.Value; reason != "Primary исчерпал квоту (429)" {
		t.Error(reason)
	}
}

// S11: a credential that was given or lost is told with the state and without the secret, also when the account stands as it
// did.
func TestStoreCredential(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	g.events()
	follower := g.store.Bus().Subscribe("")
	if err := g.store.CredentialChanged(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	expectEvents(t, g.events(), `ACCOUNT_AUTH_CHANGED first 2/3`)
	g.Identities["first"] = Identity{State: AuthRequired}
	if err := g.store.CredentialChanged(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	if got := g.events(); len(got) == 0 || got[0] != "ACCOUNT_AUTH_CHANGED first 3/4" || strings.Count(strings.Join(got, "\n"), "AUTH_CHANGED") != 1 {
		t.Errorf("%q", got)
	}
	events, _ := follower.take()
	if events[0].Data != `{"provider":"openai-codex","profile_id":"first","auth_state":"AUTHENTICATED","generation":2,"seq":3}` || strings.Contains(events[1].Data, "secret-key") {
		t.Errorf("%+v", events[:2])
	}
	if err := g.store.CredentialChanged(t.Context(), "nobody"); err != nil || g.numbers() != "3/4" {
		t.Errorf("of nobody: %v, %s", err, g.numbers())
	}
}

// A05: an action is answered by a picture with a higher seq, whether or not it changed anything.
func TestStorePublish(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	g.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(time.Hour)))
	g.sync()
	g.router.ClearCooldown("first")
	if err := g.store.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := decoded(t, g.store.Current(), g.now).AllProfiles["first"]; p.HealthState != HealthHealthy || g.numbers() != "3/4" {
		t.Errorf("%s %s", p.HealthState, g.numbers())
	}
	if err := g.store.Publish(t.Context()); err != nil || g.numbers() != "4/5" {
		t.Errorf("%v, %s", err, g.numbers())
	}
}

// S12: whoever waits for a seq is given a picture that has it, as soon as there is one.
func TestStoreAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStage(t, pair(t))
		got := make(chan uint64, 1)
		go func() {
			e, err := g.store.Await(t.Context(), 2)
			if err != nil {
				t.Error(err)
			}
			got <- e.Stamp().Seq
		}()
		synctest.Wait()
		g.refresh()
		if seq := <-got; seq != 2 {
			t.Errorf("seq %d", seq)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if _, err := g.store.Await(ctx, 99); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody has seq 99: %v", err)
		}
	})
}

// A builder that panics, or values that are no JSON, leave the last picture, and the refresh has failed. What was promised to
// followers holds: their events have no gap.
func TestStoreBuildFails(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	g.events()
	was := g.numbers()
	g.broken = "a bug"
	if err := g.store.Complete(t.Context(), g.store.Begin(t.Context(), KeyAll)); err == nil || g.numbers() != was {
		t.Errorf("%v, %s", err, g.numbers())
	}
	g.broken, g.machine = nil, &host.Metrics{CPUPercent: new(math.NaN())}
	if err := g.store.Publish(t.Context()); err == nil || g.numbers() != was {
		t.Errorf("%v, %s", err, g.numbers())
	}
	g.machine = nil
	expectEvents(t, g.events(), `
REFRESH_STARTED all_accounts:full 1/3
REFRESH_FAILED all_accounts:full build the snapshot: internal error 1/3`)
	g.after(200 * time.Second)
	g.broken = "a bug"
	_ = g.store.Complete(t.Context(), g.store.Begin(t.Context(), KeyAll)) // it fails as before
	g.broken, g.ActiveCalls["first"] = nil, 1
	g.sync()
	if g.after(101 * time.Second); !g.store.Current().Stale(g.now) {
		t.Error("a refresh that failed has made the picture fresh")
	}
	g.refresh()
	if g.numbers() != "3/7" {
		t.Error(g.numbers())
	}
}

// What a reader holds already is recognised in every form of If-None-Match. S13: the numbers that make him drop an older
// answer stand in the tag and in the body.
func TestEditionUnchanged(t *testing.T) {
	g := newStage(t, pair(t))
	g.refresh()
	f := func(held string, want bool) {
		t.Helper()
		if got := g.store.Current().Unchanged(held, g.now); got != want {
			t.Errorf("%s: %v", held, got)
		}
	}
	f(`"e1.1.2"`, true)
	f(`W/"e1.1.2"`, true)
	f(`"x", "e1.1.2"`, true)
	f(`*`, true)
	f(``, false)
	f(`"e1.1.1"`, false)
	f(`"e2.1.2"`, false)
}

// T02, T10, and the contract's sections 8.1 and 8.2: a window without calls and a machine that cannot be read are nulls, and
// what was measured stands in the snapshot under the contract's names.
func TestStoreMeasures(t *testing.T) {
	g := newStage(t, pair(t))
	schema := compiled(t, "")
	f := func(want string) {
		t.Helper()
		if err := g.store.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := g.store.Current().head
		if err := valid(schema, []byte(text+"false"+g.store.Current().tail)); err != nil {
			t.Error(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	f(`"telemetry":null,"host":null,`)
	window := telemetry.NewWindow(telemetry.WindowOptions{
		Labels: telemetry.Labels{Profiles: []string{"first"}, Roles: []string{"orchestrator"}}, Now: func() time.Time { return noon },
	})
	tell := func() { g.calls = new(window.Breakdown(noon, 0, telemetry.Filter{})) }
	g.machine = &host.Metrics{Source: host.Measurement}
	tell()
	f(`"call_share":null,"error_rate":null,"latency_p50_ms":null`)
	f(`"host":{"source":"host_measurement","has_data":false,"cpu_percent":null`)
	window.Observe(&telemetry.Exchange{
		Start: noon.Add(-time.Minute), Role: "orchestrator", Outcome: telemetry.Success, Total: time.Second,
		Attempts: []telemetry.Attempt{{Profile: "first", Provider: "openai-codex", Model: "gpt-5.5", Outcome: "ok", Duration: time.Second}},
	})
	tell()
	f(`"by_role":{"orchestrator":{"source":"own_measurement","has_data":true,"total_calls":1,"successful_calls":1`)
}

// V17: what one reader does to what he got, no other sees.
func TestStoreHandsOutCopies(t *testing.T) {
	g := newStage(t, team(t))
	g.refresh()
	e := g.store.Current()
	was := decoded(t, e, g.now)
	p, _ := e.Profile("claude-work")
	p.AssignedRoles[0], p.PreferredModels[0], p.ModelStates["claude"].State, p.QuotaSnapshot.Buckets[0].Status = "x", "x", "x", "x"
	quotas := e.Quotas()
	quotas[0].Buckets[0].ID = "x"
	if _, ok := e.Profile("nobody"); ok {
		t.Error("nobody is somebody")
	}
	again, _ := e.Profile("claude-work")
	if is := was.AllProfiles["claude-work"]; !is.same(&again) || !is.QuotaSnapshot.same(again.QuotaSnapshot) || e.Quotas()[0].Buckets[0].ID == "x" {
		t.Error("a reader has changed the store")
	}
}
