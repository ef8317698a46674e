package router

// providers is the table. Base URLs are the providers' documented ones; they end where the protocol's path is appended. Those
// without one belong to a resource, a project or a machine of the user's.
var providers = []Provider{
	// Subscriptions.
	{ID: "antigravity", Name: "Google Antigravity", Aliases: []string{"google-antigravity"}, BaseURL: "https://cloudcode-pa.googleapis.com", Protocol: ProtocolCloudCode, Auth: AuthBearer, Subscription: true, Dialect: "google-cloudcode"},
	{ID: "openai-codex", Name: "OpenAI Codex", Aliases: []string{"codex"}, BaseURL: "https://chatgpt.com/backend-api/codex", Protocol: ProtocolResponses, Auth: AuthBearer, Subscription: true, Codex: true, Dialect: "openai-codex"},
	{ID: "opencode-go", Name: "OpenCode Go", Aliases: []string{"opencode"}, BaseURL: "https://opencode.ai/zen/go/v1", Protocol: ProtocolChat, Auth: AuthBearer, Subscription: true, Dialect: "opencode-go"},
	// One call at a time like OpenCode Go: the Python hub takes the two for one.
	{ID: "opencode-zen", Name: "OpenCode Zen", BaseURL: "https://opencode.ai/zen/v1", Protocol: ProtocolChat, Auth: AuthBearer, Subscription: true, Dialect: "opencode-zen"},
	{ID: "claude", Name: "Claude", Aliases: []string{"anthropic"}, BaseURL: "https://api.anthropic.com", Protocol: ProtocolMessages, Auth: AuthXAPIKey, Subscription: true, Dialect: "claude-subscription", Serves: []string{"claude-"}},
	{ID: "grok", Name: "Grok", Aliases: []string{"xai", "xai-oauth"}, BaseURL: "https://api.x.ai/v1", Protocol: ProtocolChat, Auth: AuthBearer, Subscription: true, Dialect: "xai", Serves: []string{"grok-"}},

	// API keys.
	{ID: "openai", Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "openai", Serves: []string{"gpt-", "o1", "o3", "o4", "chatgpt-"}},
	{ID: "gemini", Name: "Google Gemini", Aliases: []string{"google", "google-gemini"}, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Protocol: ProtocolGemini, Auth: AuthGoogKey, Dialect: "google-gemini-api", Serves: []string{"gemini-"}},
	{ID: "openrouter", Name: "OpenRouter", BaseURL: "https://openrouter.ai/api/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "openrouter"},
	{ID: "deepseek", Name: "DeepSeek", BaseURL: "https://api.deepseek.com/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "deepseek", Serves: []string{"deepseek-"}},
	{ID: "groq", Name: "Groq", BaseURL: "https://api.groq.com/openai/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "groq"},
	{ID: "mistral", Name: "Mistral", Aliases: []string{"mistralai"}, BaseURL: "https://api.mistral.ai/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "mistral", Serves: []string{"mistral-", "ministral-", "magistral-", "devstral-", "codestral-", "pixtral-"}},
	{ID: "together", Name: "Together AI", Aliases: []string{"togetherai"}, BaseURL: "https://api.together.xyz/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "together"},
	{ID: "fireworks", Name: "Fireworks AI", Aliases: []string{"fireworks-ai"}, BaseURL: "https://api.fireworks.ai/inference/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "fireworks"},
	{ID: "cerebras", Name: "Cerebras", BaseURL: "https://api.cerebras.ai/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "cerebras"},
	{ID: "moonshot", Name: "Moonshot AI", Aliases: []string{"kimi", "moonshotai"}, BaseURL: "https://api.moonshot.ai/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "moonshot", Serves: []string{"kimi-", "moonshot-"}},
	{ID: "zhipu", Name: "Z.AI", Aliases: []string{"zai", "z-ai", "glm"}, BaseURL: "https://api.z.ai/api/paas/v4", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "zhipu", Serves: []string{"glm-"}},
	{ID: "minimax", Name: "MiniMax", BaseURL: "https://api.minimax.io/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "minimax", Serves: []string{"MiniMax-"}},
	{ID: "dashscope", Name: "Alibaba DashScope", Aliases: []string{"qwen", "alibaba"}, BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "dashscope", Serves: []string{"qwen"}},
	{ID: "nous", Name: "Nous Portal", Aliases: []string{"nous-portal"}, BaseURL: "https://inference-api.nousresearch.com/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "nous-portal"},
	{ID: "nvidia", Name: "NVIDIA NIM", Aliases: []string{"nvidia-nim"}, BaseURL: "https://integrate.api.nvidia.com/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "nvidia-nim"},
	{ID: "github-models", Name: "GitHub Models", BaseURL: "https://models.github.ai/inference", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "github-models"},
	{ID: "azure-openai", Name: "Azure OpenAI", Aliases: []string{"azure"}, Protocol: ProtocolChat, Auth: AuthAPIKey, Dialect: "azure-openai"},
	{ID: "vertex", Name: "Google Vertex AI", Aliases: []string{"google-vertex"}, Protocol: ProtocolGemini, Auth: AuthBearer, Dialect: "google-vertex", Serves: []string{"gemini-"}},

	// Machines of the user's own.
	{ID: "ollama", Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "ollama"},
	{ID: "lm-studio", Name: "LM Studio", Aliases: []string{"lmstudio"}, BaseURL: "http://127.0.0.1:1234/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "lm-studio"},
	{ID: "vllm", Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "vllm"},
	{ID: "llama.cpp", Name: "llama.cpp", Aliases: []string{"llamacpp"}, BaseURL: "http://127.0.0.1:8080/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "llama.cpp"},
	{ID: "local", Name: "Local", BaseURL: "http://127.0.0.1:8080/v1", Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "generic"},
	{ID: "openai-compatible", Name: "OpenAI-compatible", Aliases: []string{"custom"}, Protocol: ProtocolChat, Auth: AuthBearer, Dialect: "generic"},
}
