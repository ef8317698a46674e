package credential

import "github.com/tidwall/gjson"

// googleFile is what Google's programs keep: ~/.gemini/oauth_creds.json of Gemini CLI {"access_token", "refresh_token",
// "expiry_date" in ms, "id_token", "scope", "token_type"}, ~/.gemini/antigravity-cli/antigravity-oauth-token of
// Antigravity {"token": {"access_token", "refresh_token", "expiry" in RFC 3339}, "auth_method", "id_token"}, and gcloud's
// authorized_user with client_id and client_secret. A refresh is a form and wants the client's secret, which belongs to
// the program and stands in none of its files: where neither file nor configuration has it, the program has to refresh.
func googleFile() *format {
	return &format{
		name:      "Google's OAuth file",
		mend:      "sign in with Antigravity or Gemini CLI",
		providers: []string{"antigravity", "gemini", "vertex"},
		marks: func(doc gjson.Result) bool {
			return doc.Get("access_token").Exists() && doc.Get("expiry_date").Exists() ||
				doc.Get("token").IsObject() && doc.Get("auth_method").Exists() ||
				doc.Get("type").String() == "authorized_user"
		},
		roots: []string{"", "token"},
		names: names{
			access:  []string{"access_token"},
			refresh: []string{"refresh_token"},
			id:      []string{"id_token"},
			expires: []string{"expiry_date", "expiry", "expires_at"},
		},
		millis: true,
		more: func(doc, at gjson.Result, _ string, t *tokens) {
			for _, name := range []string{"project_id", "projectId", "project", "quota_project_id"} {
				if t.project == "" {
					t.project = presentable(text(at, []string{name}))
				}
				if t.project == "" {
					t.project = presentable(text(doc, []string{name}))
				}
			}
		},
		tokenURL:   "https://oauth2.googleapis.com/token",
		form:       true,
		needSecret: true,
	}
}
