package configs

import (
	"strings"

	"hermes-hub/router"
)

// readAuth reads a profile's auth_config: its credential is the api_key, else the access_token. token is what files of
// the Python hub call the key of a DeepSeek account.
func (r *reader) readAuth(b *block, s Severity) (router.Secret, Account) {
	defer b.done()
	b.hushed = true
	var credential router.Secret
	var keyFile, from string
	for _, key := range []string{"api_key", "access_token", "token"} {
		n := b.get(key)
		if value := n.secret(s); credential.Empty() {
			credential, keyFile, from = value, n.secretFile(), key
		}
	}
	return credential, Account{
		KeyFile:   keyFile,
		Token:     from == "access_token" && !isKey(credential),
		OAuthFile: r.resolve(b.get("oauth_file").text("")),
		Refresh:   b.get("refresh").yes(true),
		TokenURL:  b.get("token_url").url("http", "https"),

		ClientID:     b.get("client_id").text(""),
		ClientSecret: b.get("client_secret").secret(s),
		Project:      b.get("project").text(""),
	}
}

// isKey reports whether an access_token is an API key all the same, as the Python hub allows: Anthropic's and OpenAI's begin
// with sk-, Google's with AIza.
func isKey(credential router.Secret) bool {
	text := credential.Reveal()
	return strings.HasPrefix(text, "sk-") || strings.HasPrefix(text, "AIza")
}
