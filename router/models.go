package router

import (
	"cmp"
	"maps"
	"slices"
)

// Models lists every model that a client may ask for by name: RoleModels of all roles.
func (t *Table) Models() []string { return t.RoleModels(t.Roles) }

// RoleModels lists every model that a client of the roles may ask for by name, each once: of the roles' enabled accounts
// in file order the preferred ones, the fallback ones, the names in the model map and what they stand for, then the models
// that the chains name and the roles' defaults. A name that is a role's is left out: asked for, it means the role.
func (t *Table) RoleModels(roles []*Role) []string {
	var models []string
	seen := make(map[string]bool)
	add := func(names ...string) {
		for _, m := range names {
			if _, isRole := t.names[m]; isRole || seen[m] || !Concrete(m) {
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
		for _, pl := range t.lines[r.ID].places {
			if t.Profiles[pl.profile].Enabled {
				add(pl.model.model)
			}
		}
		add(r.DefaultModel)
	}
	return models
}

// reachable reports whether profile i is a node of one of the roles, and not only for a model that the chain fixes.
func (t *Table) reachable(i int, roles []*Role) bool {
	return slices.ContainsFunc(roles, func(r *Role) bool {
		return slices.ContainsFunc(t.lines[r.ID].places, func(pl place) bool { return pl.profile == i && pl.model == (named{}) })
	})
}

// RoleWindow is the context window a client of the role can rely on, in tokens: the smallest known one of the role's
// enabled accounts with the models that they would be asked for; 0 = unknown.
func (t *Table) RoleWindow(r *Role) int {
	return t.window([]*Role{r}, func(pl place) (string, bool) {
		m := cmp.Or(pl.model.model, t.offers[pl.profile].first(), r.DefaultModel)
		return m, true
	})
}

// ModelWindow is the context window a client of the model can rely on, in tokens: the smallest known one of the enabled
// accounts that some role would ask for it; 0 = unknown.
func (t *Table) ModelWindow(model string) int {
	return t.window(t.Roles, func(pl place) (string, bool) {
		if pl.model.model != "" {
			return model, pl.model.model == model
		}
		m, ok := t.offers[pl.profile].serve(named{model: model})
		return m.model, ok
	})
}

// window is the smallest known window of the roles' enabled places, each with the model that asked gives it; 0 = unknown.
func (t *Table) window(roles []*Role, asked func(place) (model string, counts bool)) int {
	smallest := 0
	for _, r := range roles {
		for _, pl := range t.lines[r.ID].places {
			p := t.Profiles[pl.profile]
			model, counts := asked(pl)
			if !p.Enabled || !counts {
				continue
			}
			if w := p.Window(model); w > 0 && (smallest == 0 || w < smallest) {
				smallest = w
			}
		}
	}
	return smallest
}
