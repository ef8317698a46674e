package configs

import "hermes-hub/router"

// KeepRunning lays over c what a running hub cannot change: where it listens, where its state lives, and who may call its
// admin plane stay as they are in running. It returns the keys whose new values wait for a restart.
func (c *Config) KeepRunning(running *Config) (waiting []string) {
	keep := func(key string, value, old *string) {
		if *value != *old {
			*value, waiting = *old, append(waiting, key)
		}
	}
	keepSecret := func(key string, value, old *router.Secret) {
		if !value.Equal(*old) {
			*value, waiting = *old, append(waiting, key)
		}
	}
	s, was := &c.Server, &running.Server
	keep("server.listen", &s.Listen, &was.Listen)
	keep("server.admin_listen", &s.AdminListen, &was.AdminListen)
	keep("server.data_dir", &s.DataDir, &was.DataDir)
	keepSecret("server.redis_url", &s.RedisURL, &was.RedisURL)
	c.Proxy.Listen, c.Admin.Listen = running.Proxy.Listen, running.Admin.Listen

	j, had := &c.Journal, &running.Journal
	keep("journal.content", &j.Content, &had.Content)
	c.Proxy.Record = j.depth()
	if j.MaxEventBytes != had.MaxEventBytes {
		j.MaxEventBytes, waiting = had.MaxEventBytes, append(waiting, "journal.max_event_bytes")
	}

	a, old := &c.Admin, &running.Admin
	keepSecret("admin.jwt_secret", &a.JWTSecret, &old.JWTSecret)
	keep("admin.jwks_url", &a.JWKSURL, &old.JWKSURL)
	keep("admin.public_key_file", &a.PublicKeyFile, &old.PublicKeyFile)
	keep("admin.issuer", &a.Issuer, &old.Issuer)
	keep("admin.audience", &a.Audience, &old.Audience)
	keepSecret("admin.metrics_token", &a.MetricsToken, &old.MetricsToken)
	return waiting
}
