package quota

import (
	"cmp"
	"strings"
)

// dialect is one row of the table: a provider, the names it goes by, and what is particular about its answers. A provider
// without rules of its own is read by the common ones.
type dialect struct {
	name    string   // of the recorded cases, and of the configuration's table of providers
	prefix  string   // of its bucket ids; "" = name
	aliases []string // ids of the configuration and of other hubs
	rules   rules
	book    *phraseBook // of rules.phrases
}

// dialects is the table. Adding a provider is one row here and one file read_<provider>.go.
var dialects = []dialect{
	{name: "generic", aliases: []string{"generic-edge", "edge-html", "openai-compatible", "custom", "local"}},
	{name: "openai", rules: openAIRules},
	{name: "openai-codex", prefix: "codex", aliases: []string{"codex"}, rules: codexRules},
	{name: "anthropic", rules: anthropicRules},
	{name: "claude-subscription", prefix: "claude", aliases: []string{"claude"}, rules: claudeRules},
	{name: "google-gemini-api", prefix: "gemini", aliases: []string{"gemini", "google", "google-gemini"}, rules: geminiRules},
	{name: "google-cloudcode", prefix: "antigravity", aliases: []string{"antigravity", "google-antigravity", "gemini-cli"}, rules: cloudCodeRules},
	{name: "google-vertex", prefix: "vertex", aliases: []string{"vertex"}, rules: vertexRules},
	{name: "xai", prefix: "grok", aliases: []string{"grok", "xai-oauth"}, rules: xaiRules},
	{name: "opencode-go", prefix: "opencode", aliases: []string{"opencode"}, rules: openCodeRules},
	{name: "opencode-zen", prefix: "opencode", rules: openCodeRules},
	{name: "openrouter", rules: openRouterRules},
	{name: "groq", rules: groqRules},
	{name: "deepseek", rules: deepSeekRules},
	{name: "mistral", rules: mistralRules},
	{name: "together", rules: togetherRules},
	{name: "fireworks", rules: fireworksRules},
	{name: "deepinfra"},
	{name: "moonshot", aliases: []string{"kimi"}, rules: moonshotRules},
	{name: "kimi-code", aliases: []string{"kimi-coding"}, rules: kimiCodeRules},
	{name: "zhipu", aliases: []string{"zai", "z-ai", "glm"}, rules: zhipuRules},
	{name: "minimax", rules: miniMaxRules},
	{name: "dashscope", aliases: []string{"qwen", "alibaba"}, rules: dashScopeRules},
	{name: "sensenova", rules: senseNovaRules},
	{name: "volcengine-ark", aliases: []string{"volcengine", "ark"}, rules: arkRules},
	{name: "siliconflow", rules: siliconFlowRules},
	{name: "xiaomi-mimo", prefix: "mimo", aliases: []string{"mimo", "xiaomi"}},
	{name: "iflow", rules: iFlowRules},
	{name: "azure-openai", prefix: "azure", aliases: []string{"azure"}, rules: azureRules},
	{name: "aws-bedrock", prefix: "bedrock", aliases: []string{"bedrock"}, rules: bedrockRules},
	{name: "kiro", rules: kiroRules},
	{name: "github-copilot", prefix: "copilot", aliases: []string{"copilot"}, rules: copilotRules},
	{name: "github-models", rules: gitHubModelsRules},
	{name: "cerebras", rules: cerebrasRules},
	{name: "cohere", rules: cohereRules},
	{name: "nous-portal", prefix: "nous", aliases: []string{"nous"}, rules: nousRules},
	{name: "nvidia-nim", prefix: "nvidia", aliases: []string{"nvidia"}, rules: nvidiaRules},
	{name: "cloudflare-workers-ai", prefix: "workers-ai", aliases: []string{"workers-ai"}, rules: workersAIRules},
	{name: "digitalocean-gradient", prefix: "digitalocean", aliases: []string{"digitalocean"}},
	{name: "huggingface"},
	{name: "ollama", rules: ollamaRules},
	{name: "ollama-cloud", rules: ollamaRules},
	{name: "llama.cpp", prefix: "llamacpp", aliases: []string{"llamacpp"}, rules: localRules},
	{name: "lm-studio", aliases: []string{"lmstudio"}, rules: localRules},
	{name: "vllm", rules: localRules},
	{name: "tgi", aliases: []string{"text-generation-inference", "lightllm"}, rules: localRules},
	{name: "litellm", rules: liteLLMRules},
	{name: "new-api", aliases: []string{"one-api"}, rules: newAPIRules},
	{name: "cline"},
	{name: "cursor", rules: cursorRules},
	{name: "fluxrouter", rules: fluxRouterRules},
	{name: "free-claude-code"},
	{name: "gitlawb-opengateway", rules: openGatewayRules},
	{name: "multi-provider-proxy"},
	{name: "neuralwatt"},
	{name: "synthetic"},
	{name: "wandb-inference", prefix: "wandb", aliases: []string{"wandb"}},
}

// dialectByName indexes the table by every name in it.
var dialectByName = indexDialects()

func indexDialects() map[string]*dialect {
	index := make(map[string]*dialect, 2*len(dialects))
	for i := range dialects {
		d := dialects[i] // a copy: the table stays as it is written
		d.book = newBook(d.rules.phrases)
		index[d.name] = &d
		for _, alias := range d.aliases {
			index[alias] = &d
		}
	}
	return index
}

// bucketPrefix is what the ids of the dialect's buckets begin with.
func (d *dialect) bucketPrefix() string { return cmp.Or(d.prefix, d.name) }

// dialectOf finds the dialect of a provider name; an unknown one is read with the generic dialect.
func dialectOf(provider string) *dialect {
	if d, ok := dialectByName[provider]; ok {
		return d
	}
	if d, ok := dialectByName[strings.ToLower(provider)]; ok {
		return d
	}
	return dialectByName["generic"]
}
