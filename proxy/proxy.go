// Package proxy is the plane that agents talk to: one base URL, and behind it every account of a role.
//
// One request's life, top to bottom, one function a step:
//
//	rim                                      is the hub meant, and may this page call it    (rim.go, origins.go)
//	gin ── Proxy.route ── exchange.serve     who calls, what they want, which role        (identify.go, body.go, wire)
//	                        ├─ planFirst      who is up to it                               (fit.go, router)
//	                        └─ exchange.try   the role's plan, node by node                (serve.go)
//	                             ├─ wait      for a slot, or for an account to come back   (wait.go)
//	                             └─ attempt   a lease, a clock, a credential, one call     (attempt.go, credentials.go)
//	                                  ├─ compose         what the account is told          (call.go, seals.go)
//	                                  ├─ refused, lost   what the failure means            (lost.go, quota)
//	                                  ├─ answer          a whole answer, held until whole  (answer.go, gather.go)
//	                                  └─ relay           a stream, held until it has content (relay.go, tap.go)
//	                        └─ exhaust        the truthful end when nobody could serve     (exhausted.go, fit.go)
//	                        finish            metrics, trail, log line; and what it leaves (record.go, scribe.go, words.go)
//
// The hub's own calls, for runs, enter at exchange.serve (inprocess.go). Routes of runs and of responses that are made in the
// background are handed to others, with who calls (runroutes.go).
//
// There is one such way for clients of every protocol over accounts of every protocol. A surface (surface.go) is a route of
// a client's protocol; its dialect (dialect.go) is how the hub speaks to that client itself: errors, heartbeats. Between a
// client and an account of one protocol bytes pass, and a tap only looks; between two protocols stands a codec of the table
// in codecs.go, and the tap translates (translate.go).
//
// Until the first byte goes to the client any account may still answer; from then on none other may, and a stream that
// breaks ends with the protocol's error event and a cut connection. Gin stops at this file.
package proxy

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"hermes-hub/router"
	"hermes-hub/telemetry"
)

// Telemetry is told of every exchange. Both methods are called from many goroutines and must not block.
type Telemetry interface {
	// Inflight adds to the number of requests being served.
	Inflight(delta int)
	// Observe takes the story of a finished exchange. It must not keep x.
	Observe(x *telemetry.Exchange)
}

// Options are what a Proxy needs from outside.
type Options struct {
	Config    Config
	Router    *router.Router
	Trails    *router.Trails
	Telemetry Telemetry
	Logger    *slog.Logger
	Version   string
	Ready     http.Handler                            // answers /readyz
	Transport func(*router.Profile) http.RoundTripper // nil = one http.Transport per profile

	// Credentials know what accounts are called with; nil = each with the key that is configured.
	Credentials Credentials

	Runs      RunRoutes // nil = there are no such routes
	Responses Responses // nil = answers are not kept, and not made while nobody listens
	Recorder  Recorder  // keeps what calls leave, as Config.Record says; nil = they leave nothing
}

// Proxy is the plane. Handler serves it.
type Proxy struct {
	settings    atomic.Pointer[settings]
	router      *router.Router
	trails      *router.Trails
	telemetry   Telemetry
	logger      *slog.Logger
	agent       string
	ready       http.Handler
	transport   func(*router.Profile) http.RoundTripper
	own         *transports
	credentials Credentials
	runs        RunRoutes
	responses   Responses
	started     int64 // epoch seconds: the models' creation time
	gate        *gate
	seals       *seals
	scribe      *scribe // nil = calls leave nothing
}

// New is a proxy plane. Nothing is called before its first request.
func New(o Options) *Proxy {
	p := &Proxy{
		router: o.Router, trails: o.Trails, telemetry: o.Telemetry, logger: o.Logger,
		agent: "hermes-hub/" + o.Version, started: time.Now().Unix(), ready: o.Ready, transport: o.Transport,
		credentials: o.Credentials, runs: o.Runs, responses: o.Responses, gate: newGate(), seals: newSeals(),
	}
	p.settings.Store(newSettings(o.Config))
	if o.Recorder != nil {
		p.scribe = newScribe(o.Recorder, o.Logger)
	}
	if p.transport == nil {
		p.own = newTransports(o.Config.ConnectTimeout)
		p.transport = p.own.of
	}
	return p
}

// Configure puts the plane under another configuration: client keys, hosts and origins, session headers, deadlines, the
// body's limit. It cannot fail, and it is called after the router's Swap: a client key may name a role of the new table,
// and an account that is gone from it gives up its idle connections here. Requests that have begun end under the
// configuration they began with. Listen must be what the plane listens on.
func (p *Proxy) Configure(c Config) {
	p.settings.Store(newSettings(c))
	if p.own != nil {
		p.own.reset(c.ConnectTimeout, p.router.Snapshot().Table)
	}
}

// Drain refuses every request that has not begun and waits for those that have. When ctx ends first it cuts them: a stream
// ends with the protocol's error event, so that no client takes it for whole. It returns how many were cut.
func (p *Proxy) Drain(ctx context.Context) (cut int) { return p.gate.drain(ctx) }

// Settle waits until the recorder was told of everything that has happened so far. After Drain, and before whatever the
// recorder writes to is closed, it brings the ends of the last calls there.
func (p *Proxy) Settle(ctx context.Context) error {
	if p.scribe == nil {
		return nil
	}
	return p.scribe.settle(ctx)
}

// Close gives up the connections to upstreams that nobody uses.
func (p *Proxy) Close() {
	if p.own != nil {
		p.own.closeIdle()
	}
}

// Handler is the plane's routes. Every path answers with and without a trailing slash, at the root and under /r/{role}.
func (p *Proxy) Handler() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.RedirectTrailingSlash = false
	e.HandleMethodNotAllowed = true
	e.RemoveExtraSlash = true
	_ = e.SetTrustedProxies(nil) // nobody's X-Forwarded-For is believed; nil cannot fail
	e.Use(p.recoverPanics)
	for _, base := range []string{"", "/r/:role", "/r/:role/anthropic"} {
		for _, s := range surfaces() {
			both(e, http.MethodPost, base+s.endpoint, p.route(s))
		}
		both(e, http.MethodGet, base+"/v1/responses/:id", p.oneResponse)
		both(e, http.MethodDelete, base+"/v1/responses/:id", p.oneResponse)
		both(e, http.MethodPost, base+"/v1/responses/:id/cancel", p.oneResponse)
		e.GET(base+"/v1/models", p.listModels)
		e.GET(base+"/v1/models/*id", p.oneModel)
	}
	if p.runs != nil {
		for _, path := range runPaths {
			e.Any(path, p.serveRuns)
			e.Any("/r/:role"+path, p.serveRuns)
		}
	}
	both(e, http.MethodGet, "/healthz", func(c *gin.Context) { c.Data(http.StatusOK, "application/json", []byte(`{"status":"ok"}`)) })
	both(e, http.MethodGet, "/readyz", gin.WrapH(p.ready))
	e.NoRoute(func(c *gin.Context) {
		p.plain(c, &refusal{code: codeNotFound, message: "no such path: this hub serves /v1 and /r/{role}/v1"})
	})
	e.NoMethod(func(c *gin.Context) {
		p.plain(c, &refusal{code: codeMethodNotAllowed, message: c.Request.Method + " is not allowed on this path", allow: c.Writer.Header().Get("Allow")})
	})
	return p.rim(e)
}

// both registers a path with and without a trailing slash.
func both(e *gin.Engine, method, path string, h gin.HandlerFunc) {
	e.Handle(method, path, h)
	e.Handle(method, path+"/", h)
}

// serveRuns serves the routes of runs.
func (p *Proxy) serveRuns(c *gin.Context) {
	p.serveKnown(c.Writer, c.Request, c.Param("role"), p.runs.ServeRuns)
}

// oneResponse answers for a response by its id. Without anything that keeps them there are none: accounts are asked to keep
// none too.
func (p *Proxy) oneResponse(c *gin.Context) {
	if p.responses != nil {
		p.serveKnown(c.Writer, c.Request, c.Param("role"), p.responses.ServeResponse)
		return
	}
	if _, no := p.settings.Load().keys.find(c.Request.Header); no != nil {
		p.plain(c, no)
		return
	}
	p.plain(c, &refusal{code: codeNotFound, message: "no such response: answers are not kept here (store: false)"})
}

// route serves one surface.
func (p *Proxy) route(s *surface) gin.HandlerFunc {
	served := servedBy(s)
	return func(c *gin.Context) {
		x := p.begin(c.Writer, c.Request, s, c.Param("role"))
		x.served = served
		x.conn = http.NewResponseController(bare(c.Writer))
		defer func() {
			x.finish()
			if x.aborted {
				panic(http.ErrAbortHandler)
			}
		}()
		x.serve()
	}
}

// bare is the server's writer under gin's, which hides what Flush reports.
func bare(w gin.ResponseWriter) http.ResponseWriter {
	if u, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return u.Unwrap()
	}
	return w
}

// plain answers a request that no surface serves.
func (p *Proxy) plain(c *gin.Context, e *refusal) { deny(c.Writer, c.Request, e) }

// recoverPanics keeps a bug from taking the process down. gin's own recovery would swallow http.ErrAbortHandler and end a
// cut stream cleanly, which a client takes for a whole answer; this one lets it through.
func (p *Proxy) recoverPanics(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if cause == http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is panicked
			panic(cause)
		}
		p.logger.Error("panic while serving", "panic", cause, "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		p.plain(c, internalError())
	}()
	c.Next()
}
