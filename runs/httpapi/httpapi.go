// Package httpapi serves runs over HTTP: begun, observed, controlled and appended to from outside.
//
//	POST runs ─ Executor.Start ─▶ 202            GET runs/{id}/events ─ Subscription ─▶ SSE rows, or a JSON page
//	POST runs/{id}/stop … ─ Executor.Control      GET sessions/{sid}/events ─ run after run ─▶ one stream
//
// It is plain net/http: a plane that has found out who calls hands the request over to API.Serve, whatever routes it mounts
// it under. Observers see committed rows only. Each of them holds a place among the streams, a cursor, and nothing else; one
// that stops reading is dropped when a single write has waited too long.
//
// A client's cursor decides where an observer begins and is never an error: what does not fit is told by a control frame,
// and followed by everything from the start.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"hermes-hub/runs"
)

// Options make an API. Zero values of those with a number in their comment are that.
type Options struct {
	Journal  *runs.Journal
	Executor Executor

	// Capabilities tells what GET capabilities answers beyond what is always so; nil: nothing.
	Capabilities func() Capabilities

	// Await waits for what is on its way into the journal: asked before a list, and for a run that is not there, whose id its
	// client may have been told a moment ago. nil: nothing is waited for.
	Await func(context.Context)

	SessionHeaders []string     // the first that a request has names its session, when its body does not; X-Hermes-Session-Id
	Content        runs.Content // how much of a run is kept when its client does not ask for less; redacted

	Heartbeat     time.Duration // the silence after which a stream says that it is there; 4 s, the contract allows 5
	WriteDeadline time.Duration // how long one write may wait for its reader; 20 s
	MaxStreams    int           // observers at a time: 10,000
	MaxBody       int64         // of a request, in bytes; 64 MiB
	Logger        *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.SessionHeaders == nil {
		o.SessionHeaders = []string{"X-Hermes-Session-Id"}
	}
	if o.Capabilities == nil {
		o.Capabilities = func() Capabilities { return Capabilities{} }
	}
	if o.Await == nil {
		o.Await = func(context.Context) {}
	}
	o.Content = cmp.Or(o.Content, runs.Redacted)
	o.Heartbeat = cmp.Or(o.Heartbeat, 4*time.Second)
	o.WriteDeadline = cmp.Or(o.WriteDeadline, 20*time.Second)
	o.MaxStreams = cmp.Or(o.MaxStreams, 10_000)
	o.MaxBody = cmp.Or(o.MaxBody, 64<<20)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return o
}

// Client is who calls, as the plane knows it.
type Client struct {
	Owner    string // name of its key, "" when none is needed: the runs of this name are its own
	All      bool   // it sees the runs of every owner, and errors in the words of the admin plane (RFC 9457)
	ReadOnly bool   // it begins, controls and deletes nothing
	Role     string // id of the role in the path, "" = none

	// Roles finds the role that a request names in a header or its body: its id, or ErrUnknownRole or ErrRoleForbidden.
	// nil: any name is taken as it is.
	Roles func(name string) (id string, err error)
}

// Errors of Client.Roles.
var (
	ErrUnknownRole   = errors.New("no such role")                  // 404 model_not_found
	ErrRoleForbidden = errors.New("the key may not use that role") // 403 role_forbidden
)

// API serves the routes of runs. Its methods may be called from many goroutines.
type API struct {
	o     Options
	now   func() time.Time
	seats seats
	looks looks
}

// New returns an API.
func New(o Options) *API {
	o = o.withDefaults()
	return &API{o: o, now: time.Now, seats: seats{most: int64(o.MaxStreams)}, looks: looks{byRun: map[string]*glance{}}}
}

// call is one request on its way to an answer.
type call struct {
	w      http.ResponseWriter
	r      *http.Request
	client Client
	args   []string // what stands for the braces of the route's path
}

// Serve answers a request of a client. Its path is one of /v1/…, /r/{role}/v1/… or /admin/v1/…, with or without a slash at
// its end. When the request's context ends for another reason than that its client is gone, as when the hub stops, streams
// are ended so that their observers come back.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, c Client) {
	serve, args, err := find(r, routes())
	if err == nil && c.ReadOnly && r.Method != http.MethodGet {
		err = readOnly()
	}
	q := &call{w, r, c, args}
	if err == nil {
		err = serve(a, q)
	}
	if err != nil {
		a.fail(q, err)
	}
}

// Observers counts the streams that are open now.
type Observers struct{ Runs, Sessions, Responses int64 }

// Observers are those of now.
func (a *API) Observers() Observers {
	return Observers{a.seats.taken[ofRun].Load(), a.seats.taken[ofSession].Load(), a.seats.taken[ofResponse].Load()}
}
