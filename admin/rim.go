package admin

import (
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

const (
	requestIDHeader = "X-Hub-Request-Id"
	maxBody         = 1 << 20 // bytes of a request
)

// rim is what every request passes before it is routed: an id, headers that keep the answer out of caches and of
// guesses about its type, and the refusal of what a web page made a browser send.
func (c Config) rim(next http.Handler) http.Handler {
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
		if !c.hostAllowed(r) {
			newProblem(http.StatusMisdirectedRequest, "foreign-host",
				"This Host is not served here; add it to server.allowed_hosts if it is meant to be.").write(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		guarded.ServeHTTP(w, r)
	})
}

// hostSyntax keeps out what a router and a guard could read differently.
var hostSyntax = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// hostAllowed accepts names of this machine, the listen address, the address the connection came in on, and what the
// configuration adds. A name that somebody else's DNS points at us is none of them: without this check a web page could
// rebind its own name and read our answers.
func (c Config) hostAllowed(r *http.Request) bool {
	if !hostSyntax.MatchString(r.Host) {
		return false
	}
	host := hostOnly(r.Host)
	if isLoopback(host) || host == hostOnly(c.Listen) {
		return true
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && sameAddr(host, hostOnly(local.String())) {
		return true
	}
	return slices.ContainsFunc(c.AllowedHosts, func(allowed string) bool { return hostOnly(allowed) == host })
}

// hostOnly is a host in lower case without port, brackets and the dot of the DNS root.
func hostOnly(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// sameAddr reports whether both are the same IP address, however they are written.
func sameAddr(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return errX == nil && errY == nil && x.Unmap() == y.Unmap().WithZone("")
}
