package configs

import (
	"maps"
	"slices"

	"hermes-hub/router"
)

// readRoles reads the block roles and fills the table of names that other blocks use.
func (r *reader) readRoles(n node) []router.Role {
	var roles []router.Role
	b := n.block()
	if len(b.order) == 0 && (n.absent() || n.value.Kind == mappingKind) {
		n.r.fail(n.at, "roles: there are none; a file needs at least one role with a chain; %s", writeOne)
	}
	for _, id := range b.order { // first, so that no alias takes the name of a role further down
		r.roles[id] = id
	}
	for id, role := range b.each() {
		role.checkID("role", id)
		roles = append(roles, r.readRole(id, role.block()))
	}
	r.builtinAliases(roles)
	return roles
}

func (r *reader) readRole(id string, b *block) router.Role {
	defer b.done()
	role := router.Role{
		ID:                   id,
		Name:                 b.get("role_name").text(id),
		Chain:                chain(b.get("preferred_chain")),
		FallbackCapabilities: b.get("fallback_capabilities").texts(),
		MaxAttempts:          attempts(b.get("max_failover_attempts")),
		Affinity:             b.get("session_affinity_enabled").yes(true),
		DefaultModel:         b.get("default_model").text(""),
	}
	for _, item := range b.get("aliases").items() {
		alias := item.text("")
		owner, taken := r.roles[alias]
		switch {
		case item.blank():
			item.fail(" is empty, want a name")
		case alias == "" || !item.checkID("role", alias):
		case taken && owner == alias:
			item.fail(": %s is the id of a role", alias)
		case taken:
			item.fail(": %s is an alias of the role %s already", alias, owner)
		default:
			r.roles[alias] = id
			role.Aliases = append(role.Aliases, alias)
		}
	}
	return role
}

// chain reads a list of profile ids, or of {profile, model}.
func chain(n node) []router.ChainItem {
	var items []router.ChainItem
	for _, entry := range n.items() {
		item, ok := chainItem(entry)
		if ok && slices.Contains(items, item) {
			entry.fail(": %s stands twice in the chain", shown(item.Profile))
		} else if ok {
			items = append(items, item)
		}
	}
	return items
}

func chainItem(n node) (router.ChainItem, bool) {
	if n.value.Kind != mappingKind {
		id, ok := n.profile()
		return router.ChainItem{Profile: id}, ok
	}
	b := n.block()
	defer b.done()
	id, ok := b.get("profile").profile()
	return router.ChainItem{Profile: id, Model: b.get("model").text("")}, ok
}

// roleGroups are names that files of different ages use for one role, the latest first. The later Python hub renames
// its roles by this table.
var roleGroups = [][]string{
	{"manager", "orchestrator"},
	{"developer-1", "coder-primary", "coder"},
	{"developer-2", "coder-secondary"},
	{"code-reviewer", "reviewer"},
	{"researcher", "research"},
	{"tester", "fast", "general"},
}

// builtinAliases gives each declared role the other names of its group that nothing in the file has taken.
func (r *reader) builtinAliases(roles []router.Role) {
	for _, group := range roleGroups {
		declared := slices.IndexFunc(group, func(name string) bool { return r.roles[name] == name })
		if declared < 0 {
			continue
		}
		at := slices.IndexFunc(roles, func(role router.Role) bool { return role.ID == group[declared] })
		for _, name := range group {
			if _, taken := r.roles[name]; !taken {
				r.roles[name] = group[declared]
				roles[at].Aliases = append(roles[at].Aliases, name)
			}
		}
	}
}

// sortedKeys lists what a suggestion may name, in an order that does not change.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
