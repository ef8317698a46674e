package router

// What many models have in common. Sources: the providers' model pages and the public catalogue models.dev, July 2026.
var (
	gpt4o     = Model{128_000, 16_384, Able, Able, Able}
	gpt41     = Model{1_047_576, 32_768, Able, Able, Able}
	gpt5      = Model{400_000, 128_000, Able, Able, Able}
	gpt5long  = Model{1_050_000, 128_000, Able, Able, Able}
	gpt5chat  = Model{128_000, 16_384, Able, Able, Able}
	o3        = Model{200_000, 100_000, Able, Able, Able}
	claude3   = Model{200_000, 4_096, Able, Able, Unknown}
	claude35  = Model{200_000, 8_192, Able, Able, Unknown}
	claude4op = Model{200_000, 32_000, Able, Able, Unknown}
	claude4   = Model{200_000, 64_000, Able, Able, Unknown}
	claude46  = Model{1_000_000, 128_000, Able, Able, Unknown}
	gemini2   = Model{1_048_576, 8_192, Able, Able, Able}
	gemini25  = Model{1_048_576, 65_536, Able, Able, Able}
	drawing   = Model{Tools: Unable}
	grok4     = Model{1_000_000, 30_000, Able, Able, Able}
	deepseek  = Model{1_000_000, 384_000, Able, Unable, Unknown}
	deepseek4 = Model{1_000_000, 384_000, Able, Unable, Able}
	kimi      = Model{262_144, 262_144, Able, Unable, Unknown}
	kimiSees  = Model{262_144, 262_144, Able, Able, Able}
	glm       = Model{204_800, 131_072, Able, Unable, Unknown}
	glm45     = Model{131_072, 98_304, Able, Unable, Unknown}
	minimax   = Model{204_800, 131_072, Able, Unable, Unknown}
	devstral  = Model{262_144, 262_144, Able, Unable, Unknown}
	mistral   = Model{262_144, 262_144, Able, Able, Unknown}
	qwen3     = Model{262_144, 65_536, Able, Unable, Unknown}
	qwenLong  = Model{1_000_000, 65_536, Able, Unable, Unknown}
)

// knownModels is the table: by the model's name in lower case, or by provider/name where a provider offers less or more of
// it than others do.
var knownModels = map[string]Model{
	"gpt-4o": gpt4o, "gpt-4o-mini": gpt4o, "gpt-4.1": gpt41, "gpt-4.1-mini": gpt41, "gpt-4.1-nano": gpt41,
	"gpt-5": gpt5, "gpt-5-mini": gpt5, "gpt-5-nano": gpt5, "gpt-5-codex": gpt5, "gpt-5-pro": {400_000, 272_000, Able, Able, Able},
	"gpt-5-chat": {400_000, 128_000, Unable, Able, Able},
	"gpt-5.1":    gpt5, "gpt-5.1-codex": gpt5, "gpt-5.1-codex-max": gpt5, "gpt-5.1-codex-mini": gpt5, "gpt-5.1-chat": gpt5chat,
	"gpt-5.2": gpt5, "gpt-5.2-codex": gpt5, "gpt-5.2-pro": {400_000, 128_000, Able, Able, Unable}, "gpt-5.2-chat": gpt5chat,
	"gpt-5.3-codex": gpt5, "gpt-5.3-codex-spark": {128_000, 32_000, Able, Able, Able}, "gpt-5.3-chat": gpt5chat,
	"gpt-5.4": gpt5long, "gpt-5.4-mini": gpt5, "gpt-5.4-nano": gpt5, "gpt-5.4-pro": {1_050_000, 128_000, Able, Able, Unable},
	"gpt-5.5": gpt5long, "gpt-5.5-pro": gpt5long,
	"o1": o3, "o3": o3, "o3-pro": o3, "o4-mini": o3, "o3-mini": {200_000, 100_000, Able, Unable, Able},
	"openai-codex/gpt-5.4": gpt5, "openai-codex/gpt-5.5": gpt5,

	"claude-3-haiku": claude3, "claude-3-opus": claude3, "claude-3-sonnet": claude3, "claude-3-5-sonnet": claude35, "claude-3-5-haiku": claude35,
	"claude-3-7-sonnet": claude4, "claude-opus-4": claude4op, "claude-opus-4-0": claude4op, "claude-opus-4-1": claude4op,
	"claude-sonnet-4": claude4, "claude-sonnet-4-0": claude4, "claude-sonnet-4-5": claude4, "claude-haiku-4-5": claude4, "claude-opus-4-5": claude4,
	"claude-opus-4-6": claude46, "claude-opus-4-7": claude46, "claude-opus-4-8": claude46, "claude-sonnet-5": claude46, "claude-fable-5": claude46,
	"claude-sonnet-4-6": {1_000_000, 64_000, Able, Able, Unknown},

	"gemini-2.0-flash": gemini2, "gemini-2.0-flash-lite": gemini2, "gemini-2.5-pro": gemini25, "gemini-2.5-flash": gemini25, "gemini-2.5-flash-lite": gemini25,
	"gemini-3-pro": gemini25, "gemini-3-flash": gemini25, "gemini-3.1-pro": gemini25, "gemini-3.1-flash-lite": gemini25, "gemini-3.5-flash": gemini25,
	"gemini-2.5-flash-image": drawing, "gemini-3-pro-image": drawing, "gemini-3.1-flash-image": drawing,

	"grok-4.3": grok4, "grok-build-0.1": {256_000, 256_000, Able, Able, Able},

	"deepseek-chat": deepseek, "deepseek-reasoner": deepseek, "deepseek-v4-flash": deepseek4, "deepseek-v4-pro": deepseek4,

	"kimi-k2-thinking": kimi, "kimi-k2.5": kimiSees, "kimi-k2.6": kimiSees, "kimi-k2.7-code": kimiSees,

	"glm-4.5": glm45, "glm-4.5-air": glm45, "glm-4.6": glm, "glm-4.7": glm, "glm-5": glm,
	"glm-5.1": {200_000, 131_072, Able, Unable, Able}, "glm-5.2": {1_000_000, 131_072, Able, Unable, Able},
	"opencode-go/glm-5": {202_752, 32_768, Able, Unable, Unknown}, "opencode-go/glm-5.1": {202_752, 32_768, Able, Unable, Unknown},
	"cerebras/zai-glm-4.7": {131_072, 40_960, Able, Unable, Able},

	"minimax-m2": {196_608, 128_000, Able, Unable, Unknown}, "minimax-m2.1": minimax, "minimax-m2.5": minimax, "minimax-m2.7": minimax,
	"minimax-m3": {1_000_000, 128_000, Able, Able, Unknown},

	"devstral-2512": devstral, "codestral": {256_000, 4_096, Able, Unable, Unknown}, "mistral-large-2512": mistral, "mistral-medium-2508": mistral,
	"mistral-medium-2604": {262_144, 262_144, Able, Able, Able}, "mistral-small-2603": {256_000, 256_000, Able, Able, Unknown},

	"qwen3-max": qwen3, "qwen3-coder-plus": {1_048_576, 65_536, Able, Unable, Unknown}, "qwen3-coder-flash": qwenLong,
	"qwen3.6-plus": {1_000_000, 65_536, Able, Able, Unknown}, "qwen3.7-plus": {1_000_000, 65_536, Able, Able, Unknown}, "qwen3.7-max": qwenLong,

	"groq/llama-3.3-70b-versatile": {131_072, 32_768, Able, Unable, Unknown}, "groq/llama-3.1-8b-instant": {131_072, 131_072, Able, Unable, Unknown},
	"groq/gpt-oss-20b": {131_072, 65_536, Able, Unable, Able}, "groq/gpt-oss-120b": {131_072, 65_536, Able, Unable, Able},

	"mimo-v2.5": {1_000_000, 128_000, Able, Able, Unknown}, "mimo-v2.5-pro": {1_048_576, 128_000, Able, Unable, Unknown},
}
