package configs

import (
	"hermes-hub/quota/probe"
	"hermes-hub/router/credential"
)

// Credentials are where the credentials of the enabled accounts come from, for the keyring.
func (c *Config) Credentials() []credential.Source {
	sources := make([]credential.Source, 0, len(c.Profiles))
	for i, p := range c.Profiles {
		if a := c.Accounts[i]; p.Enabled {
			sources = append(sources, credential.Source{
				Profile: p.ID, Provider: p.Provider.ID, Static: p.Credential, Token: a.Token, File: a.OAuthFile, Refresh: a.Refresh,
				TokenURL: a.TokenURL, ProxyURL: p.ProxyURL, ClientID: a.ClientID, ClientSecret: a.ClientSecret,
			})
		}
	}
	return sources
}

// Probes are the accounts whose usage is asked for beside their calls. Two that are one account are asked about once.
func (c *Config) Probes() []probe.Target {
	var targets []probe.Target
	for i, p := range c.Profiles {
		if a := c.Accounts[i]; p.Enabled && a.Probe.Enabled {
			targets = append(targets, probe.Target{
				Profile: p.ID, Provider: p.Provider.ID, Name: p.Provider.Name, Dialect: p.Provider.Dialect,
				BaseURL: a.Probe.BaseURL, ServiceURL: p.BaseURL, Project: a.Project, Group: p.Provider.ID + " " + p.AccountID,
			})
		}
	}
	return targets
}
