// Package admin is the plane that operators talk to.
//
// A request passes, in this order: the rim (id, headers, Host, cross-origin writes, body cap), the recovery from panics,
// the one authorization by the table of routes, its handler. A handler returns an error; one place renders it.
package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
)

// Options are what the admin plane works with.
type Options struct {
	Config    Config
	Verifier  *Verifier // nil: no token is good
	Registry  *prometheus.Registry
	Explainer Explainer
	Leases    func() []router.LeaseInfo // every slot that is held now, in any order; nil: none ever
	Runs      http.Handler              // serves what is below /admin/v1/runs; nil: nothing is
	Picture   *Picture                  // nil: the plane has no route that shows or changes the hub's state
	Ready     func() []Check            // nil: ready as soon as it answers
	Version   VersionInfo
	Logger    *slog.Logger
	Now       func() time.Time // nil: time.Now
}

// Admin is the admin plane.
type Admin struct {
	config    Config
	names     atomic.Pointer[hostname.Names]
	verifier  *Verifier
	explainer Explainer
	leases    func() []router.LeaseInfo
	runs      http.Handler
	picture   *Picture
	ready     http.Handler
	version   VersionInfo
	log       *slog.Logger
	now       func() time.Time
	scrape    http.Handler
	engine    *gin.Engine
	needs     map[string]access // by method and route template
	tickets   tickets
	streams   visits // of events
	waits     visits // for a snapshot
}

// New returns the plane with its routes.
func New(o Options) *Admin {
	a := &Admin{
		config: o.Config, verifier: o.Verifier, explainer: o.Explainer, leases: o.Leases, runs: o.Runs, picture: o.Picture,
		ready: Readiness(o.Ready), version: o.Version, log: o.Logger, now: o.Now, needs: make(map[string]access),
	}
	if a.now == nil {
		a.now = time.Now
	}
	a.AllowHosts(o.Config.AllowedHosts)
	a.scrape = promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{
		Registry: o.Registry, EnableOpenMetrics: true, MaxRequestsInFlight: 2,
		// One collector's trouble must not blind the operator to everything else.
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelError),
	})
	gin.SetMode(gin.ReleaseMode)
	a.engine = gin.New()
	a.engine.HandleMethodNotAllowed = true
	a.engine.RedirectTrailingSlash = false
	_ = a.engine.SetTrustedProxies(nil) // nil cannot be malformed
	a.engine.Use(a.recoverPanics, a.admit)
	for _, route := range append(a.routes(), a.pictureRoutes()...) {
		a.handle(route)
	}
	a.engine.NoRoute(a.serve(notFound))
	a.engine.NoMethod(a.serve(methodNotAllowed))
	return a
}

// Handler returns the whole plane.
func (a *Admin) Handler() http.Handler { return a.rim(a.engine) }

// Close ends the streams of events, and whoever else waits for something to happen; new ones end at once. It is called when
// nothing more will happen.
func (a *Admin) Close() {
	a.streams.close()
	a.waits.close()
}

// Streams is how many streams of events are open.
func (a *Admin) Streams() int { return a.streams.count() }

// AllowHosts replaces the names that the plane answers to besides its own: server.allowed_hosts, from the next request on.
func (a *Admin) AllowHosts(hosts []string) {
	a.names.Store(&hostname.Names{Listen: a.config.Listen, Allowed: hosts})
}

// route is one line of the plane's table.
type route struct {
	method, path string
	need         access
	serve        func(http.ResponseWriter, *http.Request) error
}

// routes is the table: what is served, and who may ask. A route that is not in it is closed to everybody.
func (a *Admin) routes() []route {
	return []route{
		{http.MethodGet, "/healthz", needNothing, a.healthz},
		{http.MethodGet, "/readyz", needNothing, a.readyz},
		{http.MethodGet, "/metrics", needMetrics, a.metrics},
		{http.MethodGet, "/admin/v1/version", needViewer, a.showVersion},
		{http.MethodPost, "/admin/v1/explain", needViewer, a.explain},
		{http.MethodGet, "/admin/v1/leases", needViewer, a.listLeases},
		{http.MethodGet, "/admin/v1/runs", needViewer, a.serveRuns},
		{http.MethodGet, "/admin/v1/runs/:id", needViewer, a.serveRuns},
		{http.MethodGet, "/admin/v1/runs/:id/events", needStream, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/cancel", needAdmin, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/approval", needAdmin, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/clarify", needAdmin, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/messages", needAdmin, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/goal", needAdmin, a.serveRuns},
		{http.MethodPost, "/admin/v1/runs/:id/steer", needAdmin, a.serveRuns},
	}
}

// serveRuns hands over to those who keep runs.
func (a *Admin) serveRuns(w http.ResponseWriter, r *http.Request) error {
	if a.runs == nil {
		return notFound(w, r)
	}
	a.runs.ServeHTTP(w, r)
	return nil
}

// handle registers a route; what answers GET answers HEAD.
func (a *Admin) handle(r route) {
	methods := []string{r.method}
	if r.method == http.MethodGet {
		methods = append(methods, http.MethodHead)
	}
	for _, method := range methods {
		a.needs[method+" "+r.path] = r.need
		a.engine.Handle(method, r.path, a.serve(r.serve))
	}
}

// serve lets gin call a handler and renders its error.
func (a *Admin) serve(h func(http.ResponseWriter, *http.Request) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		for _, p := range c.Params {
			c.Request.SetPathValue(p.Key, p.Value)
		}
		if err := h(c.Writer, c.Request); err != nil {
			a.fail(c.Writer, c.Request, err)
		}
	}
}

// admit is the one place where a request is let in. It goes by the matched route, never by the path as it was sent.
func (a *Admin) admit(c *gin.Context) {
	need := a.needs[c.Request.Method+" "+c.FullPath()] // a route without a line in the table: needAdmin
	if c.FullPath() == "" {
		need = needViewer // 404 or 405, which tell something about the plane
		if !strings.HasPrefix(c.Request.URL.Path, "/admin/") {
			need = needNothing
		}
	}
	if err := a.authorize(c.Writer, c.Request, need); err != nil {
		a.fail(c.Writer, c.Request, err)
		c.Abort()
	}
}

// recoverPanics turns a bug into a 500. It is not gin's, which prints the request's headers, and which swallows
// http.ErrAbortHandler: an answer that was cut off on purpose must look cut off.
func (a *Admin) recoverPanics(c *gin.Context) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
		a.log.ErrorContext(c.Request.Context(), "admin handler panicked", "id", c.Writer.Header().Get(requestIDHeader),
			"route", c.FullPath(), "cause", cause, "stack", string(debug.Stack()))
		if c.Writer.Written() {
			panic(http.ErrAbortHandler)
		}
		internal().write(c.Writer)
	}()
	c.Next()
}

// fail renders an error: a problem as it is, anything else as a 500 whose reason only the log sees.
func (a *Admin) fail(w gin.ResponseWriter, r *http.Request, err error) {
	p, ok := errors.AsType[*problem](err)
	if !ok {
		a.log.ErrorContext(r.Context(), "admin call failed", "id", w.Header().Get(requestIDHeader), "path", r.URL.Path, "err", err)
		p = internal()
	}
	p.write(w)
}

func internal() *problem {
	return newProblem(http.StatusInternalServerError, "internal", "The hub failed; its log says why, under this instance.")
}

func (a *Admin) metrics(w http.ResponseWriter, r *http.Request) error {
	a.scrape.ServeHTTP(w, r)
	return nil
}

func notFound(http.ResponseWriter, *http.Request) error {
	return newProblem(http.StatusNotFound, "not-found", "There is nothing at this path.")
}

// methodNotAllowed answers where gin has found other methods, and has set Allow.
func methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	return newProblem(http.StatusMethodNotAllowed, "method-not-allowed", r.Method+" is not served here; Allow lists what is.")
}
