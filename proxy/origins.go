package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// origins are the web pages that may use the plane: none unless the configuration names them. A page of any other site can
// still make a browser send a request; it is refused when it would change something, and can read no answer.
type origins struct {
	all    bool
	listed []string
	guard  *http.CrossOriginProtection
}

func newOrigins(allowed []string) origins {
	return origins{all: slices.Contains(allowed, "*"), listed: allowed, guard: http.NewCrossOriginProtection()}
}

// allow reports whether pages of this origin may use the plane.
func (o *origins) allow(origin string) bool {
	return origin != "" && (o.all || slices.Contains(o.listed, origin))
}

// foreign reports whether r is a write on behalf of a page that may not make one, or asks in advance for one that may not.
func (o *origins) foreign(r *http.Request) bool {
	if o.allow(r.Header.Get("Origin")) {
		return false
	}
	return preflight(r) || o.guard.Check(r) != nil
}

// preflight reports whether a browser asks what a page may send, before it sends it.
func preflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// exposed are the headers of an answer that a page may read.
var exposed = strings.Join([]string{
	headerXRequestID, headerAnthropicID, "Retry-After", "X-Should-Retry", headerRequestID, headerRole, headerRoleSource,
	headerProfile, headerModel, headerAttempts, headerFailover, headerDropped, headerRunID,
}, ", ")

// tell says to the browser what a page of r's origin may read of the answer. Where no origin is allowed it says nothing at
// all. There are no credentials besides the key that the page itself holds, so none are ever allowed.
func (o *origins) tell(h http.Header, r *http.Request) {
	if len(o.listed) == 0 {
		return
	}
	h.Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	switch {
	case !o.allow(origin):
		return
	case o.all:
		origin = "*"
	}
	h.Set("Access-Control-Allow-Origin", origin)
	if !preflight(r) {
		h.Set("Access-Control-Expose-Headers", exposed)
		return
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	// An echo: client libraries add headers of their own (x-stainless-…), and no list of ours could keep up.
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600") // seconds
}
