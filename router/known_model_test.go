package router

import (
	"strings"
	"testing"
)

func TestModelOf(t *testing.T) {
	for name, want := range map[string]int{
		"openai|gpt-5.5":                          1_050_000,
		"openai-codex|gpt-5.5":                    400_000, // the backend of the subscription offers less than the API
		"openai|gpt-5.5-2026-04-23":               1_050_000,
		"openai|gpt-5.6":                          0, // another version is another model
		"openai|gpt-5-chat-latest":                400_000,
		"openrouter|anthropic/claude-sonnet-4-6":  1_000_000,
		"claude|claude-opus-4-20250514":           200_000,
		"claude|claude-opus-4-9":                  0,
		"claude|claude-opus-4-10":                 0,
		"claude|claude-sonnet-5-5":                0,
		"claude|claude-3-7-sonnet-latest":         200_000,
		"gemini|gemini-3-pro-preview":             1_048_576,
		"gemini|gemini-2.5-pro-preview-05-06":     1_048_576,
		"minimax|MiniMax-M2.5":                    204_800,
		"openrouter|z-ai/glm-4.6:free":            204_800,
		"openai|gpt-4o-mini-realtime":             0,
		"openai|":                                 0,
		"groq|openai/gpt-oss-120b":                131_072,
		"openai-compatible|somebody/gpt-oss-120b": 0, // known at one provider only
	} {
		provider, model, _ := strings.Cut(name, "|")
		if got := ModelOf(provider, model).Window; got != want {
			t.Errorf("window of %s is %d, want %d", name, got, want)
		}
	}
}

// An owner's own number is worth more than a table's.
func TestProfileWindow(t *testing.T) {
	p := Profile{Provider: Provider{ID: "claude"}, ContextLength: 50_000}
	if got := p.Window("claude-sonnet-4-5"); got != 50_000 {
		t.Errorf("configured window is %d, want 50000", got)
	}
	p.ContextLength = 0
	if got := p.Window("claude-sonnet-4-5"); got != 200_000 {
		t.Errorf("known window is %d, want 200000", got)
	}
}

func TestProvidersAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range providers {
		for _, id := range append([]string{p.ID}, p.Aliases...) {
			if seen[id] {
				t.Errorf("%s stands twice in the table of providers", id)
			}
			seen[id] = true
		}
		if p.Name == "" || p.Protocol == "" || p.Auth == "" || p.Dialect == "" {
			t.Errorf("the row of %s has a hole: %+v", p.ID, p)
		}
	}
}
