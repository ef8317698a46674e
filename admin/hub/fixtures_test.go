package hub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// noon is when the tests happen.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// scene is a router with the rest of the sources, and a clock.
type scene struct {
	t        testing.TB
	now      time.Time
	router   *router.Router
	profiles []router.Profile
	roles    []router.Role
	settings router.Settings
	Sources
}

// account is an enabled account of a provider with a credential.
func account(provider, id string, models ...string) router.Profile {
	p, ok := router.ProviderByID(provider)
	if !ok {
		panic("no provider " + provider)
	}
	return router.Profile{
		ID: id, Provider: p, Enabled: true, Protocol: p.Protocol, PreferredModels: models, BaseURL: "https://" + id + ".test",
		Credential: router.NewSecret("secret-key-of-" + id),
	}
}

// role is a role over a chain, given as "profile" or "profile/model".
func role(id string, profiles ...string) router.Role {
	r := router.Role{ID: id, Name: id, Affinity: true}
	for _, p := range profiles {
		profile, model, _ := strings.Cut(p, "/")
		r.Chain = append(r.Chain, router.ChainItem{Profile: profile, Model: model})
	}
	return r
}

func settings() router.Settings {
	return router.Settings{
		Failover: true, AutoReturnPrimary: true, AffinityTTL: 30 * time.Minute,
		Protocols: []router.Protocol{router.ProtocolChat, router.ProtocolMessages, router.ProtocolResponses, router.ProtocolGemini, router.ProtocolCloudCode},
		Policy:    quota.Policy{CooldownBase: 5 * time.Minute, CooldownMax: time.Hour, QuotaCooldown: 30 * time.Minute, RateLimitCooldown: time.Minute},
	}
}

func newScene(t testing.TB, profiles []router.Profile, roles ...router.Role) *scene {
	t.Helper()
	s := &scene{t: t, now: noon, profiles: profiles, roles: roles, settings: settings()}
	s.Identities, s.Looks, s.ActiveCalls, s.Sessions = map[string]Identity{}, map[string]Look{}, map[string]int{}, map[string]string{}
	s.router = router.New(s.table(), router.Options{Now: func() time.Time { return s.now }})
	for _, p := range profiles {
		s.Identities[p.ID] = Identity{State: Authenticated}
	}
	return s
}

func (s *scene) table() *router.Table {
	s.t.Helper()
	t, err := router.NewTable(s.profiles, s.roles, s.settings)
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

// reload puts the router under the scene's profiles and roles as they are now.
func (s *scene) reload() { s.router.Swap(s.table()) }

// after moves the clock.
func (s *scene) after(d time.Duration) { s.now = s.now.Add(d) }

// build is the picture as of now.
func (s *scene) build() HubSnapshot {
	src := s.Sources
	src.Router = s.router.Snapshot()
	return Build(src, s.now)
}

// refuse is a failed call.
func (s *scene) refuse(profile, model string, rd quota.Reading) {
	rd.Failover = true
	if rd.Source == "" {
		rd.Source = quota.SourceRuntimeEvent
	}
	if rd.Scope == "" {
		rd.Scope = quota.ScopeAccount
	}
	s.router.Observe(profile, quota.Call{Model: model, Family: quota.Family(model), StartedAt: s.now, At: s.now}, rd)
}

// spent is a 429 for quota that names a bucket and its reset.
func spent(bucket string, reset time.Time) quota.Reading {
	return quota.Reading{
		Class: quota.QuotaExhausted, ResetAt: reset, Reason: "code:usage_limit_reached",
		Buckets: []quota.Bucket{{ID: bucket, UsedPercent: quota.Known(100), RemainingPercent: quota.Known(0), ResetAt: reset}},
	}
}

// measure is what a usage endpoint says: buckets as "id=remaining@reset in minutes".
func (s *scene) measure(profile string, source quota.Source, buckets ...string) {
	s.t.Helper()
	rd := quota.Reading{Class: quota.OK, Scope: quota.ScopeAccount, Source: source}
	for _, text := range buckets {
		var id string
		var left float64
		var minutes int
		if _, err := fmt.Sscanf(strings.NewReplacer("=", " ", "@", " ").Replace(text), "%s %g %d", &id, &left, &minutes); err != nil {
			s.t.Fatalf("bucket %q: %v", text, err)
		}
		b := quota.Bucket{ID: id, UsedPercent: quota.Known(100 - left), RemainingPercent: quota.Known(left)}
		if minutes != 0 {
			b.ResetAt = s.now.Add(time.Duration(minutes) * time.Minute)
		}
		rd.Buckets = append(rd.Buckets, b)
	}
	s.router.Measure(profile, rd, s.now)
}

// pair is a role over a Codex account with an Antigravity one behind it.
func pair(t testing.TB) *scene {
	return newScene(t, []router.Profile{account("openai-codex", "first", "gpt-5.5"), account("antigravity", "second", "gemini-3.1-pro")},
		role("orchestrator", "first", "second"))
}
