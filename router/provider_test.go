package router

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

// Every row of the table is whole, and every name finds one row only.
func TestProviders(t *testing.T) {
	protocols := []Protocol{ProtocolChat, ProtocolMessages, ProtocolResponses, ProtocolGemini, ProtocolCloudCode}
	seen := make(map[string]string)
	var subscriptions []string
	for _, id := range ProviderIDs() {
		p, ok := ProviderByID(id)
		if !ok || p.ID != id || p.Name == "" || p.Dialect == "" || !slices.Contains(protocols, p.Protocol) {
			t.Errorf("%s: %+v", id, p)
		}
		if u, err := url.Parse(p.BaseURL); err != nil || p.BaseURL != "" && u.Host == "" || strings.HasSuffix(p.BaseURL, "/") {
			t.Errorf("%s: base URL %q", id, p.BaseURL)
		}
		if p.Subscription {
			subscriptions = append(subscriptions, id)
		}
		for _, name := range append(p.Aliases, id) {
			if other, taken := seen[name]; taken || name != strings.ToLower(name) {
				t.Errorf("%s: name %q, already of %q", id, name, other)
			}
			seen[name] = id
			if by, ok := ProviderByID(strings.ToUpper(name)); !ok || by.ID != id {
				t.Errorf("%q finds %q", name, by.ID)
			}
		}
	}
	if _, ok := ProviderByID("nobody"); ok {
		t.Error("found a provider that is not there")
	}
	if got, want := strings.Join(subscriptions, " "), "antigravity openai-codex opencode-go opencode-zen claude grok"; got != want {
		t.Errorf("subscriptions: got %s, want %s", got, want)
	}
}
