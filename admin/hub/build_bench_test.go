package hub

import (
	"fmt"
	"testing"

	"hermes-hub/quota"
	"hermes-hub/router"
)

// crowd is a hub of so many accounts in ten roles, all of them measured, every seventh out of quota.
func crowd(t testing.TB, n int) *scene {
	providers := []string{"antigravity", "openai-codex", "opencode-go", "claude", "grok"}
	models := []string{"gemini-3.1-pro", "gpt-5.5", "deepseek-v4", "claude-sonnet-4-6", "grok-5"}
	var profiles []router.Profile
	chains := make([][]string, 10)
	for i := range n {
		id := fmt.Sprintf("account-%03d", i)
		profiles = append(profiles, account(providers[i%5], id, models[i%5]))
		chains[i%10] = append(chains[i%10], id)
	}
	var roles []router.Role
	for i, chain := range chains {
		roles = append(roles, role(fmt.Sprintf("role-%d", i), chain...))
	}
	s := newScene(t, profiles, roles...)
	for i, p := range profiles {
		for _, id := range windows[p.Provider.ID] {
			s.measure(p.ID, quota.SourceProviderAPI, fmt.Sprintf("%s=%d@90", id, 20+i%70))
		}
		if i%7 == 0 {
			s.refuse(p.ID, p.PreferredModels[0], spent(windows[p.Provider.ID][0], noon.Add(1e12)))
		}
		s.Identities[p.ID] = Identity{State: Authenticated, Email: p.ID + "@example.org", Plan: "pro", PlanSource: "jwt_claim"}
		s.Looks[p.ID] = Look{Outcome: LookMeasured, At: noon, Models: models}
	}
	return s
}

// The contract's number is 5 ms for 500 profiles.
func BenchmarkBuild500(b *testing.B) {
	s := crowd(b, 500)
	b.ReportAllocs()
	for b.Loop() {
		s.build()
	}
}

func BenchmarkEncode500(b *testing.B) {
	s := crowd(b, 500).build()
	b.ReportAllocs()
	for b.Loop() {
		data, err := encode(&s)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
}
