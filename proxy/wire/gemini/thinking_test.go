package gemini

import (
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/wire/neutral"
)

func TestModelOf(t *testing.T) {
	f := func(name string, want model) {
		t.Helper()
		if got := modelOf(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	f("gemini-3-pro-preview", model{gemini: true, generation: 3, pro: true})
	f("models/gemini-2.5-flash-lite", model{gemini: true, generation: 2.5, lite: true})
	f("publishers/google/models/gemini-3.1-pro", model{gemini: true, generation: 3.1, pro: true})
	f("Gemini-4-Argon", model{gemini: true, generation: 4})
	f("gemini-flash-latest", model{gemini: true, generation: newestLevels})
	f("gemini-2.5-flash-image", model{gemini: true, generation: 2.5, media: true})
	f("gemini-claude-sonnet-4-5", model{claude: true})
	f("gpt-oss-120b-medium", model{})
	f("gemma-3-27b-it", model{})
	f("", model{})
}

// What a client asks of reasoning, and what each generation is told.
func TestThinkingConfig(t *testing.T) {
	f := func(model, effort string, tokens int, want string, dropped ...string) {
		t.Helper()
		r := neutral.Request{
			Turns:  []neutral.Turn{{Role: neutral.User, Parts: []neutral.Part{{Kind: neutral.TextPart, Text: neutral.Literal(`"x"`)}}}},
			Effort: effort, ReasoningTokens: tokens,
		}
		sent, err := EncodeCloudCode(&r, neutral.Target{Model: model})
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(string(sent.Body), `"generationConfig":`)
		if got = strings.TrimSuffix(got, "}}"); got != want {
			t.Errorf("%s with %q and %d is told\n%s, want\n%s", model, effort, tokens, got, want)
		}
		if !slices.Equal(sent.Dropped, dropped) {
			t.Errorf("%s with %q and %d drops %q, want %q", model, effort, tokens, sent.Dropped, dropped)
		}
	}
	level := func(l string) string {
		return `{"thinkingConfig":{"thinkingLevel":"` + l + `","includeThoughts":true}}`
	}
	budget := func(b string) string { return `{"thinkingConfig":{"thinkingBudget":` + b + `,"includeThoughts":true}}` }
	f("gemini-3-flash", "", 0, `{"thinkingConfig":{"includeThoughts":true}}`)
	f("gemini-3-flash", "none", 0, `{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}`, "reasoning_effort")
	f("gemini-3-flash", "minimal", 0, level("MINIMAL"))
	f("gemini-3-flash", "medium", 0, level("MEDIUM"))
	f("gemini-3-pro-preview", "minimal", 0, level("LOW"))
	f("gemini-3-pro-preview", "medium", 0, level("HIGH"))
	f("gemini-3.1-pro-preview", "medium", 0, level("MEDIUM"))
	f("gemini-3.1-pro-preview", "xhigh", 0, level("HIGH"))
	f("gemini-4-argon", "minimal", 0, level("LOW"))
	f("gemini-4-argon", "none", 0, `{"thinkingConfig":{"thinkingLevel":"LOW"}}`, "reasoning_effort")
	f("gemini-4-argon", "", 500, level("LOW"))
	f("gemini-4-argon", "", 5000, level("MEDIUM"))
	f("gemini-4-argon", "", 50000, level("HIGH"))
	f("gemini-4-argon", "low", 50000, level("LOW"), "reasoning.max_tokens")
	f("gemini-2.5-flash", "none", 0, `{"thinkingConfig":{"thinkingBudget":0}}`)
	f("gemini-2.5-flash", "low", 0, budget("1024"))
	f("gemini-2.5-flash", "xhigh", 0, budget("24576"))
	f("gemini-2.5-flash", "high", 3000, budget("3000"))
	f("gemini-2.5-flash-lite", "", 0, "")
	f("gemini-2.5-flash-lite", "", 100, budget("512"))
	f("gemini-2.5-pro", "none", 0, `{"thinkingConfig":{"thinkingBudget":128}}`, "reasoning_effort")
	f("gemini-2.5-pro", "xhigh", 0, budget("32768"))
	f("gemini-2.0-flash", "high", 0, "", "reasoning_effort")
	f("gemini-2.5-flash-image", "high", 0, "", "reasoning_effort")
	f("gpt-oss-120b-medium", "low", 300, "", "reasoning_effort", "reasoning.max_tokens")
	f("claude-sonnet-4-5", "", 0, "")
	f("claude-sonnet-4-5", "none", 0, "")
	f("claude-sonnet-4-5", "low", 0, `{"maxOutputTokens":9216,"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}`)
}

func TestFunctionNames(t *testing.T) {
	for in, want := range map[string]string{
		"read_file": "read_file", "a.b:c-d": "a.b:c-d", "3d": "_3d", "multi tool": "multi_tool", "": "_", "-x": "_-x", "ä": "__",
		strings.Repeat("x", 200): strings.Repeat("x", 128),
	} {
		got := functionName(in)
		if got != want || !fits(got) {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
