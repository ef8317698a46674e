package main

import (
	"context"
	"net/http"
	"slices"

	"hermes-hub/proxy"
	"hermes-hub/router"
	"hermes-hub/runs/httpapi"
	"hermes-hub/runs/runtime"
)

// runRoutes hand requests of both planes to the routes of runs, with who makes them.
type runRoutes struct {
	api    *httpapi.API
	router *router.Router
}

// ServeRuns serves a client of the proxy plane.
func (r runRoutes) ServeRuns(w http.ResponseWriter, req *http.Request, c proxy.Client) {
	r.api.Serve(w, req, r.client(c))
}

// StartResponse begins a response in the background.
func (r runRoutes) StartResponse(w http.ResponseWriter, req *http.Request, c proxy.Client, body []byte) {
	r.api.StartResponse(w, req, r.client(c), body)
}

// ServeResponse serves a stored response.
func (r runRoutes) ServeResponse(w http.ResponseWriter, req *http.Request, c proxy.Client) {
	r.api.ServeResponse(w, req, r.client(c))
}

// ServeAdmin serves an operator, who sees the runs of every key.
func (r runRoutes) ServeAdmin(w http.ResponseWriter, req *http.Request) {
	r.api.Serve(w, req, httpapi.Client{All: true})
}

func (r runRoutes) client(c proxy.Client) httpapi.Client {
	return httpapi.Client{Owner: c.Name, Role: c.Role, Roles: func(name string) (string, error) {
		role, ok := r.router.Snapshot().Table.Role(name)
		switch {
		case !ok:
			return "", httpapi.ErrUnknownRole
		case len(c.Roles) > 0 && !slices.Contains(c.Roles, role.ID):
			return "", httpapi.ErrRoleForbidden
		}
		return role.ID, nil
	}}
}

// innerCalls let runs call the proxy plane, which is made after them.
type innerCalls struct{ proxy *proxy.Proxy }

// Call sends a run's call through the hub's own routes.
func (i *innerCalls) Call(ctx context.Context, c runtime.Call) (*http.Response, error) {
	return i.proxy.Call(ctx, proxy.Call{
		Client: c.Owner, Role: c.Role, SessionID: c.SessionID, RunID: c.RunID, Path: c.Path, Header: c.Header, Body: c.Body,
	})
}
