package proxy

import (
	"time"

	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
)

// Config are the proxy plane's own keys of the configuration.
type Config struct {
	Listen            string   // server.listen
	AllowedHosts      []string // server.allowed_hosts
	AllowedOrigins    []string // server.allowed_origins: pages of these may call; "*" = any; empty = none
	MaxBodyBytes      int64
	Keys              []Key         // client_keys; empty = any key or none
	SessionHeaders    []string      // router.session_headers, in order of preference
	LeaseWait         time.Duration // router.lease_wait_seconds: for a slot, when every candidate is only busy; 0 = not at all
	CooldownWait      time.Duration // router.cooldown_wait_seconds: for the first candidate that comes back; 0 = not at all
	RequestTimeout    time.Duration
	CommitDeadline    time.Duration
	ConnectTimeout    time.Duration
	FirstTokenTimeout time.Duration
	IdleTimeout       time.Duration
	Record            Depth // journal.record_calls, no deeper than journal.content; of no use without a Recorder
}

// Key is a client of the proxy plane.
type Key struct {
	Name        string
	Secret      router.Secret
	DefaultRole string   // "" = none
	Roles       []string // canonical ids it may use; empty = all
}

// settings are a Config and what is made of it. Immutable: Configure puts others in their place, and a request keeps the
// ones it began with.
type settings struct {
	Config
	keys    *keyring
	names   hostname.Names
	origins origins
}

func newSettings(c Config) *settings {
	return &settings{
		Config: c, keys: newKeyring(c.Keys),
		names: hostname.Names{Listen: c.Listen, Allowed: c.AllowedHosts}, origins: newOrigins(c.AllowedOrigins),
	}
}
