package router

import (
	"maps"
	"slices"
)

// RoleModels lists every model that a client of the roles may ask for by name, each once: of the roles' enabled accounts
// in file order the preferred ones, the fallback ones, the names in the model map and what they stand for, then the models
// that the chains name and the roles' defaults. A name that is a role's is left out: asked for, it means the role.
func (t *Table) RoleModels(roles []*Role) []string {
	var models []string
	seen := make(map[string]bool)
	add := func(names ...string) {
		for _, m := range names {
			if _, isRole := t.names[m]; isRole || seen[m] || !concrete(m) {
				continue
			}
			seen[m] = true
			models = append(models, m)
		}
	}
	for i, p := range t.Profiles {
		if !p.Enabled || !t.reachable(i, roles) {
			continue
		}
		add(p.PreferredModels...)
		add(p.FallbackModels...)
		for _, requested := range slices.Sorted(maps.Keys(p.ModelMap)) {
			add(requested, p.ModelMap[requested])
		}
	}
	for _, r := range roles {
		for _, item := range r.Chain {
			if t.Profiles[t.profiles[item.Profile]].Enabled {
				add(item.Model)
			}
		}
		add(r.DefaultModel)
	}
	return models
}

// reachable reports whether profile i is a node of one of the roles.
func (t *Table) reachable(i int, roles []*Role) bool {
	return slices.ContainsFunc(roles, func(r *Role) bool {
		return slices.ContainsFunc(t.lines[r.ID].places, func(pl place) bool { return pl.profile == i })
	})
}
