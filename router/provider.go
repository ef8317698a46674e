package router

import (
	"slices"
	"strings"
)

// Provider is one row of the table of providers: what an account of this provider is like unless its profile says
// otherwise. One row adds a provider.
type Provider struct {
	ID           string
	Name         string
	Aliases      []string
	BaseURL      string // "" = the profile must name one
	Protocol     Protocol
	Subscription bool     // max_concurrency defaults to 1, as in the Python hub
	Dialect      string   // name of the quota reader
	Serves       []string // prefixes of model names the provider is known to serve; nil = only what the profile lists
}

// providers is the table. Base URLs are the providers' documented ones; they end where the protocol's path is appended.
var providers = []Provider{
	{ID: "antigravity", Name: "Google Antigravity", Aliases: []string{"google-antigravity"}, BaseURL: "https://cloudcode-pa.googleapis.com", Protocol: ProtocolCloudCode, Subscription: true, Dialect: "google-cloudcode"},
	{ID: "openai-codex", Name: "OpenAI Codex", Aliases: []string{"codex"}, BaseURL: "https://chatgpt.com/backend-api/codex", Protocol: ProtocolResponses, Subscription: true, Dialect: "openai-codex"},
	{ID: "opencode-go", Name: "OpenCode Go", Aliases: []string{"opencode-zen", "opencode"}, BaseURL: "https://opencode.ai/zen/go/v1", Protocol: ProtocolChat, Subscription: true, Dialect: "opencode-go"},
	{ID: "claude", Name: "Claude", Aliases: []string{"anthropic"}, BaseURL: "https://api.anthropic.com", Protocol: ProtocolMessages, Subscription: true, Dialect: "claude-subscription", Serves: []string{"claude-"}},
	{ID: "grok", Name: "Grok", Aliases: []string{"xai", "xai-oauth"}, BaseURL: "https://api.x.ai/v1", Protocol: ProtocolChat, Subscription: true, Dialect: "xai", Serves: []string{"grok-"}},
	{ID: "openai", Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Protocol: ProtocolChat, Dialect: "openai", Serves: []string{"gpt-", "o1", "o3", "o4", "chatgpt-"}},
	{ID: "gemini", Name: "Google Gemini", Aliases: []string{"google", "google-gemini"}, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Protocol: ProtocolGemini, Dialect: "google-gemini-api", Serves: []string{"gemini-"}},
	{ID: "openrouter", Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", Protocol: ProtocolChat, Dialect: "openrouter"},
	{ID: "deepseek", Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Protocol: ProtocolChat, Dialect: "deepseek", Serves: []string{"deepseek-"}},
	{ID: "nvidia", Name: "NVIDIA NIM", Aliases: []string{"nvidia-nim"}, BaseURL: "https://integrate.api.nvidia.com/v1", Protocol: ProtocolChat, Dialect: "nvidia-nim"},
	{ID: "ollama", Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Protocol: ProtocolChat, Dialect: "ollama"},
	{ID: "local", Name: "Local", BaseURL: "http://127.0.0.1:8080/v1", Protocol: ProtocolChat, Dialect: "generic"},
	{ID: "openai-compatible", Name: "OpenAI-compatible", Aliases: []string{"custom"}, Protocol: ProtocolChat, Dialect: "generic"},
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
