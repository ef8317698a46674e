package router

import (
	"slices"
	"strings"
)

// Auth is how an account's credential travels.
type Auth string

// The styles. An OAuth token is a bearer everywhere, whatever the style of the provider's keys.
const (
	AuthBearer  Auth = "bearer"         // Authorization: Bearer
	AuthXAPIKey Auth = "x-api-key"      // Anthropic
	AuthGoogKey Auth = "x-goog-api-key" // Gemini API
	AuthAPIKey  Auth = "api-key"        // Azure
)

// Provider is one row of the table of providers: what an account of this provider is like unless its profile says
// otherwise. One row adds a provider.
type Provider struct {
	ID           string
	Name         string
	Aliases      []string
	BaseURL      string // "" = the profile must name one
	Protocol     Protocol
	Auth         Auth     // of API keys
	Subscription bool     // max_concurrency defaults to 1, as in the Python hub
	Codex        bool     // ChatGPT's Codex backend: Responses, streams only, and less of it than the API takes
	Dialect      string   // name of the quota reader
	Serves       []string // prefixes of model names the provider is known to serve; nil = only what the profile lists
}

// ProviderByID finds a provider by its id or one of its aliases.
func ProviderByID(id string) (Provider, bool) {
	id = strings.ToLower(id)
	for _, p := range providers {
		if p.ID == id || slices.Contains(p.Aliases, id) {
			return p, true
		}
	}
	return Provider{}, false
}

// ProviderIDs lists every id of the table, in its order: for messages and for "did you mean".
func ProviderIDs() []string {
	ids := make([]string, 0, len(providers))
	for _, p := range providers {
		ids = append(ids, p.ID)
	}
	return ids
}
