package main

import (
	"hermes-hub/configs"
	"hermes-hub/router"
)

// secretsOf are the secrets that a configuration holds, for the redactor of what is kept of runs.
func secretsOf(cfg *configs.Config) (secrets []string) {
	add := func(s router.Secret) {
		if !s.Empty() {
			secrets = append(secrets, s.Reveal())
		}
	}
	for i := range cfg.Proxy.Keys {
		add(cfg.Proxy.Keys[i].Secret)
	}
	for i := range cfg.Profiles {
		add(cfg.Profiles[i].Credential)
	}
	for i := range cfg.Accounts {
		add(cfg.Accounts[i].ClientSecret)
	}
	for i := range cfg.Runs.Runtimes {
		add(cfg.Runs.Runtimes[i].APIKey)
	}
	add(cfg.Admin.JWTSecret)
	add(cfg.Admin.MetricsToken)
	add(cfg.Server.RedisURL)
	return secrets
}
