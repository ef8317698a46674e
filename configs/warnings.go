package configs

import (
	"net/url"
	"slices"
	"strings"

	"hermes-hub/proxy"
	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
)

// warnAbout looks for what the file may say and its author can hardly mean.
func (r *reader) warnAbout(c *Config) {
	if !c.Router.Failover {
		r.warn(r.places["router.enabled"], "router.enabled is false: no role fails over")
	}
	seats := seatsOf(c)
	for i, p := range c.Profiles {
		if !p.Enabled {
			continue
		}
		r.warnAboutProfile(p, c.Accounts[i])
		if !slices.ContainsFunc(seats, func(s seat) bool { return s.nodes[p.ID] }) {
			r.warn(r.places["profiles."+p.ID], "profile %s is used by no role: no chain names it and no role falls back on one of its capabilities", p.ID)
		}
	}
	r.warnAboutTwins(c.Profiles)
	for _, s := range seats {
		r.warnAboutRole(c, s)
	}
}

func (r *reader) warnAboutProfile(p router.Profile, a Account) {
	at := r.places["profiles."+p.ID]
	local := loopbackURL(p.BaseURL)
	if !speaks(p) {
		r.warn(at, "profile %s is never called: the protocol %s is not available yet (protocol_unavailable)", p.ID, p.Protocol)
	}
	if p.Credential.Empty() && a.OAuthFile == "" && len(p.Headers) == 0 && !local {
		r.warn(at, "profile %s has no credential: set its auth_config.api_key", p.ID)
	}
	if p.Enabled && p.Protocol == router.ProtocolCloudCode && a.Project == "" && !a.Probe.Enabled {
		r.warn(at, "profile %s has no auth_config.project, and probe.enabled: false keeps the hub from asking for one", p.ID)
	}
	if !p.Credential.Empty() && strings.HasPrefix(strings.ToLower(p.BaseURL), "http:") && !local {
		r.warn(at, "profile %s sends its credential unencrypted: its custom_base_url is plain http to another machine", p.ID)
	}
}

// warnAboutTwins finds accounts that stand twice: their quota is one, so neither helps the other.
func (r *reader) warnAboutTwins(profiles []router.Profile) {
	first := map[string]string{}
	for _, p := range profiles {
		key := p.Provider.ID + " " + p.AccountID
		if twin, seen := first[key]; seen {
			r.warn(r.places["profiles."+p.ID], "profile %s is the same account as %s: both have the provider %s and the account_id %s", p.ID, twin, p.Provider.ID, shown(p.AccountID))
			continue
		}
		first[key] = p.ID
	}
}

// seat is a role with the accounts that could ever serve it.
type seat struct {
	role   router.Role
	nodes  map[string]bool  // profile ids: the chain and the fallbacks
	usable []router.Profile // those that are enabled and speak a protocol the hub speaks
}

func seatsOf(c *Config) []seat {
	seats := make([]seat, 0, len(c.Roles))
	for _, role := range c.Roles {
		s := seat{role: role, nodes: map[string]bool{}}
		for _, item := range role.Chain {
			s.nodes[item.Profile] = true
		}
		for _, p := range c.Profiles {
			if p.Enabled && slices.ContainsFunc(p.Capabilities, func(capability string) bool {
				return slices.Contains(role.FallbackCapabilities, capability)
			}) {
				s.nodes[p.ID] = true
			}
			if s.nodes[p.ID] && p.Enabled && speaks(p) {
				s.usable = append(s.usable, p)
			}
		}
		seats = append(seats, s)
	}
	return seats
}

func (r *reader) warnAboutRole(c *Config, s seat) {
	limit := s.role.MaxAttempts
	if limit == 0 {
		limit = c.Router.MaxAttempts
	}
	at, id := r.places["roles."+s.role.ID], s.role.ID
	switch {
	case !c.Router.Failover: // said once, for all
	case len(s.usable) == 0:
		r.warn(at, "role %s cannot fail over: none of its nodes is usable", id)
	case len(s.usable) == 1:
		r.warn(at, "role %s cannot fail over: %s is its only usable node", id, s.usable[0].ID)
	case oneAccount(s.usable):
		r.warn(at, "role %s cannot fail over: all its usable nodes are on one account", id)
	case limit == 1:
		r.warn(at, "role %s cannot fail over: max_failover_attempts is 1", id)
	case limit > 1 && limit < len(s.role.Chain):
		r.warn(at, "role %s: max_failover_attempts is %d and its chain has %d nodes: a request may end before the last was tried", id, limit, len(s.role.Chain))
	}
}

// oneAccount reports whether all profiles draw on one quota: one account of one provider, or one credential.
func oneAccount(profiles []router.Profile) bool {
	first := profiles[0]
	return !slices.ContainsFunc(profiles[1:], func(p router.Profile) bool {
		account := p.Provider.ID == first.Provider.ID && p.AccountID == first.AccountID
		credential := !p.Credential.Empty() && p.Credential.Equal(first.Credential) && p.BaseURL == first.BaseURL
		return !account && !credential
	})
}

// speaks reports whether the proxy speaks the protocol of p.
func speaks(p router.Profile) bool { return slices.Contains(proxy.Protocols(), p.Protocol) }

func loopbackURL(base string) bool {
	u, err := url.Parse(base)
	return err == nil && hostname.Loopback(u.Hostname())
}
