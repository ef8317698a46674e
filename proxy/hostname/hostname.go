// Package hostname decides whether a request's Host means this hub. A name that somebody else's DNS points at this machine
// does not: without the check a web page could rebind its own name to us and then read our answers as its own site's.
//
// Both planes ask here, so that the rule is written once. Pure.
package hostname

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Names are what one plane answers to besides the names of this machine itself.
type Names struct {
	Listen  string   // the plane's own address, host:port
	Allowed []string // server.allowed_hosts; a port is ignored
}

// syntax keeps out what a router and a guard could read differently.
var syntax = regexp.MustCompile(`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// Include accepts loopback names, the listen address, the address that the connection came in on, and what the
// configuration adds.
func (n Names) Include(r *http.Request) bool {
	if !syntax.MatchString(r.Host) {
		return false
	}
	host := hostOnly(r.Host)
	if Loopback(host) || host == hostOnly(n.Listen) {
		return true
	}
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && sameAddr(host, hostOnly(local.String())) {
		return true
	}
	return slices.ContainsFunc(n.Allowed, func(allowed string) bool { return hostOnly(allowed) == host })
}

// Loopback reports whether host, without a port, can only mean this machine.
func Loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// LoopbackAddress reports whether nobody but this machine can reach the address, host:port. No host means every address.
func LoopbackAddress(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	return err == nil && Loopback(host)
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
