package configs

import (
	"slices"

	"hermes-hub/proxy"
)

// readClientKeys reads the list client_keys.
func (r *reader) readClientKeys(list node) []proxy.Key {
	var keys []proxy.Key
	for _, item := range list.items() {
		k := r.clientKey(item)
		for _, other := range keys {
			if k.Name != "" && other.Name == k.Name {
				item.fail(": the name %s is taken by another key", shown(k.Name))
			}
			if !k.Secret.Empty() && other.Secret.Equal(k.Secret) {
				item.fail(" has the same key as %s; each client needs its own", shown(other.Name))
			}
		}
		keys = append(keys, k)
	}
	return keys
}

func (r *reader) clientKey(n node) proxy.Key {
	b := n.block()
	defer b.done()
	b.hushed = true
	k := proxy.Key{Name: b.get("name").text("")}
	if k.Name == "" {
		b.fail(" has no name; logs and metrics need one")
	}
	secret, before := b.get("key"), len(r.errors)
	k.Secret = secret.secret(Error)
	if k.Secret.Empty() && len(r.errors) == before {
		secret.fail(" is empty; an empty key would let everybody in")
	}

	role := b.get("default_role")
	k.DefaultRole, _ = role.role()
	for _, item := range b.get("roles").items() {
		id, ok := item.role()
		switch {
		case item.blank():
			item.fail(" is empty, want a role")
		case ok && slices.Contains(k.Roles, id):
			item.fail(": the role %s stands twice", shown(id))
		case ok:
			k.Roles = append(k.Roles, id)
		}
	}
	if k.DefaultRole != "" && len(k.Roles) > 0 && !slices.Contains(k.Roles, k.DefaultRole) {
		role.fail(": %s is not among the roles that this key may use", k.DefaultRole)
	}
	return k
}
