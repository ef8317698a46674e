package probe

import "net/http"

// table is what each provider is asked. One that is not here is asked for its models alone: it documents nothing that a
// key can ask about what is left (OpenAI, Anthropic's API, Groq, Mistral …).
var table = []row{
	{names: "antigravity google-cloudcode", name: "Antigravity", dialect: "google-cloudcode", service: cloudCode, steps: antigravitySteps},
	{
		// openai/codex, codex-rs/backend-client: GET {chatgpt}/wham/usage. The list of models is that of codex-rs/codex-api,
		// which leaves out what clients of an older version cannot use.
		names: "openai-codex codex", name: "OpenAI Codex", dialect: "openai-codex", service: "https://chatgpt.com/backend-api/codex",
		account: "ChatGPT-Account-ID",
		steps: []step{
			{name: "models", path: "/models?client_version=1.0.0", when: discovers, read: readModels},
			{name: "usage", base: "https://chatgpt.com/backend-api", path: "/wham/usage", when: byOAuth, weight: decides, read: readUsage, plan: "plan_type"},
		},
	},
	{
		names: "opencode-go opencode", name: "OpenCode Go", dialect: "opencode-go", service: "https://opencode.ai/zen/go/v1", plans: true,
		steps: []step{listModels, {name: "usage", base: "https://opencode.ai/zen/go/v1", path: "/usage", weight: decides, read: readUsage}},
	},
	{
		// claude-code reports (claude-code#31021): it is throttled hard, by itself. API keys have nothing of the kind.
		names: "claude claude-subscription anthropic", name: "Claude", dialect: "claude-subscription", service: "https://api.anthropic.com",
		steps: []step{{
			name: "usage", base: "https://api.anthropic.com", path: "/api/oauth/usage", when: byOAuth, weight: decides, read: readUsage,
			header: http.Header{"Anthropic-Beta": {"oauth-2025-04-20"}},
		}},
	},
	{
		names: "grok xai xai-oauth", name: "Grok", dialect: "xai", service: "https://api.x.ai/v1",
		steps: []step{
			listModels,
			{name: "billing", base: "https://cli-chat-proxy.grok.com/v1", path: "/billing?format=credits", when: byOAuth, weight: decides, read: readUsage, plan: "config.subscriptionTier"},
		},
	},
	{
		// openrouter.ai/docs/api-reference: the credits of the account take a key that manages keys.
		names: "openrouter", name: "OpenRouter", dialect: "openrouter", service: "https://openrouter.ai/api/v1",
		steps: []step{
			listModels,
			{name: "key", base: "https://openrouter.ai/api/v1", path: "/key", weight: decides, read: readUsage},
			{name: "credits", base: "https://openrouter.ai/api/v1", path: "/credits", weight: extra, read: readUsage},
		},
	},
	{
		names: "deepseek", name: "DeepSeek", dialect: "deepseek", service: "https://api.deepseek.com/v1",
		steps: []step{listModels, {name: "balance", base: "https://api.deepseek.com", path: "/user/balance", weight: decides, read: readUsage}},
	},
	{
		names: "kimi-code kimi-coding", claims: "https://api.kimi.com/coding", name: "Kimi", dialect: "kimi-code", service: "https://api.kimi.com/coding/v1",
		paths: "/coding", // of its address for Anthropic's protocol
		steps: []step{listModels, {name: "usages", base: "https://api.kimi.com/coding/v1", path: "/usages", weight: decides, read: readUsage, plan: "user.membership.level"}},
	},
	{
		names: "moonshot kimi moonshotai", name: "Moonshot AI", dialect: "moonshot", service: "https://api.moonshot.ai/v1",
		steps: []step{listModels, {name: "balance", base: "https://api.moonshot.ai/v1", path: "/users/me/balance", weight: decides, read: readUsage}},
	},
	{
		// The server is that of the account: api.z.ai or open.bigmodel.cn.
		names: "zhipu zai z-ai glm", name: "Z.AI", dialect: "zhipu", service: "https://api.z.ai/api/paas/v4",
		paths: "/api/coding/paas/v4 /api/anthropic",
		steps: []step{listModels, {name: "quota", base: "https://api.z.ai", path: "/api/monitor/usage/quota/limit", weight: decides, read: readUsage, plan: "data.level"}},
	},
	{
		// It takes the token of the GitHub account, not the short-lived one that calls are made with.
		names: "github-copilot copilot", name: "GitHub Copilot", dialect: "github-copilot", service: "https://api.githubcopilot.com",
		steps: []step{{name: "user", base: "https://api.github.com", path: "/copilot_internal/user", weight: decides, read: readUsage, plan: "copilot_plan"}},
	},
	{names: "openai-compatible custom generic local ollama lm-studio lmstudio vllm llama.cpp llamacpp", keyless: true, steps: []step{listModels}},
}

// lists is the row of everybody else.
var lists = row{steps: []step{listModels}}

// listModels is the step that most providers share. It proves a credential and says nothing of what is left.
var listModels = step{name: "models", path: "/models", when: discovers, read: readModels}

// discovers reports whether the list of models is due.
func discovers(l *look) bool { return l.discover }

// byOAuth reports whether the credential is one of a person's account.
func byOAuth(l *look) bool { return l.credential.OAuth }
