package router

import "testing"

func TestNewTableRefuses(t *testing.T) {
	f := func(name string, profiles []Profile, roles []Role, s Settings, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			tab, err := NewTable(profiles, roles, s)
			if err == nil || tab != nil {
				t.Fatal("accepted")
			}
			equalText(t, err.Error(), want)
		})
	}
	a := account("a")
	ok := []Profile{a}
	f("nothing", nil, nil, Settings{}, `
		profiles: none is configured: at least one account is needed
		roles: none is configured: at least one role is needed`)
	f("missing profile in a chain", ok, []Role{role("r", "a", "b")}, Settings{},
		`role "r": preferred_chain names unknown profile "b"`)
	f("ids used twice", []Profile{a, a}, []Role{role("r", "a"), role("r", "a")}, Settings{}, `
		profile "a": the id is used twice
		role "r": the id is used twice`)
	f("no ids", []Profile{a, {}}, []Role{{}}, Settings{}, `
		profiles: number 2 has no id
		roles: number 1 has no id`)
	f("alias is a role", ok, []Role{{ID: "r", Aliases: []string{"s"}}, {ID: "s"}}, Settings{},
		`role "r": alias "s" is the id of a role`)
	f("alias twice", ok, []Role{{ID: "r", Aliases: []string{"x"}}, {ID: "s", Aliases: []string{"x"}}}, Settings{},
		`role "s": alias "x" is already an alias of role "r"`)
	f("alias empty", ok, []Role{{ID: "r", Aliases: []string{""}}}, Settings{}, `role "r": an alias is empty`)
	f("default role", ok, []Role{role("r", "a")}, Settings{DefaultRole: "x"},
		`router: default_role names unknown role "x"`)
	negative := account("n")
	negative.MaxConcurrency, negative.ContextLength = -1, -2
	f("negative limits", []Profile{negative}, []Role{{ID: "r", MaxAttempts: -3}}, Settings{MaxAttempts: -4}, `
		profile "n": max_concurrency is -1: must not be negative
		profile "n": context_length is -2: must not be negative
		role "r": max_failover_attempts is -3: must not be negative
		router: max_failover_attempts is -4: must not be negative`)
}

// P14: the fallbacks follow the chain in file order; P13: cold spares of both kinds come last; a chain that names an
// account twice has it once.
func TestTableOrder(t *testing.T) {
	spareInChain, spare, off, late := account("spare-1"), account("spare-2"), account("off"), account("late")
	spareInChain.ColdSpare, spare.ColdSpare, off.Enabled = true, true, false
	for _, p := range []*Profile{&spare, &off, &late} {
		p.Capabilities = []string{"coding", "vision"}
	}
	early, other := account("early"), account("other")
	early.Capabilities, other.Capabilities = []string{"coding"}, []string{"cooking"}
	r := role("r", "b", "spare-1", "a/m1", "a/m2", "b", "a/m1")
	r.FallbackCapabilities = []string{"reasoning", "coding"}
	tab := table(t, []Profile{early, account("a"), spare, account("b"), off, other, spareInChain, late}, r)

	var p Plan
	Choose(NewSnapshot(tab), Query{Role: tab.Roles[0], Model: "m"}, -1, Vacant{}, noon, &p)
	equalText(t, planText(&p), `
		0 b m usable
		1 a m1 usable
		2 a m2 usable
		3 early m usable
		4 late m usable
		5 spare-1 m usable
		6 spare-2 m usable`)
	tiers := []Tier{TierChain, TierChain, TierChain, TierFallback, TierFallback, TierSpare, TierSpare}
	for i, n := range p.Nodes {
		if n.Tier != tiers[i] || tab.Profiles[n.Index] != n.Profile {
			t.Errorf("node %d: tier %d, index %d", i, n.Tier, n.Index)
		}
	}
}

// P10, P11: a role's number beats the router's, absent means every candidate, no failover means one call.
func TestTableAttempts(t *testing.T) {
	f := func(failover bool, router, role, want int) {
		t.Helper()
		tab := tableWith(t, Settings{Failover: failover, MaxAttempts: router}, []Profile{account("a")}, Role{ID: "r", MaxAttempts: role})
		if got := tab.Attempts(tab.Roles[0]); got != want {
			t.Errorf("failover %v, router %d, role %d: got %d, want %d", failover, router, role, got, want)
		}
	}
	f(true, 0, 0, 0)
	f(true, 3, 0, 3)
	f(true, 3, 1, 1)
	f(true, 1, 4, 4)
	f(false, 0, 0, 1)
	f(false, 3, 4, 1)
}

func TestTableLookUps(t *testing.T) {
	tab := table(t, []Profile{account("a"), account("b")}, role("r", "a"))
	if i, ok := tab.ProfileIndex("b"); !ok || i != 1 {
		t.Errorf("index of b: %d %v", i, ok)
	}
	if p, ok := tab.Profile("b"); !ok || p != tab.Profiles[1] {
		t.Errorf("profile b: %v %v", p, ok)
	}
	if _, ok := tab.Profile("c"); ok {
		t.Error("profile c exists")
	}
	if _, ok := tab.Role("c"); ok {
		t.Error("role c exists")
	}
}
