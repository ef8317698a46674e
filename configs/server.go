package configs

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"hermes-hub/router"
)

// Server is the block server: where the program listens and keeps its things.
type Server struct {
	Listen         string   // proxy plane, host:port; also in Config.Proxy
	AdminListen    string   // admin plane, host:port; also in Config.Admin
	AllowedHosts   []string // also in Config.Proxy and Config.Admin
	AllowedOrigins []string // also in Config.Proxy
	DataDir        string   // "" when neither the file nor the environment gave a place
	RedisURL       router.Secret
	Instances      int
	MaxBodyBytes   int64 // also in Config.Proxy
	DrainGrace     time.Duration
}

// The addresses of the two planes unless the file or a flag says otherwise.
const (
	DefaultListen      = "127.0.0.1:7400"
	DefaultAdminListen = "127.0.0.1:7401"
)

// readServer reads the block server and hands each plane its part.
func (r *reader) readServer(b *block, c *Config) {
	defer b.done()
	s := &c.Server
	s.Listen = r.address(b.get("listen"), DefaultListen)
	s.AdminListen = r.address(b.get("admin_listen"), DefaultAdminListen)
	s.AllowedHosts = r.hosts(b.get("allowed_hosts"))
	s.AllowedOrigins = origins(b.get("allowed_origins"))
	s.DataDir = r.resolve(b.get("data_dir").text(""))
	if s.DataDir == "" {
		s.DataDir = defaultDataDir(r.getenv)
	}
	s.RedisURL = r.redisURL(b.get("redis_url"))
	s.Instances = int(b.get("instances").whole(1, 1))
	s.MaxBodyBytes = b.get("max_body_bytes").whole(64<<20, 1)
	s.DrainGrace = b.get("drain_grace_seconds").wait(30 * time.Second)

	c.Proxy.Listen, c.Admin.Listen = s.Listen, s.AdminListen
	c.Proxy.AllowedHosts, c.Admin.AllowedHosts = s.AllowedHosts, s.AllowedHosts
	c.Proxy.AllowedOrigins = s.AllowedOrigins
	c.Proxy.MaxBodyBytes = s.MaxBodyBytes
}

// address reads a host:port to listen on and remembers where it stands, for OpenListen.
func (r *reader) address(n node, def string) string {
	r.places[n.path] = n.at
	s := n.text("")
	if s == "" {
		return def
	}
	if err := checkListen(s); err != nil {
		n.fail(": %v", err)
		return def
	}
	return s
}

// hosts reads names that a Host header may carry: no scheme, no path.
func (r *reader) hosts(n node) []string {
	return slices.Collect(n.words("a host name", func(h string) error {
		if strings.ContainsAny(h, "/ @?#") {
			return fmt.Errorf("%s is not a host name; want the name alone, as in hub.example.org", shown(h))
		}
		return nil
	}))
}

// origins reads web origins as browsers send them, or * for every one.
func origins(n node) []string {
	return slices.Collect(n.words("a web origin", func(o string) error {
		if o == "*" {
			return nil
		}
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || o != u.Scheme+"://"+u.Host || o != strings.ToLower(o) {
			return fmt.Errorf("%s is not a web origin; want scheme://host or scheme://host:port in lower case, as in https://chat.example.org, or *", shown(o))
		}
		return nil
	}))
}

func (r *reader) redisURL(n node) router.Secret {
	address := n.secret(Error)
	if err := checkRedisURL(address.Reveal()); err != nil {
		n.fail(": %v", err)
	}
	return address
}

// checkRedisURL looks at the scheme and for a host; "" is fine. The error holds nothing of the URL: it may carry a password.
func checkRedisURL(address string) error {
	scheme, rest, found := strings.Cut(address, "://")
	switch {
	case address == "":
		return nil
	case !found || scheme != "redis" && scheme != "rediss" && scheme != "redis+sentinel":
		return errors.New("want a URL that begins with redis://, rediss:// or redis+sentinel://")
	case rest == "" || rest[0] == '/':
		return errors.New("the URL names no host")
	}
	return nil
}
