package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"hermes-hub/router"
)

// Client is who calls a route of runs, as far as the plane knows it.
type Client struct {
	Name        string   // of its key, "" when none is needed: what it makes belongs to this name
	Role        string   // id of the role in the path, "" = none; the key may use it
	DefaultRole string   // of the key, "" = none
	Roles       []string // ids of the roles that the key may use; empty = all

	// RoleID is the id of the role that a request names elsewhere, by id or alias: *router.UnknownRoleError when there is
	// none, *router.RoleForbiddenError when the key may not use it.
	RoleID func(name string) (string, error)
}

// RunRoutes serve what is below /v1/capabilities, /v1/runs and /v1/sessions. The request is one of a client that is known:
// its path stands without the role and without a trailing slash, its body is here whole, and the answer has an id. When the
// hub stops, a GET's context ends at once with ErrStopping as its cause: whoever observes is to be let go without an error,
// and goes on elsewhere. Everything else is waited for.
type RunRoutes interface {
	ServeRuns(w http.ResponseWriter, r *http.Request, c Client)
}

// Responses keep the answers that are made while nobody listens.
type Responses interface {
	// StartResponse serves POST /v1/responses with background: true. The body is well-formed, and its role and model are
	// such that the client may ask for them. When the hub stops, the context of one that streams ends as a GET's does.
	StartResponse(w http.ResponseWriter, r *http.Request, c Client, body []byte)
	// ServeResponse serves GET and DELETE /v1/responses/{id} and POST /v1/responses/{id}/cancel, as RunRoutes are served.
	ServeResponse(w http.ResponseWriter, r *http.Request, c Client)
}

// runPaths are the routes of runs, as gin writes them.
var runPaths = []string{"/v1/capabilities", "/v1/capabilities/", "/v1/runs", "/v1/runs/*rest", "/v1/sessions/*rest"}

// serveKnown serves a route that is not the plane's own: it finds out who calls and what was sent, and hands both over.
func (p *Proxy) serveKnown(w http.ResponseWriter, r *http.Request, role string, serve func(http.ResponseWriter, *http.Request, Client)) {
	settings := p.settings.Load()
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	v := &visit{cancel: cancel, watches: r.Method == http.MethodGet || r.Method == http.MethodHead}
	if !p.gate.enter(v) {
		deny(w, r, draining())
		return
	}
	defer p.gate.leave(v)
	key, no := settings.keys.find(r.Header)
	if no != nil {
		deny(w, r, no)
		return
	}
	c, no := p.client(key, role)
	if no != nil {
		deny(w, r, no)
		return
	}
	r = r.WithContext(ctx)
	r.URL = within(r.URL, role != "")
	if !v.watches {
		body, err := readBody(w, r, settings.MaxBodyBytes)
		if no, ok := errors.AsType[*refusal](err); ok {
			deny(w, r, no)
			return
		}
		if err != nil { // its sender is gone
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	nameRequest(w.Header())
	serve(w, r, c)
}

// handOver gives a request whose answer is made while nobody listens to those who make it.
func (x *exchange) handOver() {
	c, no := x.p.client(x.key, x.pathed)
	if no != nil { // the role was there a moment ago
		x.refuse(no, refusedAs(no))
		return
	}
	x.handed = true
	x.p.telemetry.Inflight(-1)
	if x.req.Stream {
		x.p.gate.watch(&x.visit)
	}
	r := x.r.WithContext(x.ctx)
	r.URL = within(r.URL, x.pathed != "")
	x.p.responses.StartResponse(x.w, r, c, x.body)
}

// client is who has a key, bound to the path's role where there is one.
func (p *Proxy) client(key *Key, role string) (c Client, no *refusal) {
	if key != nil {
		c = Client{Name: key.Name, DefaultRole: key.DefaultRole, Roles: key.Roles}
	}
	c.RoleID = func(name string) (string, error) { return p.roleID("the request", name, c.Roles) }
	if role == "" {
		return c, nil
	}
	id, err := p.roleID("path", role, c.Roles)
	if err != nil {
		return c, roleRefusal(err)
	}
	c.Role = id
	return c, nil
}

// roleID finds a role among those that a key may use.
func (p *Proxy) roleID(carrier, name string, allowed []string) (string, error) {
	role, ok := p.router.Snapshot().Table.Role(name)
	switch {
	case !ok:
		return "", &router.UnknownRoleError{Carrier: carrier, Name: name}
	case len(allowed) > 0 && !slices.Contains(allowed, role.ID):
		return "", &router.RoleForbiddenError{Role: role.ID}
	default:
		return role.ID, nil
	}
}

// within is an address as it is without the role in front, its path cleaned. What is escaped in a segment stays in it: a
// slash ends none, and dots lead nowhere.
func within(u *url.URL, bound bool) *url.URL {
	inner := *u
	inner.RawPath = withoutRole(u.EscapedPath(), bound)
	inner.Path, _ = url.PathUnescape(inner.RawPath) // it is a part of what was well escaped
	return &inner
}

func withoutRole(p string, bound bool) string {
	p = path.Clean(p)
	if bound { // /r/{role}/v1/…, /r/{role}/anthropic/v1/…
		segments := strings.SplitN(p, "/", 4)
		p = strings.TrimPrefix("/"+segments[len(segments)-1], "/anthropic")
	}
	return p
}
