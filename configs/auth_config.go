package configs

import "hermes-hub/router"

// readAuth reads a profile's auth_config: its credential is the api_key, else the access_token. token is what files of
// the Python hub call the key of a DeepSeek account.
func (r *reader) readAuth(b *block, s Severity) (router.Secret, Account) {
	defer b.done()
	b.hushed = true
	var credential router.Secret
	var keyFile string
	for _, key := range []string{"api_key", "access_token", "token"} {
		n := b.get(key)
		if value := n.secret(s); credential.Empty() {
			credential, keyFile = value, n.secretFile()
		}
	}
	return credential, Account{
		KeyFile:   keyFile,
		OAuthFile: r.resolve(b.get("oauth_file").text("")),
		Refresh:   b.get("refresh").yes(true),
		TokenURL:  b.get("token_url").url("http", "https"),

		ClientID:     b.get("client_id").text(""),
		ClientSecret: b.get("client_secret").secret(s),
		Project:      b.get("project").text(""),
	}
}
