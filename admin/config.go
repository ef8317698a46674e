package admin

import (
	"time"

	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
)

// Config are the admin plane's own keys of the configuration.
type Config struct {
	Listen        string // server.admin_listen
	AllowedHosts  []string
	JWTSecret     router.Secret // admin.jwt_secret: HS256, at least 32 bytes
	JWKSURL       string        // admin.jwks_url: RS256, ES256 or EdDSA
	PublicKeyFile string        // admin.public_key_file: likewise, PEM
	Issuer        string        // "" = any
	Audience      string
	MetricsToken  router.Secret // static bearer for /metrics off loopback
}

// MaxTokenLife is the longest life a token may have; a longer one is refused whatever it says.
const MaxTokenLife = 24 * time.Hour

// loopback reports whether only this machine can reach the plane.
func (c Config) loopback() bool { return hostname.LoopbackAddress(c.Listen) }
