package probe

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// row is what one provider is asked. Adding a provider is one row of the table in table.go.
type row struct {
	names   string // provider ids and names of quota readers that it is for, apart by blanks
	claims  string // a service address whose accounts are looked at with this row, whatever their provider
	name    string // of the provider, for people; "" = the target's
	dialect string // the quota reader; "" = the target's
	service string // the provider's own address for calls
	paths   string // paths that addresses for calls end with, beside that of service, apart by blanks
	keyless bool   // an account without a credential may be asked: it is on a machine of the user's own
	plans   bool   // what a refusal means is that the plan is not booked
	account string // the header that names the account; "" = none
	steps   []step
}

// step is one request of a look.
type step struct {
	name   string
	method string
	base   string // the address that path is appended to; "" = where the account's calls go
	path   string // with its query
	header http.Header
	body   func(*look) any  // what is sent, as JSON; nil = nothing
	when   func(*look) bool // nil = always
	weight weight
	read   func(*look, reply) (trouble string) // takes what the answer says, "" = it makes sense
	plan   string                              // where the answer names the plan: gjson paths, apart by blanks, the first that is there
}

// weight is what a step's failure means for the look.
type weight uint8

const (
	helps   weight = iota // the look goes on, unless the credential was refused
	decides               // it is the look's failure, unless a later step measures something
	extra                 // the look goes on
)

// rowOf finds what a target is asked.
func rowOf(t Target) row {
	for _, r := range table {
		if r.claims != "" && strings.HasPrefix(t.ServiceURL, r.claims) {
			return r
		}
	}
	for _, name := range []string{t.Provider, t.Dialect} {
		for _, r := range table {
			if name != "" && slices.Contains(strings.Fields(r.names), name) {
				return r
			}
		}
	}
	return lists
}

// address is where a step goes. It is the documented one, unless the profile names another for probes, or calls another
// server than the provider's own: then that one is asked, since a credential is shown to nobody else.
//
// Such an address without a path stands for the provider's server, and the documented path follows. One with a path
// stands for as much of the documented address as it repeats of its end, else for all that stands before the step's own
// path.
func (r row) address(t Target, s step) string {
	service := strings.TrimRight(t.ServiceURL, "/")
	if service == "" {
		service = r.service
	}
	own := s.base
	if own == "" {
		own = service
	}
	at := strings.TrimRight(t.BaseURL, "/")
	if at == "" && s.base != "" && r.foreign(service) {
		at = service
	}
	if at == "" {
		return own + s.path
	}
	ownPath := pathOf(own)
	for _, end := range append([]string{ownPath, pathOf(r.service)}, strings.Fields(r.paths)...) {
		if before, ok := strings.CutSuffix(at, end); ok && end != "" {
			return before + ownPath + s.path
		}
	}
	if pathOf(at) == "" {
		return at + ownPath + s.path
	}
	return at + s.path
}

// measures reports whether a row has a step that does.
func (r row) measures() bool {
	return slices.ContainsFunc(r.steps, func(s step) bool { return s.weight == decides })
}

// foreign reports whether an address is on none of the provider's own servers.
func (r row) foreign(service string) bool {
	host := hostOf(service)
	return host != hostOf(r.service) && !slices.ContainsFunc(r.steps, func(s step) bool { return s.base != "" && hostOf(s.base) == host })
}

// lane is what looks wait for each other at: the provider, on one server.
func lane(t Target) string {
	at := t.BaseURL
	if at == "" {
		at = t.ServiceURL
	}
	return t.Provider + " " + hostOf(at)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// pathOf is an address's path, "" for the root.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Path, "/")
}
