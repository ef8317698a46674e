package router

import (
	"fmt"
	"strings"
	"testing"

	"hermes-hub/quota"
)

// Among equals headroom that would expire soonest unused goes first: among fallbacks and among spares, never in the chain.
// What is not known, not worth it or without a reset stays behind in file order. Places in the role's order stay.
func TestHeadroom(t *testing.T) {
	var profiles []Profile
	for _, id := range []string{"c1", "c2", "f1", "f2", "f3", "f4", "s1", "s2"} {
		p := account(id, "gpt-1")
		p.Capabilities, p.ColdSpare = []string{"coding"}, id[0] == 's'
		profiles = append(profiles, p)
	}
	r := role("r", "c1", "c2")
	r.FallbackCapabilities = []string{"coding"}
	set := settings()
	set.Threshold.Percent = 10
	f := func(name, bound string, auto bool, want string, buckets map[string]quota.Bucket) {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			set := set
			set.AutoReturnPrimary = auto
			c := &clock{noon}
			s := &scene{New(tableWith(t, set, profiles, r), Options{Now: c.now}), t, c}
			for id, b := range buckets {
				s.measured("12:00", id, b)
			}
			var p Plan
			i, ok := s.Snapshot().Table.ProfileIndex(bound)
			if !ok {
				i = -1
			}
			Choose(s.Snapshot(), Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, i, Vacant{}, at(t, "12:01"), &p)
			var order []string
			for _, n := range p.Nodes {
				order = append(order, n.Profile.ID)
				if home := s.Snapshot().Table.Profiles[n.Position].ID; home != n.Profile.ID {
					t.Errorf("%s stands at the place of %s", n.Profile.ID, home)
				}
			}
			if got := strings.Join(order, " "); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	w := func(percent float64, reset string) quota.Bucket { return window(t, "x.7d", percent, reset) }
	f("nothing known", "", false, "c1 c2 f1 f2 f3 f4 s1 s2", nil)
	f("soonest first", "", false, "c1 c2 f4 f2 f1 f3 s1 s2", map[string]quota.Bucket{"f2": w(80, "18:00"), "f4": w(20, "15:00")})
	f("the chain is the owner's", "", false, "c1 c2 f1 f2 f3 f4 s1 s2", map[string]quota.Bucket{"c2": w(80, "13:00")})
	f("spares among themselves", "", false, "c1 c2 f1 f2 f3 f4 s2 s1", map[string]quota.Bucket{"s2": w(80, "13:00")})
	f("not worth it", "", false, "c1 c2 f3 f1 f2 f4 s1 s2", map[string]quota.Bucket{"f2": w(10, "13:00"), "f3": w(11, "14:00")})
	f("empty", "", false, "c1 c2 f3 f1 f2 f4 s1 s2", map[string]quota.Bucket{"f1": w(0, "13:00"), "f3": w(50, "14:00")})
	f("no reset", "", false, "c1 c2 f3 f1 f2 f4 s1 s2", map[string]quota.Bucket{"f2": w(90, ""), "f3": w(50, "14:00")})
	f("affinity beats it", "f1", false, "f1 c1 c2 f4 f2 f3 s1 s2", map[string]quota.Bucket{"f4": w(20, "15:00")})
	f("but not the primary", "f1", true, "c1 c2 f4 f1 f2 f3 s1 s2", map[string]quota.Bucket{"f4": w(20, "15:00")})
}

// Without a chain there is no primary to return to: a session stays where it is although headroom elsewhere comes first.
func TestHeadroomMovesNoSession(t *testing.T) {
	a, b := account("a", "gpt-1"), account("b", "gpt-1")
	a.Capabilities, b.Capabilities = []string{"coding"}, []string{"coding"}
	r := Role{ID: "r", FallbackCapabilities: []string{"coding"}, Affinity: true}
	c := &clock{noon}
	s := &scene{New(table(t, []Profile{a, b}, r), Options{Now: c.now}), t, c}
	s.measured("12:00", "b", window(t, "x.7d", 50, "15:00"))
	s.Bind("s", "r", "a")
	for session, want := range map[string]string{"s": "[a b]", "new": "[b a]"} {
		var p Plan
		s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1", Session: session}, &p)
		if got := fmt.Sprint([]string{p.Nodes[0].Profile.ID, p.Nodes[1].Profile.ID}); got != want {
			t.Errorf("%s: %s, want %s", session, got, want)
		}
	}
}
