package hub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// address is where the tests' compiler finds the schema.
const address = "https://hermes-hub.invalid/schema/hub-snapshot.json"

// compiled is the published schema, or the part of it that a fragment names.
func compiled(t testing.TB, fragment string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(address, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(address + fragment)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid checks a JSON text by a schema.
func valid(s *jsonschema.Schema, data []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func TestSchema(t *testing.T) {
	s := compiled(t, "")
	for name, scene := range scenes(t) {
		if err := valid(s, encoded(t, scene.build())); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := valid(s, encoded(t, Build(Sources{}, noon))); err != nil {
		t.Errorf("bootstrap: %v", err)
	}
}

// The schema is no rubber stamp: it refuses what lacks a member, has one more, or says null where there is always a value.
func TestSchemaRefuses(t *testing.T) {
	s, text := compiled(t, ""), string(encoded(t, team(t).build()))
	f := func(from, to string) {
		t.Helper()
		changed := strings.Replace(text, from, to, 1)
		if changed == text {
			t.Fatalf("%s is not there", from)
		}
		if valid(s, []byte(changed)) == nil {
			t.Errorf("%s for %s is taken", to, from)
		}
	}
	f(`"is_stale":false,`, ``)
	f(`"is_stale":false,`, `"is_stale":false,"secret":"x",`)
	f(`"health_state":"healthy"`, `"health_state":"auth_expired"`)
	f(`"timestamp":1`, `"timestamp":"1`)
	f(`"active_leases":2`, `"active_leases":null`)
	f(`"source":"provider_api"`, `"source":"runtime_error"`)
	f(`"reset_at":"2026-`, `"reset_at":"26-`)
}

// Whatever happens to the accounts, the picture keeps the contract, holds no NaN and contradicts itself nowhere.
func TestSchemaOfAnything(t *testing.T) {
	s := compiled(t, "")
	rapid.Check(t, func(rt *rapid.T) {
		scene := anything(t, rt)
		picture := scene.build()
		if err := valid(s, encoded(t, picture)); err != nil {
			rt.Fatal(err)
		}
		if err := contradiction(&picture); err != nil {
			rt.Fatal(err)
		}
		again := scene.build()
		if text, err := encode(&again); err != nil || string(encoded(t, picture)) != text {
			rt.Fatalf("the same sources give another picture, or are written otherwise: %v", err)
		}
	})
}

// contradiction finds two parts of a picture that cannot both be true.
func contradiction(s *HubSnapshot) error {
	listed := 0
	for provider, list := range s.ProfilesByProvider {
		listed += len(list)
		for _, p := range list {
			switch {
			case s.AllProfiles[p.ProfileID] != p || p.Provider != provider:
				return fmt.Errorf("%s is two", p.ProfileID)
			case s.Quotas[p.ProfileID] != p.QuotaSnapshot:
				return fmt.Errorf("%s has two quotas", p.ProfileID)
			case p.AuthState != Authenticated && (p.HealthState == HealthHealthy || p.HealthState == HealthQuota): // V04
				return fmt.Errorf("%s is %s and %s", p.ProfileID, p.AuthState, p.HealthState)
			}
		}
	}
	if listed != len(s.AllProfiles) || listed != s.Metrics.TotalProfiles || len(s.Quotas) != listed {
		return fmt.Errorf("%d, %d, %d and %d profiles", listed, len(s.AllProfiles), s.Metrics.TotalProfiles, len(s.Quotas))
	}
	ready := 0
	for _, a := range s.Agents {
		line := s.Routing[a.RoleID]
		if a.IsActive {
			ready++
		}
		passed := a.IsActive // no step before the active one was seen yet
		for i, n := range line.Nodes {
			if n.IsActive {
				passed = false
				if n.ProfileID != line.ActiveProfileID || n.ProfileID != a.AssignedProfileID.Value || a.RoutingPosition != position(i) || n.Status != a.Status {
					return fmt.Errorf("%s: step %d and the agent differ", a.RoleID, i)
				}
			}
			if n.FailoverReason.Known != passed {
				return fmt.Errorf("%s: step %d has the reason %q", a.RoleID, i, n.FailoverReason.Value)
			}
		}
		if a.IsActive != (line.ActiveProfileID != "") {
			return fmt.Errorf("%s: active or not", a.RoleID)
		}
	}
	if ready != s.Readiness.RolesReadyCount || len(s.Agents) != s.Readiness.TotalRoles {
		return fmt.Errorf("%d roles of %d are ready, not %d", ready, len(s.Agents), s.Readiness.RolesReadyCount)
	}
	return nil
}

// anything is a hub to which anything has happened.
func anything(t testing.TB, rt *rapid.T) *scene {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, label) }
	models := []string{"gpt-5.5", "claude-sonnet-4-6", "claude-opus-4-6", "gemini-3.1-pro", "deepseek-v4"}
	var profiles []router.Profile
	var ids []string
	for i := range rapid.IntRange(1, 6).Draw(rt, "profiles") {
		p := account(pick("provider", "antigravity", "openai-codex", "opencode-go", "claude", "grok", "deepseek", "ollama"), fmt.Sprintf("p%d", i), models[i%5], models[(i+1)%5])
		p.Enabled, p.ColdSpare = rapid.IntRange(0, 4).Draw(rt, "enabled") > 0, rapid.IntRange(0, 4).Draw(rt, "spare") == 0
		p.DisplayName, p.AccountID = pick("name", "", "Имя \"x\" <&>"), pick("account", "", "acct-123456789")
		profiles, ids = append(profiles, p), append(ids, p.ID)
	}
	var roles []router.Role
	for i := range rapid.IntRange(1, 3).Draw(rt, "roles") {
		roles = append(roles, role(fmt.Sprintf("r%d", i), rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 0, len(ids), rapid.ID).Draw(rt, "chain")...))
	}
	s := newScene(t, profiles, roles...)
	for range rapid.IntRange(0, 12).Draw(rt, "happenings") {
		happen(s, rt, rapid.SampledFrom(profiles).Draw(rt, "to"))
	}
	return s
}

// happen does something to an account.
func happen(s *scene, rt *rapid.T, p router.Profile) {
	id, model := p.ID, rapid.SampledFrom(p.PreferredModels).Draw(rt, "model")
	percent := rapid.Float64Range(-5, 130)
	switch rapid.IntRange(0, 5).Draw(rt, "what") {
	case 0:
		s.after(time.Duration(rapid.IntRange(0, 10000).Draw(rt, "seconds")) * time.Second)
	case 1:
		s.Identities[id] = Identity{
			State: rapid.SampledFrom([]AuthState{"", Authenticated, AuthRequired, AuthExpired, NotConfigured}).Draw(rt, "auth"),
			Email: rapid.SampledFrom([]string{"", "a@b.c", "@", "user@example.org"}).Draw(rt, "email"),
			Plan:  rapid.SampledFrom([]string{"", "plus", "?", " - "}).Draw(rt, "plan"), PlanSource: rapid.SampledFrom([]string{"", "jwt_claim"}).Draw(rt, "source"),
		}
	case 2:
		s.Looks[id] = Look{
			Outcome: rapid.SampledFrom([]LookOutcome{LookMeasured, LookNotExposed, LookAuth, LookFailed, LookUnconfigured}).Draw(rt, "look"),
			At:      s.now, Models: []string{"m", "m"}, UnavailableRU: rapid.SampledFrom([]string{"", "Нет"}).Draw(rt, "why"),
		}
	case 3:
		ids := append([]string{"x", "x.balance", "antigravity.gemini.gemini-2.5-pro", "claude.weekly.sonnet"}, windows[p.Provider.ID]...)
		b := quota.Bucket{ID: rapid.SampledFrom(ids).Draw(rt, "bucket"), ResetAt: s.now.Add(time.Duration(rapid.IntRange(-9000, 9000).Draw(rt, "reset")) * time.Second)}
		for _, n := range []*quota.Number{&b.UsedPercent, &b.RemainingPercent, &b.Limit, &b.Remaining} {
			if rapid.Bool().Draw(rt, "known") {
				*n = quota.Known(percent.Draw(rt, "value"))
			}
		}
		s.router.Measure(id, quota.Reading{Class: quota.OK, Scope: quota.ScopeAccount, Source: quota.SourceProviderAPI, Buckets: []quota.Bucket{b}}, s.now)
	default:
		s.refuse(id, model, quota.Reading{
			Class: rapid.SampledFrom([]quota.Class{
				quota.QuotaExhausted, quota.RateLimited, quota.Billing, quota.AuthInvalid, quota.Forbidden, quota.Overloaded, quota.Timeout, quota.ModelNotFound,
			}).Draw(rt, "class"),
			Scope:      rapid.SampledFrom([]quota.Scope{quota.ScopeAccount, quota.ScopeFamily, quota.ScopeModel, quota.ScopeProvider}).Draw(rt, "scope"),
			RetryAfter: time.Duration(rapid.IntRange(0, 5000).Draw(rt, "wait")) * time.Second,
			Reason:     "drawn",
		})
	}
}

// V17: whoever gets the schema has a copy of his own.
func TestSchemaIsACopy(t *testing.T) {
	mine := Schema()
	mine[0] = 'x'
	if !json.Valid(Schema()) {
		t.Error("the schema has changed")
	}
}
