package quota

import (
	"cmp"
	"strings"
)

// dialect is one row of the table: a provider, the names it goes by, and the function that reads its answers. A provider
// without a reader of its own is read by the generic one.
type dialect struct {
	name    string   // of the recorded cases, and of the configuration's table of providers
	prefix  string   // of its bucket ids; "" = name
	aliases []string // ids of the configuration and of other hubs
	read    func(*answer) Reading
}

// dialects is the table. Adding a provider is one row here and one file read_<provider>.go.
var dialects = []dialect{
	{name: "generic", aliases: []string{"generic-edge", "edge-html", "openai-compatible", "custom", "local"}, read: readGeneric},
	{name: "openai", read: readOpenAI},
	{name: "openai-codex", prefix: "codex", aliases: []string{"codex"}, read: readGeneric},
	{name: "anthropic", read: readGeneric},
	{name: "claude-subscription", prefix: "claude", aliases: []string{"claude"}, read: readGeneric},
	{name: "google-gemini-api", prefix: "gemini", aliases: []string{"gemini", "google", "google-gemini"}, read: readGeneric},
	{name: "google-cloudcode", prefix: "antigravity", aliases: []string{"antigravity", "google-antigravity", "gemini-cli"}, read: readGeneric},
	{name: "google-vertex", prefix: "vertex", aliases: []string{"vertex"}, read: readGeneric},
	{name: "xai", prefix: "grok", aliases: []string{"grok", "xai-oauth"}, read: readGeneric},
	{name: "opencode-go", prefix: "opencode", aliases: []string{"opencode"}, read: readGeneric},
	{name: "opencode-zen", prefix: "opencode", read: readGeneric},
	{name: "openrouter", read: readGeneric},
	{name: "groq", read: readOpenAI},
	{name: "deepseek", read: readGeneric},
	{name: "mistral", read: readGeneric},
	{name: "together", read: readGeneric},
	{name: "fireworks", read: readGeneric},
	{name: "deepinfra", read: readGeneric},
	{name: "moonshot", aliases: []string{"kimi"}, read: readGeneric},
	{name: "kimi-code", aliases: []string{"kimi-coding"}, read: readGeneric},
	{name: "zhipu", aliases: []string{"zai", "z-ai", "glm"}, read: readGeneric},
	{name: "minimax", read: readGeneric},
	{name: "dashscope", aliases: []string{"qwen", "alibaba"}, read: readGeneric},
	{name: "sensenova", read: readGeneric},
	{name: "volcengine-ark", aliases: []string{"volcengine", "ark"}, read: readGeneric},
	{name: "siliconflow", read: readGeneric},
	{name: "xiaomi-mimo", prefix: "mimo", aliases: []string{"mimo", "xiaomi"}, read: readGeneric},
	{name: "iflow", read: readGeneric},
	{name: "azure-openai", prefix: "azure", aliases: []string{"azure"}, read: readGeneric},
	{name: "aws-bedrock", prefix: "bedrock", aliases: []string{"bedrock"}, read: readGeneric},
	{name: "kiro", read: readGeneric},
	{name: "github-copilot", prefix: "copilot", aliases: []string{"copilot"}, read: readGeneric},
	{name: "github-models", read: readGeneric},
	{name: "cerebras", read: readGeneric},
	{name: "cohere", read: readGeneric},
	{name: "nous-portal", prefix: "nous", aliases: []string{"nous"}, read: readGeneric},
	{name: "nvidia-nim", prefix: "nvidia", aliases: []string{"nvidia"}, read: readGeneric},
	{name: "cloudflare-workers-ai", prefix: "workers-ai", aliases: []string{"workers-ai"}, read: readGeneric},
	{name: "digitalocean-gradient", prefix: "digitalocean", aliases: []string{"digitalocean"}, read: readGeneric},
	{name: "huggingface", read: readGeneric},
	{name: "ollama", read: readGeneric},
	{name: "ollama-cloud", read: readGeneric},
	{name: "llama.cpp", prefix: "llamacpp", aliases: []string{"llamacpp"}, read: readGeneric},
	{name: "lm-studio", aliases: []string{"lmstudio"}, read: readGeneric},
	{name: "vllm", read: readGeneric},
	{name: "litellm", read: readGeneric},
	{name: "new-api", aliases: []string{"one-api"}, read: readGeneric},
	{name: "cline", read: readGeneric},
	{name: "cursor", read: readGeneric},
	{name: "fluxrouter", read: readGeneric},
	{name: "free-claude-code", read: readGeneric},
	{name: "gitlawb-opengateway", read: readGeneric},
	{name: "multi-provider-proxy", read: readGeneric},
	{name: "neuralwatt", read: readGeneric},
	{name: "synthetic", read: readGeneric},
	{name: "wandb-inference", prefix: "wandb", aliases: []string{"wandb"}, read: readGeneric},
}

// dialectByName indexes the table by every name in it.
var dialectByName = indexDialects()

func indexDialects() map[string]*dialect {
	index := make(map[string]*dialect, 2*len(dialects))
	for i := range dialects {
		d := &dialects[i]
		index[d.name] = d
		for _, alias := range d.aliases {
			index[alias] = d
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
