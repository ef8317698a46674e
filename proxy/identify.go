package proxy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"hermes-hub/router"
)

// keyring finds a client by its key. Keys are compared by their SHA-256, so that neither the map nor the time it takes
// says anything of a key.
type keyring struct {
	byHash map[[sha256.Size]byte]*Key
	byName map[string]*Key
}

func newKeyring(keys []Key) *keyring {
	k := &keyring{byHash: make(map[[sha256.Size]byte]*Key, len(keys)), byName: make(map[string]*Key, len(keys))}
	for i := range keys {
		k.byHash[sha256.Sum256([]byte(keys[i].Secret.Reveal()))] = &keys[i]
		k.byName[keys[i].Name] = &keys[i]
	}
	return k
}

// recognize finds out who calls: by the key that came with the request or, when the hub itself calls, by that key's name.
func (x *exchange) recognize() (no *refusal) {
	if x.inner != nil {
		x.key, no = x.settings.keys.named(x.inner.Client)
	} else {
		x.key, no = x.settings.keys.find(x.r.Header)
	}
	if x.key != nil {
		x.told.Key = x.key.Name
	}
	return no
}

// named returns the client of a call of the hub's own. Its key may have been taken away since the hub was asked to call.
func (k *keyring) named(name string) (*Key, *refusal) {
	if len(k.byHash) == 0 {
		return nil, nil
	}
	if key := k.byName[name]; key != nil {
		return key, nil
	}
	return nil, &refusal{code: codeInvalidKey, message: fmt.Sprintf("the API key %q is not among this hub's client_keys any more", name)}
}

// find returns the client of a request. Without configured keys anybody is nobody in particular.
func (k *keyring) find(h http.Header) (*Key, *refusal) {
	if len(k.byHash) == 0 {
		return nil, nil
	}
	given := credential(h)
	if given == "" {
		return nil, &refusal{code: codeInvalidKey, message: "no API key: send it as Authorization: Bearer or as x-api-key"}
	}
	key := k.byHash[sha256.Sum256([]byte(given))]
	if key == nil {
		return nil, &refusal{code: codeInvalidKey, message: "incorrect API key: it is not among this hub's client_keys"}
	}
	return key, nil
}

// credential is the key that a request carries: a bearer token, else x-api-key.
func credential(h http.Header) string {
	scheme, token, ok := strings.Cut(h.Get("Authorization"), " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return h.Get("X-Api-Key")
}

// identify finds the session and the role of the request, by the contract's orders.
func (x *exchange) identify() *refusal {
	x.session = x.sessionID()
	table := x.p.router.Snapshot().Table
	c := router.Carriers{
		Path:        x.pathed,
		Header:      x.r.Header.Get(headerRole),
		Metadata:    x.req.Role,
		Model:       x.req.Model,
		SessionRole: x.p.router.SessionRole(x.session),
	}
	if x.key != nil {
		c.KeyDefault, c.Allowed = x.key.DefaultRole, x.key.Roles
	}
	role, err := table.Resolve(c)
	if err != nil {
		return roleRefusal(err)
	}
	if x.req.Model == "" && !named(role.Source) {
		return &refusal{code: codeInvalidRequest, message: "model is missing: name a model, a role, or auto", param: "model"}
	}
	if !x.surface.own && router.Concrete(role.Model) {
		role.AnyNode = false
	}
	x.role = role
	x.told.Role, x.told.RoleSource = role.Role.ID, string(role.Source)
	return nil
}

// sessionID is the request's session, "" when it has none.
func (x *exchange) sessionID() string {
	if x.inner != nil && x.inner.SessionID != "" {
		return x.inner.SessionID
	}
	for _, name := range x.settings.SessionHeaders {
		if v := x.r.Header.Get(name); v != "" {
			return v
		}
	}
	return x.req.Session
}

// named reports whether a request, or the key it came with, named its role, so that a model need not be.
func named(s router.RoleSource) bool {
	return s == router.RoleExplicit || s == router.RoleModelAlias || s == router.RoleClientKey
}

// roleRefusal says what was wrong with the role a request named.
func roleRefusal(err error) *refusal {
	if unknown, ok := errors.AsType[*router.UnknownRoleError](err); ok {
		return &refusal{code: codeModelNotFound, message: fmt.Sprintf("model not found: %s names unknown role %q", unknown.Carrier, unknown.Name), param: "model"}
	}
	if forbidden, ok := errors.AsType[*router.RoleForbiddenError](err); ok {
		return &refusal{code: codeRoleForbidden, message: fmt.Sprintf("this key may not use role %q", forbidden.Role)}
	}
	return &refusal{code: codeModelNotFound, message: "no role: name one in the path, a header or the model; router.default_role is not set", param: "model"}
}
