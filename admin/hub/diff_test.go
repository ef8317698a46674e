package hub

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// differences are the events between two pictures, each as "NAME whom".
func differences(before, after HubSnapshot) string {
	var all []string
	for _, e := range Diff(&before, &after) {
		var p struct {
			ProfileID string `json:"profile_id"`
			RoleID    string `json:"role_id"`
		}
		data, _ := json.Marshal(e)
		_ = json.Unmarshal(data, &p)
		all = append(all, strings.TrimSpace(string(e.Name())+" "+p.ProfileID+p.RoleID))
	}
	return strings.Join(all, ", ")
}

// What passes with time alone is no event; what the end of a time brings about is.
func TestDiffOfTime(t *testing.T) {
	s := pair(t)
	s.measure("second", quota.SourceProviderAPI, "antigravity.gemini.5h=40@60")
	s.refuse("first", "gpt-5.5", spent("codex.session", noon.Add(10*time.Minute)))
	before := s.build()
	s.after(9 * time.Minute)
	s.Looks["first"] = Look{Outcome: LookMeasured, At: s.now}
	s.measure("second", quota.SourceProviderAPI, "antigravity.gemini.5h=40@51")
	if got := differences(before, s.build()); got != "" {
		t.Errorf("while time passes: %s", got)
	}
	s.after(time.Minute)
	if got := differences(before, s.build()); got != "ACCOUNT_UPDATED first, QUOTA_UPDATED first, ROUTING_UPDATED orchestrator, AGENT_UPDATED orchestrator, SYSTEM_READINESS_CHANGED" {
		t.Errorf("at the reset: %s", got)
	}
}

// Each kind of change and its events.
func TestDiff(t *testing.T) {
	f := func(change func(*scene), want string) {
		t.Helper()
		s := newScene(t, []router.Profile{account("claude", "a", "claude-opus-4-6"), account("grok", "b", "grok-5"), account("grok", "c", "grok-5")},
			role("orchestrator", "a", "b"), role("fast", "b"))
		before := s.build()
		change(s)
		if got := differences(before, s.build()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	f(func(*scene) {}, "")
	f(func(s *scene) { s.ActiveCalls["a"] = 1 }, "ACCOUNT_UPDATED a")
	f(func(s *scene) { s.Sessions["fast"] = "x" }, "AGENT_UPDATED fast")
	f(func(s *scene) { s.measure("c", quota.SourceProviderAPI, "grok.weekly=3@60") }, "QUOTA_UPDATED c")
	f(func(s *scene) { s.Looks["c"] = Look{Outcome: LookFailed, At: noon, UnavailableRU: "Нет"} }, "QUOTA_UPDATED c")
	f(func(s *scene) { s.Identities["c"] = Identity{State: AuthExpired} }, "ACCOUNT_AUTH_CHANGED c, ACCOUNT_UPDATED c, SYSTEM_READINESS_CHANGED")
	f(func(s *scene) { s.profiles = s.profiles[:2]; s.reload() }, "ACCOUNT_REMOVED c, SYSTEM_READINESS_CHANGED")
	f(func(s *scene) { s.profiles = append(s.profiles, account("grok", "d", "grok-5")); s.reload() }, "ACCOUNT_ADDED d, SYSTEM_READINESS_CHANGED")
	f(func(s *scene) { s.roles = append(s.roles, role("reviewer", "a")); s.reload() },
		"ACCOUNT_UPDATED a, ROUTING_UPDATED reviewer, AGENT_UPDATED reviewer, SYSTEM_READINESS_CHANGED")
	f(func(s *scene) { s.roles = s.roles[:1]; s.reload() }, "ACCOUNT_UPDATED b, SYSTEM_READINESS_CHANGED, RESYNC")
	f(func(s *scene) { s.profiles[0].Main = true; s.reload() }, "ACCOUNT_UPDATED a")
}

// S09: every event carries generation and seq, and its payload is the contract's.
func TestEventPayloads(t *testing.T) {
	g := newStage(t, team(t))
	seen, schemas := map[EventName]bool{}, map[EventName]*jsonschema.Schema{}
	check := func() {
		for {
			events, _ := g.follower.take()
			if len(events) == 0 {
				return
			}
			for _, e := range events {
				seen[e.Name] = true
				if schemas[e.Name] == nil {
					schemas[e.Name] = compiled(t, "#/$defs/"+string(e.Name))
				}
				if err := valid(schemas[e.Name], []byte(e.Data)); err != nil {
					t.Errorf("%s: %v\n%s", e.Name, err, e.Data)
				}
			}
		}
	}
	g.refresh()
	check()
	g.profiles, g.roles = append(g.profiles[1:], account("deepseek", "new", "deepseek-v4")), []router.Role{role("orchestrator", "claude-work")}
	g.reload()
	g.Identities["claude-work"] = Identity{State: AuthRequired}
	g.measure("claude-work", quota.SourceProviderAPI, "claude.session=1@60")
	g.sync()
	check()
	g.store.Fail(t.Context(), g.store.Begin(t.Context(), "provider:grok"), ErrLate)
	check()
	for _, name := range []EventName{
		EventAccountUpdated, EventAccountAdded, EventAccountRemoved, EventAccountAuthChanged, EventQuotaUpdated, EventRoutingUpdated,
		EventAgentUpdated, EventReadinessChanged, EventRefreshStarted, EventRefreshCompleted, EventRefreshFailed, EventResync,
	} {
		if !seen[name] {
			t.Errorf("%s was never published", name)
		}
	}
}

// passes are the members that merely pass with time, or that another event tells.
const passes = `CooldownRemainingSec LastCheckedAt QuotaSnapshot RemainingSec LabelRU LabelEN FetchedAt ResetInSeconds ResetLabelRU ResetLabelEN`

// Every member of a model counts as a change, those that pass left out: none is forgotten in the comparisons.
func TestDiffForgetsNothing(t *testing.T) {
	changed := func(v reflect.Value) {
		for v.Kind() == reflect.Struct {
			v = v.Field(v.NumField() - 1) // of Maybe: Known
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		default:
			v.SetZero()
		}
	}
	f := func(model any, label bool, same func() bool) {
		t.Helper()
		v := reflect.ValueOf(model).Elem()
		for i := range v.NumField() {
			name, was := v.Type().Field(i).Name, v.Field(i).Interface()
			if name == "FetchedAt" || name == "QuotaSnapshot" {
				continue
			}
			changed(v.Field(i))
			if want := slices.Contains(strings.Fields(passes), name) && (label || !strings.HasPrefix(name, "Label")); same() != want {
				t.Errorf("%s.%s: same is %v", v.Type().Name(), name, !want)
			}
			v.Field(i).Set(reflect.ValueOf(was))
		}
	}
	x, y := team(t).build(), team(t).build()
	account, other := x.AllProfiles["claude-work"], y.AllProfiles["claude-work"]
	f(account, false, func() bool { return account.same(other) })
	f(account.ModelStates["claude"], true, func() bool { return account.same(other) })
	f(account.QuotaSnapshot, false, func() bool { return account.QuotaSnapshot.same(other.QuotaSnapshot) })
	f(&account.QuotaSnapshot.Buckets[0], false, func() bool { return account.QuotaSnapshot.same(other.QuotaSnapshot) })
	line, lines := x.Routing["orchestrator"], y.Routing["orchestrator"]
	f(line, false, func() bool { return line.same(lines) })
	f(&line.Nodes[0], false, func() bool { return line.same(lines) })
	f(&x.Agents[0], false, func() bool { return x.Agents[0].same(y.Agents[0]) })
}

// replica is what a follower makes of a snapshot and the events behind it.
type replica struct {
	profiles map[string]*ProfileViewModel
	routing  map[string]*RolePipeline
	agents   map[string]*AgentViewModel
	ready    *SystemReadiness
}

func replicaOf(s HubSnapshot) *replica {
	r := &replica{s.AllProfiles, s.Routing, map[string]*AgentViewModel{}, &s.Readiness}
	for i := range s.Agents {
		r.agents[s.Agents[i].RoleID] = &s.Agents[i]
	}
	return r
}

// apply follows the events, as a user interface would.
func (r *replica) apply(events []Payload) {
	for _, e := range events {
		switch e := e.(type) {
		case *AccountAdded:
			r.profiles[e.ProfileID] = e.Profile
		case *AccountUpdated:
			r.profiles[e.ProfileID] = e.Profile
		case *AccountRemoved:
			delete(r.profiles, e.ProfileID)
		case *AccountAuthChanged:
			p := r.profiles[e.ProfileID].clone()
			p.AuthState = e.AuthState
			r.profiles[e.ProfileID] = &p
		case *QuotaUpdated:
			p := r.profiles[e.ProfileID].clone()
			p.QuotaSnapshot = e.QuotaSnapshot
			r.profiles[e.ProfileID] = &p
		case *RoutingUpdated:
			r.routing[e.RoleID] = e.Pipeline
		case *AgentUpdated:
			r.agents[e.RoleID] = e.Agent
		case *ReadinessChanged:
			r.ready = e.Readiness
		}
	}
}

// Whoever follows the events has the next picture, whatever happened in between.
func TestDiffLeadsToTheNextPicture(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anything(t, rt)
		before := s.build()
		for range rapid.IntRange(0, 6).Draw(rt, "more") {
			happen(s, rt, rapid.SampledFrom(s.profiles).Draw(rt, "to"))
		}
		if rapid.Bool().Draw(rt, "reload") {
			s.profiles = append(s.profiles, account("openai", "late", "gpt-5.5"))
			s.reload()
		}
		after := s.build()
		r := replicaOf(before)
		r.apply(Diff(&before, &after))
		followed := HubSnapshot{AllProfiles: r.profiles, Routing: r.routing, Readiness: *r.ready}
		for _, a := range after.Agents {
			followed.Agents = append(followed.Agents, *r.agents[a.RoleID])
		}
		if left := Diff(&followed, &after); len(left) > 0 {
			rt.Fatalf("the follower lacks %s %+v", left[0].Name(), left[0])
		}
	})
}
