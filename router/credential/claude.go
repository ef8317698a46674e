package credential

import (
	"path/filepath"

	"github.com/tidwall/gjson"
)

// claudeFile is ~/.claude/.credentials.json of Claude Code: {"claudeAiOauth": {"accessToken", "refreshToken", "expiresAt"
// in ms, "scopes", "subscriptionType", "rateLimitTier", "clientId"}}, beside tokens of MCP servers. A refresh is JSON; the
// refresh token works once.
func claudeFile() *format {
	return &format{
		name:      "Claude Code's .credentials.json",
		mend:      "run `claude` and /login",
		providers: []string{"claude"},
		marks:     func(doc gjson.Result) bool { return doc.Get("claudeAiOauth").IsObject() },
		roots:     []string{"claudeAiOauth", "token", ""},
		names: names{
			access:  []string{"accessToken", "access_token"},
			refresh: []string{"refreshToken", "refresh_token"},
			id:      []string{"id_token"},
			expires: []string{"expiresAt", "expires_at"},
		},
		millis: true,
		more: func(_, at gjson.Result, _ string, t *tokens) {
			t.plan = presentable(at.Get("subscriptionType").String())
		},
		locked:   claudeLocks,
		tokenURL: "https://platform.claude.com/v1/oauth/token",
		clientID: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
	}
}

// claudeLocks are the folders that Claude Code makes while it refreshes, in its order: the first is today's, the second
// what older versions have, beside the folder itself (anthropics/claude-code issues 95236 and 95739, nolabs-ai/nono issue
// 379). They mean something only where Claude Code itself keeps the file.
func claudeLocks(path string) []string {
	if filepath.Base(path) != ".credentials.json" {
		return nil
	}
	home := filepath.Dir(path)
	return []string{filepath.Join(home, ".oauth_refresh.lock"), home + ".lock"}
}
