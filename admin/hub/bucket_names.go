package hub

import "strings"

// windows are the buckets that each provider of the truth matrix has, measured or not, in the contract's order.
var windows = map[string][]string{
	"antigravity":  {"antigravity.claude.5h", "antigravity.gemini.5h", "antigravity.claude.7d", "antigravity.gemini.7d"},
	"openai-codex": {"codex.session", "codex.weekly"},
	"opencode-go":  {"opencode.5h", "opencode.7d", "opencode.30d"},
	"claude":       {"claude.session", "claude.weekly"},
	"grok":         {"grok.weekly", "grok.chat", "grok.build", "grok.frequent_tasks", "grok.normal_tasks"},
}

// pooled are the families that have pools of their own on accounts of several.
var pooled = []string{"claude", "gemini", "gpt", "grok", "deepseek", "kimi", "qwen", "glm", "mimo", "minimax"}

// familyOf is the family that all buckets of a provider are for, by the prefix of their ids.
var familyOf = map[string]string{"codex": "gpt", "claude": "claude", "grok": "grok", "opencode": "opencode", "gemini": "gemini"}

// periods are the lengths of windows by their names.
var periods = map[string]string{
	"session": "5h", "5h": "5h", "hourly": "1h", "1h": "1h", "daily": "1d", "1d": "1d", "24h": "1d",
	"weekly": "7d", "7d": "7d", "monthly": "30d", "30d": "30d",
}

// rates are the beginnings of the names of such buckets.
var rates = []string{"requests", "tokens", "input_tokens", "output_tokens"}

// titles are the names that are not written as their ids in capitals.
var titles = map[string]string{
	"opencode": "OpenCode", "openai": "OpenAI", "openrouter": "OpenRouter", "deepseek": "DeepSeek", "gpt": "GPT", "glm": "GLM",
	"minimax": "MiniMax", "mimo": "MiMo", "xai": "xAI", "nvidia": "NVIDIA",
}

// titleOf is a word of an id as a title: "frequent_tasks" is "Frequent Tasks", "5h" and the names of models
// stay.
func titleOf(word string) string {
	if known, ok := titles[word]; ok {
		return known
	}
	if strings.Contains(word, "-") {
		return word
	}
	parts := strings.Split(word, "_")
	for i, p := range parts {
		if p != "" && p[0] >= 'a' && p[0] <= 'z' {
			parts[i] = string(p[0]-'a'+'A') + p[1:]
		}
	}
	return strings.Join(parts, " ")
}
