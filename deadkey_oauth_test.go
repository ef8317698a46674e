package main

// oauthProofs are about the file in which an account's own program keeps its tokens: auth.json's are good, old.json's have
// run out, and the token endpoint has the key of the slow account for them.
func oauthProofs() map[string]proof {
	codex := edits{"first:\n    provider: openai-compatible", "first:\n    provider: openai-codex\n    protocol: chat\n    max_concurrency: 9"}
	with := func(auth string) edits { return edits{"{api_key: key-first}", auth} }
	from := func(auth string) edits { return append(with(auth), codex...) }
	saw := func(s *scene) string {
		who := s.post(chatPath, chatBody).line("Profile")
		if calls := append(s.sim.Calls("slow"), s.sim.Calls("first")...); len(calls) > 0 {
			return who + " by " + calls[0].Header.Get("Authorization")
		}
		return who
	}
	told := func(s *scene) string {
		s.post(chatPath, chatBody)
		return s.more.asked(s.t.Context(), "/token")
	}
	const codexClient = "app_EMoamEEZ73f0CkXaXp7hrann"
	return map[string]proof{
		"profiles.*.auth_config.oauth_file": {
			from: codex, to: with("{oauth_file: DIR/auth.json}"),
			want: [2]string{"200 first by Bearer key-first", "200 first by Bearer key-slow"}, see: saw,
		},
		"profiles.*.auth_config.refresh": {
			from: from("{oauth_file: DIR/old.json, refresh: off, token_url: PROBED/token}"),
			to:   with("{oauth_file: DIR/old.json, refresh: true, token_url: PROBED/token}"),
			want: [2]string{"200 second", "200 first by Bearer key-slow"}, see: saw,
		},
		"profiles.*.auth_config.token_url": {
			from: from("{oauth_file: DIR/old.json, token_url: http://FREE1/token}"), to: with("{oauth_file: DIR/old.json, token_url: PROBED/token}"),
			want: [2]string{"200 second", "200 first by Bearer key-slow"}, see: saw,
		},
		"profiles.*.auth_config.client_id": {
			from: from("{oauth_file: DIR/old.json, token_url: PROBED/token}"), to: with("{oauth_file: DIR/old.json, token_url: PROBED/token, client_id: mine}"),
			want: [2]string{"client_id=" + codexClient + " client_secret=", "client_id=mine client_secret="}, see: told,
		},
		"profiles.*.auth_config.client_secret": {
			from: from("{oauth_file: DIR/old.json, token_url: PROBED/token}"), to: with("{oauth_file: DIR/old.json, token_url: PROBED/token, client_secret: shh}"),
			want: [2]string{"client_id=" + codexClient + " client_secret=", "client_id=" + codexClient + " client_secret=shh"}, see: told,
		},
		"profiles.*.auth_config.project": {
			from: edits{"first:\n    provider: openai-compatible\n    custom_base_url: BASE", "first:\n    provider: antigravity\n    custom_base_url: PROBED"},
			to:   with("{api_key: key-first, project: p-1}"),
			want: [2]string{"project=", "project=p-1"},
			see: func(s *scene) string {
				s.post(chatPath, chatBody)
				return s.more.asked(s.t.Context(), "/v1internal:generateContent")
			},
		},
	}
}
