package credential

// plainFile is any other program's file of OAuth tokens in the usual names (RFC 6749), at the top or in an object called
// token or tokens. Where they are refreshed, and for which client, the configuration says.
func plainFile() *format {
	return &format{
		name:  "the OAuth file",
		mend:  "sign in again with the program that keeps it",
		roots: []string{"", "token", "tokens"},
		names: names{
			access:  []string{"access_token", "accessToken"},
			refresh: []string{"refresh_token", "refreshToken"},
			id:      []string{"id_token"},
			expires: []string{"expires_at", "expiresAt", "expiry_date", "expiry"},
		},
		form: true,
	}
}
