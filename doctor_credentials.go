package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes-hub/configs"
	"hermes-hub/proxy/hostname"
	"hermes-hub/router"
	"hermes-hub/router/credential"
)

// examineCredentials looks at the credential of every enabled account: is there one, can others read it, has it run out.
func examineCredentials(cfg *configs.Config, now time.Time) []finding {
	var findings []finding
	for i := range cfg.Profiles {
		if p := &cfg.Profiles[i]; p.Enabled {
			g, text := examineCredential(p, &cfg.Accounts[i], now)
			findings = append(findings, finding{g, "credential", accountName(p) + ": " + text})
		}
	}
	return findings
}

// accountName is the account's id, with its display name where that says more.
func accountName(p *router.Profile) string {
	if p.DisplayName == p.ID {
		return p.ID
	}
	return fmt.Sprintf("%s (%s)", p.ID, p.DisplayName)
}

func examineCredential(p *router.Profile, a *configs.Account, now time.Time) (grade, string) {
	switch {
	case !p.Credential.Empty():
		g, text := examineExpiry(p.Credential, now)
		if a.KeyFile == "" || g == broken {
			return g, text
		}
		if mode := permissions(a.KeyFile); mode&0o077 != 0 {
			return odd, fmt.Sprintf("%s, but others can read its file %s (mode %04o): chmod 600 it", text, a.KeyFile, mode)
		}
		return g, text + ", in its file"
	case a.OAuthFile != "":
		return examineOAuthFile(p, a, now)
	case len(p.Headers) > 0:
		return fine, "in its headers"
	case local(p.BaseURL):
		return fine, "none, as a local account may be"
	}
	return broken, "missing: set auth_config.api_key"
}

// examineOAuthFile looks at a file of tokens as the providers' own programs write them. It refreshes nothing.
func examineOAuthFile(p *router.Profile, a *configs.Account, now time.Time) (grade, string) {
	k := credential.New(credential.Options{Now: func() time.Time { return now }})
	if err := k.Configure([]credential.Source{{
		Profile: p.ID, Provider: p.Provider.ID, File: a.OAuthFile, Refresh: a.Refresh,
		TokenURL: a.TokenURL, ClientID: a.ClientID, ClientSecret: a.ClientSecret,
	}}); err != nil {
		return broken, err.Error()
	}
	id := k.Identity(p.ID)
	expired := !id.ExpiresAt.IsZero() && !now.Before(id.ExpiresAt)
	switch err := unwritable(a); {
	case id.State != credential.Authenticated:
		return broken, id.Detail
	case expired && err != nil:
		return broken, fmt.Sprintf("its OAuth file's token expired %s, and the hub cannot refresh it: its folder cannot be written to: %v", ago(now.Sub(id.ExpiresAt)), err)
	case expired:
		return odd, fmt.Sprintf("its OAuth file's token expired %s: the hub refreshes it at the next call", ago(now.Sub(id.ExpiresAt)))
	case err != nil && !id.ExpiresAt.IsZero():
		return odd, fmt.Sprintf("in its OAuth file, good until %s, and the hub cannot refresh it then: its folder cannot be written to: %v; refresh: off says that another program does",
			id.ExpiresAt.UTC().Format(time.RFC3339), err)
	case permissions(a.OAuthFile)&0o077 != 0:
		return odd, fmt.Sprintf("others can read its OAuth file %s (mode %04o): chmod 600 it", a.OAuthFile, permissions(a.OAuthFile))
	case id.ExpiresAt.IsZero():
		return fine, "in its OAuth file"
	default:
		return fine, "in its OAuth file, good until " + id.ExpiresAt.UTC().Format(time.RFC3339)
	}
}

// unwritable is why an account's OAuth file cannot be replaced, nil where it can, and where it never will be.
func unwritable(a *configs.Account) error {
	if !a.Refresh {
		return nil
	}
	file := a.OAuthFile
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return writable(filepath.Dir(file))
}

// examineExpiry tells whether a token says of itself that it has run out. Most API keys say nothing.
func examineExpiry(credential router.Secret, now time.Time) (grade, string) {
	at, ok := expiry(credential.Reveal())
	switch {
	case !ok:
		return fine, "present"
	case !at.After(now):
		return broken, fmt.Sprintf("expired %s, at %s: sign in again", ago(now.Sub(at)), at.UTC().Format(time.RFC3339))
	}
	return fine, "present, good until " + at.UTC().Format(time.RFC3339)
}

// ago is a duration in the past in words of one unit.
func ago(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	}
	return fmt.Sprintf("%d days ago", int(d.Hours()/24))
}

// expiry is the claim exp of a JSON Web Token. Nothing is verified: the token is the user's own, and only a hint is wanted.
func expiry(token string) (time.Time, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	const last = 253402300799 // the year 9999
	if json.Unmarshal(payload, &claims) != nil || claims.Exp <= 0 || claims.Exp > last {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Exp), 0), true
}

// permissions are a file's, 0 for one that cannot be looked at.
func permissions(path string) os.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode().Perm()
}

// local reports whether an account is on this machine.
func local(base string) bool { return hostname.Loopback(hostOf(base)) }
