package configs

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
)

// checkListen tells what is wrong with an address to listen on.
func checkListen(listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%s is not host:port, as in 127.0.0.1:7400", shown(listen))
	}
	if p, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(p, 10) != port {
		return fmt.Errorf("%s has no port between 0 and 65535", shown(listen))
	}
	for _, c := range host {
		if c <= ' ' || c == '/' || c == '@' || c == 0x7f {
			return fmt.Errorf("%s has no host that could be listened on", shown(listen))
		}
	}
	return nil
}

// OpenListen reports the planes that others could reach and nothing guards: errors, on which serve refuses to start.
func (c *Config) OpenListen() Problems {
	var ps Problems
	refuse := func(key, listen, missing string) {
		at := c.places[key]
		ps = append(ps, Problem{
			File: c.Path, Line: at.line, Column: at.column, Severity: Error,
			Message: fmt.Sprintf("%s: %s is not a loopback address and %s", key, listen, missing),
		})
	}
	if !hostname.LoopbackAddress(c.Proxy.Listen) && len(c.Proxy.Keys) == 0 {
		refuse("server.listen", c.Proxy.Listen, "there are no client_keys; add one, or listen on 127.0.0.1")
	}
	a := c.Admin
	if !hostname.LoopbackAddress(a.Listen) && a.JWTSecret.Empty() && a.JWKSURL == "" && a.PublicKeyFile == "" {
		refuse("server.admin_listen", a.Listen, "there is no admin.jwt_secret, jwks_url or public_key_file; add one, or listen on 127.0.0.1")
	}
	return ps
}

// Flags are the settings that a command line may lay over the file; an empty one leaves the file's.
type Flags struct {
	Listen      string // --listen
	AdminListen string // --admin-listen
	DataDir     string // --data-dir, relative to the working folder
	RedisURL    string // --redis-url
}

// Override lays f over c, and tells which flag is wrong.
func (c *Config) Override(f Flags) error {
	var problems []error
	lay := func(flag, value string, places ...*string) {
		if value == "" {
			return
		}
		if err := checkListen(value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", flag, err))
		}
		for _, p := range places {
			*p = value
		}
	}
	lay("--listen", f.Listen, &c.Server.Listen, &c.Proxy.Listen)
	lay("--admin-listen", f.AdminListen, &c.Server.AdminListen, &c.Admin.Listen)
	if f.DataDir != "" {
		c.Server.DataDir = f.DataDir
	}
	if err := checkRedisURL(f.RedisURL); err != nil {
		problems = append(problems, fmt.Errorf("--redis-url: %w", err))
	}
	if f.RedisURL != "" {
		c.Server.RedisURL = router.NewSecret(f.RedisURL)
	}
	return errors.Join(problems...)
}
