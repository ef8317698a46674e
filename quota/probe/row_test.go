package probe

import (
	"strings"
	"testing"
)

// stepOf finds a step of a row.
func stepOf(t *testing.T, r row, name string) step {
	t.Helper()
	for _, s := range r.steps {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("%s has no step %s", r.names, name)
	return step{}
}

// TestAddress: a step goes to the provider's documented address, unless the configuration names another; a credential for a
// server of somebody else's goes to that server alone.
func TestAddress(t *testing.T) {
	f := func(provider, step, base, service, want string) {
		t.Helper()
		target := Target{Provider: provider, BaseURL: base, ServiceURL: service}
		r := rowOf(target)
		if got := r.address(target, stepOf(t, r, step)); got != want {
			t.Errorf("%s %s base=%s service=%s goes to\n%s, want\n%s", provider, step, base, service, got, want)
		}
	}
	f("openai-codex", "usage", "", "", "https://chatgpt.com/backend-api/wham/usage")
	f("openai-codex", "usage", "", "https://chatgpt.com/backend-api/codex", "https://chatgpt.com/backend-api/wham/usage")
	f("openai-codex", "models", "", "https://chatgpt.com/backend-api/codex/", "https://chatgpt.com/backend-api/codex/models?client_version=1.0.0")
	// Another server's.
	f("openai-codex", "usage", "", "http://gate/backend-api/codex", "http://gate/backend-api/wham/usage")
	f("openai-codex", "usage", "", "http://gate/team/backend-api/codex", "http://gate/team/backend-api/wham/usage")
	f("openai-codex", "usage", "", "http://gate/v1", "http://gate/v1/wham/usage")
	f("openai-codex", "usage", "", "http://gate", "http://gate/backend-api/wham/usage")
	f("claude", "usage", "", "http://gate/acc", "http://gate/acc/api/oauth/usage")
	f("claude", "usage", "", "https://api.anthropic.com.evil.example", "https://api.anthropic.com.evil.example/api/oauth/usage")
	f("antigravity", "summary", "", "http://gate", "http://gate/v1internal:retrieveUserQuotaSummary")
	f("antigravity", "summary", "", "https://cloudcode-pa.googleapis.com", "https://daily-cloudcode-pa.googleapis.com/v1internal:retrieveUserQuotaSummary")
	f("grok", "billing", "", "https://gate/v1", "https://gate/v1/billing?format=credits")
	f("grok", "billing", "", "https://api.x.ai/v1", "https://cli-chat-proxy.grok.com/v1/billing?format=credits")
	f("zhipu", "quota", "", "https://open.bigmodel.cn/api/anthropic", "https://open.bigmodel.cn/api/monitor/usage/quota/limit")
	f("deepseek", "balance", "", "http://gate/v1", "http://gate/user/balance")
	f("deepseek", "balance", "", "https://api.deepseek.com", "https://api.deepseek.com/user/balance")
	// The configuration's, with and without as much of the path as people write.
	f("openai-codex", "usage", "http://sim", "", "http://sim/backend-api/wham/usage")
	f("openai-codex", "usage", "http://sim/", "", "http://sim/backend-api/wham/usage")
	f("openai-codex", "usage", "http://sim/backend-api", "", "http://sim/backend-api/wham/usage")
	f("openai-codex", "usage", "http://sim/backend-api/codex", "", "http://sim/backend-api/wham/usage")
	f("openai-codex", "usage", "http://sim/a", "https://chatgpt.com/backend-api/codex", "http://sim/a/wham/usage")
	f("openai-codex", "models", "http://sim", "", "http://sim/backend-api/codex/models?client_version=1.0.0")
	f("opencode-go", "usage", "http://sim", "https://opencode.ai/zen/go/v1", "http://sim/zen/go/v1/usage")
	f("opencode-go", "usage", "http://sim/zen/go/v1", "https://opencode.ai/zen/go/v1", "http://sim/zen/go/v1/usage")
	f("opencode-go", "models", "http://sim/x/zen/go/v1", "https://opencode.ai/zen/go/v1", "http://sim/x/zen/go/v1/models")
	f("opencode-go", "models", "http://sim", "http://gate/v1", "http://sim/v1/models")
	f("claude", "usage", "http://sim", "https://api.anthropic.com", "http://sim/api/oauth/usage")
	f("grok", "billing", "http://sim/v1", "https://api.x.ai/v1", "http://sim/v1/billing?format=credits")
	f("antigravity", "project", "http://sim/cloud", "", "http://sim/cloud/v1internal:loadCodeAssist")
}

// TestRowOf: a row is found by the account's address, its provider, its dialect, in this order.
func TestRowOf(t *testing.T) {
	f := func(target Target, want string) {
		t.Helper()
		if got := rowOf(target).names; !strings.HasPrefix(got+" ", want+" ") {
			t.Errorf("%+v has the row %q, want %q", target, got, want)
		}
	}
	f(Target{Provider: "claude", Dialect: "claude-subscription"}, "claude")
	f(Target{Provider: "anthropic"}, "claude claude-subscription anthropic")
	f(Target{Provider: "moonshot", ServiceURL: "https://api.moonshot.ai/v1"}, "moonshot")
	f(Target{Provider: "moonshot", ServiceURL: "https://api.kimi.com/coding/v1"}, "kimi-code")
	f(Target{Provider: "my-own", Dialect: "deepseek"}, "deepseek")
	f(Target{Provider: "mistral", Dialect: "mistral"}, "")
	f(Target{}, "")
}
