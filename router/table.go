package router

import (
	"cmp"
	"slices"
)

// Table is everything the configuration says about accounts and roles, cross-checked and worked out once. Immutable; made
// by NewTable only.
type Table struct {
	Settings Settings
	Profiles []*Profile // in file order
	Roles    []*Role    // in file order

	profiles map[string]int   // index by id
	names    map[string]*Role // by id and by alias
	offers   []offer          // by profile index
	lines    map[string]line  // by role id
	egress   []int            // by profile index: the number of what it shares with others, -1 = nothing
	egresses []egress         // by number
}

// line is the order in which a role's accounts are considered, before any request.
type line struct {
	places       []place
	defaultModel named // what an account without models of its own is asked for
}

// place is one (profile, model) of a line.
type place struct {
	profile int
	model   named // the chain item's; zero = decided per request
	tier    Tier
}

// NewTable cross-checks profiles and roles and works out each role's order. The error joins every finding, a line each.
func NewTable(profiles []Profile, roles []Role, s Settings) (*Table, error) {
	t := &Table{
		Settings: s,
		profiles: make(map[string]int, len(profiles)),
		names:    make(map[string]*Role, len(roles)),
		offers:   make([]offer, 0, len(profiles)),
		lines:    make(map[string]line, len(roles)),
	}
	for _, p := range profiles {
		t.Profiles = append(t.Profiles, &p)
		t.offers = append(t.offers, newOffer(&p))
	}
	for _, r := range roles {
		t.Roles = append(t.Roles, &r)
	}
	if err := t.index(); err != nil {
		return nil, err
	}
	for _, r := range t.Roles {
		t.lines[r.ID] = t.line(r)
		t.lookUpModels(t.lines[r.ID])
	}
	t.shareEgress()
	return t, nil
}

// line puts a role's accounts in order: the chain as written, then every enabled account that shares a fallback
// capability, in file order, then the cold spares of both kinds.
func (t *Table) line(r *Role) line {
	l := line{defaultModel: name(r.DefaultModel)}
	add := func(pl place) {
		if t.Profiles[pl.profile].ColdSpare {
			pl.tier = TierSpare
		}
		l.places = append(l.places, pl)
	}
	seen := make(map[ChainItem]bool, len(r.Chain))
	inChain := make([]bool, len(t.Profiles))
	for _, item := range r.Chain {
		if seen[item] {
			continue
		}
		seen[item] = true
		i := t.profiles[item.Profile]
		inChain[i] = true
		add(place{profile: i, model: name(item.Model), tier: TierChain})
	}
	for i, p := range t.Profiles {
		if p.Enabled && !inChain[i] && shareOne(p.Capabilities, r.FallbackCapabilities) {
			add(place{profile: i, tier: TierFallback})
		}
	}
	slices.SortStableFunc(l.places, func(a, b place) int {
		return cmp.Compare(spareLast(a.tier), spareLast(b.tier))
	})
	return l
}

func spareLast(t Tier) int {
	if t == TierSpare {
		return 1
	}
	return 0
}

func shareOne(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// Role finds a role by its id or one of its aliases.
func (t *Table) Role(idOrAlias string) (*Role, bool) {
	r, ok := t.names[idOrAlias]
	return r, ok
}

// ProfileIndex finds a profile's index by its id.
func (t *Table) ProfileIndex(id string) (int, bool) {
	i, ok := t.profiles[id]
	return i, ok
}

// Profile finds a profile by its id.
func (t *Table) Profile(id string) (*Profile, bool) {
	i, ok := t.profiles[id]
	if !ok {
		return nil, false
	}
	return t.Profiles[i], true
}

// Attempts is how many upstream attempts one request of the role may make, the first included; 0 = every candidate once.
// A role's own number beats the router's, and without failover there is exactly one.
func (t *Table) Attempts(r *Role) int {
	if !t.Settings.Failover {
		return 1
	}
	return cmp.Or(r.MaxAttempts, t.Settings.MaxAttempts)
}
