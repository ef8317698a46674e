package main

import (
	"fmt"
	"os"
	"strings"

	"hermes-hub/proxy/simulator"
)

// profileProofs are about which account serves what.
func profileProofs() map[string]proof {
	model := func(asked string) func(*scene) string {
		return func(s *scene) string {
			return s.post(chatPath, strings.Replace(chatBody, "sim-1", asked, 1)).line("Profile", "Model")
		}
	}
	elsewhere := edits{"custom_base_url: BASE\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}", "custom_base_url: PROBED\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}"}
	called := func(s *scene) string {
		s.post(chatPath, chatBody)
		path, _, _ := strings.Cut(<-s.more.visits, " ")
		return path
	}
	firstModels := func(more string) edits {
		return edits{"preferred_models: [sim-1]\n    auth_config: {api_key: key-first}", more + "\n    auth_config: {api_key: key-first}"}
	}
	return map[string]proof{
		"profiles.*.provider": {
			from: elsewhere, to: edits{"first:\n    provider: openai-compatible", "first:\n    provider: claude"},
			want: [2]string{"/chat/completions", "/v1/messages"}, see: called,
		},
		"profiles.*.protocol":   {from: elsewhere, to: edits{"#first", "protocol: responses"}, want: [2]string{"/chat/completions", "/responses"}, see: called},
		"profiles.*.enabled":    {to: edits{"#first", "enabled: false"}, want: [2]string{"200 first 1", "200 second 1"}, see: who},
		"profiles.*.cold_spare": {to: edits{"#first", "cold_spare: true"}, want: [2]string{"200 first 1", "200 second 1"}, see: who},
		"profiles.*.capabilities": {
			from: edits{"[first, second]", "[first]", "#main", "fallback_capabilities: [spare]"}, to: edits{"#second", "capabilities: [spare]"},
			want: [2]string{"503  1", "200 second 2"},
			see:  func(s *scene) string { s.sim.Push("first", simulator.ServerError); return who(s) },
		},
		"profiles.*.preferred_models": {to: firstModels("preferred_models: [sim-2]"), want: [2]string{"200 first sim-1", "200 first sim-2"}, see: func(s *scene) string {
			return s.post("/r/main"+chatPath, autoBody).line("Profile", "Model")
		}},
		"profiles.*.fallback_models": {to: edits{"#first", "fallback_models: [sim-2]"}, want: [2]string{"404", "200 first sim-2"}, see: model("sim-2")},
		"profiles.*.model_map":       {to: edits{"#first", "model_map: {fast: sim-2}"}, want: [2]string{"404", "200 first sim-2"}, see: model("fast")},
		"profiles.*.max_concurrency": {
			to: edits{"#first", "max_concurrency: 1"}, want: [2]string{"absent 200 first", "1 200 second"},
			see: func(s *scene) string {
				leave := s.hold()
				defer leave()
				return s.series(`hermes_hub_lease_limit{profile="first"}`) + " " + s.post(chatPath, chatBody).line("Profile")
			},
		},
	}
}

// accountProofs are about how an account is called, and by what name.
func accountProofs() map[string]proof {
	saw := func(header string) func(*scene) string {
		return func(s *scene) string {
			s.post(chatPath, chatBody)
			calls := append(s.sim.Calls("first"), s.sim.Calls("slow")...)
			if len(calls) == 0 {
				return "nobody"
			}
			return calls[len(calls)-1].Header.Get(header)
		}
	}
	credential := func(to string) edits { return edits{"{api_key: key-first}", to} }
	return map[string]proof{
		"profiles.*.custom_base_url": {
			to:   edits{"BASE\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}", "ANOTHER\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}"},
			want: [2]string{"1 0", "0 1"},
			see: func(s *scene) string {
				s.post(chatPath, chatBody)
				return fmt.Sprint(s.sim.Total("first"), s.more.other.Total("elsewhere"))
			},
		},
		"profiles.*.headers": {to: edits{"#first", "headers: {X-Team: blue}"}, want: [2]string{"", "blue"}, see: saw("X-Team")},
		"profiles.*.proxy_url": {
			to: edits{"#first", "proxy_url: PROXY"}, want: [2]string{"200 first 1, 0 proxied", "200 second 2, 1 proxied"},
			see: func(s *scene) string { return fmt.Sprintf("%s, %d proxied", who(s), s.more.proxied.Load()) },
		},
		"profiles.*.auth_config.api_key":      {to: credential("{api_key: key-slow}"), want: [2]string{"Bearer key-first", "Bearer key-slow"}, see: saw("Authorization")},
		"profiles.*.auth_config.access_token": {from: credential("{access_token: key-first}"), to: credential("{access_token: key-slow}"), want: [2]string{"Bearer key-first", "Bearer key-slow"}, see: saw("Authorization")},
		"profiles.*.auth_config.token":        {from: credential("{token: key-first}"), to: credential("{token: key-slow}"), want: [2]string{"Bearer key-first", "Bearer key-slow"}, see: saw("Authorization")},
		"profiles.*.display_name": {
			to: edits{"#first", "display_name: The desk's"}, want: [2]string{"false", "true"}, see: says("first (The desk's): present", "doctor", "--offline"),
		},
		"profiles.*.account_id": {
			from: edits{"#second", "account_id: one"}, to: edits{"#first", "account_id: one"}, want: [2]string{"false", "true"},
			see: says("the same account as first", "check"),
		},
		"profiles.*.probe.enabled": { // each file has a path of its own: what was asked for before a reload does not count after it
			from: edits{"probe: {enabled: false} #look", "probe: {enabled: true, base_url: PROBED/one}"},
			to:   edits{"probe: {enabled: false} #look", "probe: {enabled: false, base_url: PROBED/two}"}, want: [2]string{"looked at", "left alone"},
			see: func(s *scene) string {
				if file, err := os.ReadFile(s.path); err != nil || strings.Contains(string(file), "/two") {
					return s.more.visited(s.t.Context(), "/two")
				}
				return s.more.visited(s.t.Context(), "/one")
			},
		},
		"profiles.*.probe.base_url": {
			from: edits{"probe: {enabled: false} #look", "probe: {enabled: true}"},
			to:   edits{"probe: {enabled: false} #look", "probe: {enabled: true, base_url: PROBED}"}, want: [2]string{"left alone", "looked at"},
			see: func(s *scene) string { return s.more.visited(s.t.Context(), "/") },
		},
		// Keys of the Python hub's files that are not acted on are said to be ignored.
		"profiles.*.profile_id":      {to: edits{"#first", "profile_id: x"}, want: [2]string{"false", "true"}, see: says("profile_id is ignored", "check")},
		"profiles.*.request_options": {to: edits{"#first", "request_options: {a: 1}"}, want: [2]string{"false", "true"}, see: says("request_options is ignored", "check")},
	}
}
