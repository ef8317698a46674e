package credential

import (
	"github.com/tidwall/gjson"

	"hermes-hub/router"
)

// codexFile is $CODEX_HOME/auth.json of Codex: {"auth_mode", "OPENAI_API_KEY", "tokens": {"id_token", "access_token",
// "refresh_token", "account_id"}, "last_refresh"}, and what the Python hub writes for its accounts: {"token": {…}}. Its
// access token is a JSON Web Token and tells when it runs out; a refresh is JSON, and the refresh token works once
// (openai/codex, codex-rs/login).
func codexFile() *format {
	return &format{
		name:      "Codex's auth.json",
		mend:      "run `codex login`",
		providers: []string{"openai-codex"},
		marks: func(doc gjson.Result) bool {
			return doc.Get("OPENAI_API_KEY").Exists() || doc.Get("tokens").IsObject() && doc.Get("last_refresh").Exists()
		},
		roots: []string{"tokens", "token", ""},
		names: names{
			access:  []string{"access_token"},
			refresh: []string{"refresh_token"},
			id:      []string{"id_token"},
			expires: []string{"expires_at"},
		},
		more:     readCodex,
		stamp:    "last_refresh",
		tokenURL: "https://auth.openai.com/oauth/token",
		clientID: "app_EMoamEEZ73f0CkXaXp7hrann",
	}
}

// readCodex chooses between key and tokens as Codex does: by auth_mode; without one the key counts. An account of
// ChatGPT's backend takes the tokens all the same, since that backend takes no key.
func readCodex(doc, at gjson.Result, provider string, t *tokens) {
	t.account = presentable(at.Get("account_id").String())
	key := text(doc, []string{"OPENAI_API_KEY"})
	mode := doc.Get("auth_mode").String()
	if key == "" || mode != "" && mode != "apikey" {
		return
	}
	if mode == "apikey" || t.access.Empty() || provider != "openai-codex" {
		*t = tokens{access: router.NewSecret(key), kind: APIKey}
	}
}
