package admin

import (
	"crypto/rand"
	"net/http"
	"strings"
)

const (
	requestIDHeader = "X-Hub-Request-Id"
	maxBody         = 1 << 20 // bytes of a request
)

// rim is what every request passes before it is routed: an id, headers that keep the answer out of caches and of
// guesses about its type, and the refusal of what a web page made a browser send.
func (a *Admin) rim(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		newProblem(http.StatusForbidden, "cross-origin", "Another site's page may not change anything here.").write(w)
	}))
	guarded := crossOrigin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set(requestIDHeader, "req_"+strings.ToLower(rand.Text()))
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if !a.names.Load().Include(r) {
			newProblem(http.StatusMisdirectedRequest, "foreign-host",
				"This Host is not served here; add it to server.allowed_hosts if it is meant to be.").write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		guarded.ServeHTTP(w, r)
	})
}
