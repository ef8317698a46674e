package router

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RoleSource says which carrier decided the role; X-Hub-Role-Source reports it.
type RoleSource string

// The sources, in their order of precedence.
const (
	RoleExplicit        RoleSource = "explicit"         // path, header X-Hub-Role or body metadata.role
	RoleModelAlias      RoleSource = "model_alias"      // model "role:<id>", a bare role id or an alias
	RoleClientKey       RoleSource = "client_key"       // the key's default_role
	RoleModelMatch      RoleSource = "model_match"      // a role whose default_model is the model
	RoleSessionAffinity RoleSource = "session_affinity" // the role the session used last
	RoleDefaultFallback RoleSource = "default_fallback" // router.default_role
)

// Carriers are everything in a request that may name its role; "" is absent. Prompt text is not among them.
type Carriers struct {
	Path        string   // /r/{role}/…
	Header      string   // X-Hub-Role
	Metadata    string   // body metadata.role
	Model       string   // body model
	KeyDefault  string   // the client key's default_role
	SessionRole string   // Router.SessionRole of the request's session
	Allowed     []string // canonical ids the client key may use; empty = all
}

// Resolved is the role of a request, and what of its model is left to decide per node.
type Resolved struct {
	Role    *Role
	Source  RoleSource
	Model   string // as requested; "" where it only named a role
	AnyNode bool   // as in Query
}

// ErrNoRole means that nothing names a role and no default role is configured.
var ErrNoRole = errors.New("no role named, and router.default_role is not set")

// UnknownRoleError means that a carrier names a role that does not exist.
type UnknownRoleError struct {
	Carrier string // where the name stood, in the words of the contract
	Name    string
}

func (e *UnknownRoleError) Error() string {
	return fmt.Sprintf("%s names unknown role %q", e.Carrier, e.Name)
}

// RoleForbiddenError means that the client key may not use the role.
type RoleForbiddenError struct{ Role string }

func (e *RoleForbiddenError) Error() string {
	return fmt.Sprintf("this key may not use role %q", e.Role)
}

const rolePrefix = "role:"

// Resolve finds the role of a request, by the first carrier in the contract's order. Every carrier that can only mean a
// role must name a known one, also where another wins: a typo never passes silently. The error is an UnknownRoleError, a
// RoleForbiddenError or ErrNoRole.
func (t *Table) Resolve(c Carriers) (Resolved, error) {
	by, err := t.lookUp(c)
	if err != nil {
		return Resolved{}, err
	}
	res := Resolved{Model: c.Model, AnyNode: !Concrete(c.Model)}
	if by.model != nil {
		res.Model, res.AnyNode = "", true
	}
	allowed := func(r *Role) bool { return len(c.Allowed) == 0 || slices.Contains(c.Allowed, r.ID) }
	switch {
	case by.explicit != nil:
		res.Role, res.Source, res.AnyNode = by.explicit, RoleExplicit, true
	case by.model != nil:
		res.Role, res.Source = by.model, RoleModelAlias
	case by.key != nil:
		res.Role, res.Source, res.AnyNode = by.key, RoleClientKey, true
	default:
		res.Role, res.Source = t.implied(c, allowed)
	}
	if res.Role == nil {
		return Resolved{}, ErrNoRole
	}
	if !allowed(res.Role) {
		return Resolved{}, &RoleForbiddenError{res.Role.ID}
	}
	return res, nil
}

// byName are the roles that a request names outright, nil where it does not.
type byName struct {
	explicit *Role // path, header or metadata
	model    *Role // the model, where it means a role
	key      *Role // the client key's
}

// lookUp finds the role behind each carrier that names one.
func (t *Table) lookUp(c Carriers) (by byName, err error) {
	for _, n := range [...]struct {
		carrier, name string
		role          **Role
	}{
		{"path", c.Path, &by.explicit},
		{"header X-Hub-Role", c.Header, &by.explicit},
		{"metadata.role", c.Metadata, &by.explicit},
		{"the key's default_role", c.KeyDefault, &by.key},
	} {
		if n.name == "" {
			continue
		}
		r, ok := t.Role(n.name)
		if !ok {
			return byName{}, &UnknownRoleError{n.carrier, n.name}
		}
		if *n.role == nil {
			*n.role = r
		}
	}
	id, mustBeRole := strings.CutPrefix(c.Model, rolePrefix)
	r, ok := t.Role(id)
	if mustBeRole && !ok {
		return byName{}, &UnknownRoleError{"model", id}
	}
	by.model = r
	return by, nil
}

// implied is the role of a request that names none. What the key may not use is passed over, except for the default role:
// there is nothing after it.
func (t *Table) implied(c Carriers, allowed func(*Role) bool) (*Role, RoleSource) {
	for _, r := range t.Roles {
		if Concrete(c.Model) && r.DefaultModel == c.Model && allowed(r) {
			return r, RoleModelMatch
		}
	}
	if r, ok := t.Role(c.SessionRole); ok && allowed(r) {
		return r, RoleSessionAffinity
	}
	r, _ := t.Role(t.Settings.DefaultRole)
	return r, RoleDefaultFallback
}
