package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"hermes-hub/admin"
	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

func serverProofs() map[string]proof {
	return map[string]proof{
		"server.listen": {
			to: edits{"listen: 127.0.0.1:0\n  admin", "listen: FREE1\n  admin"}, restart: true, want: [2]string{"false", "true"},
			see: func(s *scene) string { return fmt.Sprint(strings.HasSuffix(s.proxy, s.more.free[0])) },
		},
		"server.admin_listen": {
			to: edits{"admin_listen: 127.0.0.1:0", "admin_listen: FREE2"}, restart: true, want: [2]string{"false", "true"},
			see: func(s *scene) string { return fmt.Sprint(strings.HasSuffix(s.admn, s.more.free[1])) },
		},
		"server.data_dir": {
			to: edits{"DIR/one", "DIR/two"}, restart: true, want: [2]string{"one", "two"},
			see: func(s *scene) string { return s.exists("one", "two") },
		},
		"server.allowed_hosts": {
			to: edits{"#server", "allowed_hosts: [hub.example]"}, want: [2]string{"421 421", "200 200"},
			see: func(s *scene) string {
				return status("GET", "proxy", "/healthz", "", "Host", "hub.example")(s) + " " + status("GET", "admin", "/healthz", "", "Host", "hub.example")(s)
			},
		},
		"server.allowed_origins": {
			to: edits{"#server", `allowed_origins: ["https://chat.example"]`}, want: [2]string{"403", "200"},
			see: status("POST", "proxy", chatPath, chatBody, "Origin", "https://chat.example"),
		},
		"server.max_body_bytes": {
			to: edits{"#server", "max_body_bytes: 20"}, want: [2]string{"200", "413"},
			see: status("POST", "proxy", chatPath, chatBody),
		},
		"server.drain_grace_seconds": {
			from: edits{"key-first", "key-slow"}, to: edits{"#server", "drain_grace_seconds: 0.05"}, want: [2]string{"200", "503"},
			see: func(s *scene) string {
				got := make(chan string, 1)
				go func() { got <- who(s) }()
				if err := s.sim.WaitCalls(s.t.Context(), "slow", 1); err != nil {
					s.t.Error(err)
				}
				s.stop()
				status, _, _ := strings.Cut(<-got, " ")
				return status
			},
		},
	}
}

func adminProofs() map[string]proof {
	hmac := func(secret, audience, issuer string) func(*scene) string {
		return func(s *scene) string {
			bearer, err := admin.Mint(router.NewSecret(secret), audience, issuer, "", admin.ScopeViewer, time.Hour, time.Now())
			if err != nil {
				s.t.Fatal(err)
			}
			return status("GET", "admin", "/admin/v1/version", "", "Authorization", "Bearer "+bearer)(s)
		}
	}
	foreign := func(s *scene) string {
		return status("GET", "admin", "/admin/v1/version", "", "Authorization", "Bearer "+s.more.token(s.t))(s)
	}
	everywhere := edits{"admin_listen: 127.0.0.1:0", "admin_listen: 0.0.0.0:0"}
	return map[string]proof{
		"admin.jwt_secret": {
			to: edits{proofSecret, otherSecret}, restart: true, want: [2]string{"200", "401"}, see: hmac(proofSecret, "hermes-hub", ""),
		},
		"admin.jwks_url": {
			to: edits{"jwt_secret: " + proofSecret, "jwks_url: ISSUER"}, restart: true, want: [2]string{"401", "200"}, see: foreign,
		},
		"admin.public_key_file": {
			to: edits{"jwt_secret: " + proofSecret, "public_key_file: DIR/issuer.pem"}, restart: true, want: [2]string{"401", "200"}, see: foreign,
		},
		"admin.issuer": {
			to: edits{"#admin", "issuer: somebody"}, restart: true, want: [2]string{"200", "401"}, see: hmac(proofSecret, "hermes-hub", "nobody"),
		},
		"admin.audience": {
			to: edits{"#admin", "audience: somebody"}, restart: true, want: [2]string{"200", "401"}, see: hmac(proofSecret, "hermes-hub", ""),
		},
		"admin.metrics_token": {
			from: everywhere, to: edits{"#admin", "metrics_token: m-e-t-r-i-c-s"}, restart: true, want: [2]string{"401", "200"},
			see: func(s *scene) string {
				s.admn = strings.Replace(s.admn, "[::]", "127.0.0.1", 1) // everywhere is no address to ask at
				return status("GET", "admin", "/metrics", "", "Authorization", "Bearer m-e-t-r-i-c-s")(s)
			},
		},
	}
}

func clientProofs() map[string]proof {
	key := func(more string) string { return "client_keys: [{name: desk, key: key-of-desk" + more + "}]" }
	desk := func(matters ...string) func(*scene) string {
		return func(s *scene) string {
			return s.post(chatPath, chatBody, "Authorization", "Bearer key-of-desk").line(matters...)
		}
	}
	return map[string]proof{
		"client_keys[].key": {
			from: edits{"#top", key("")}, to: edits{"#top", strings.Replace(key(""), "key-of-desk", "another", 1)},
			want: [2]string{"200", "401"}, see: desk(),
		},
		"client_keys[].name": {
			from: edits{"#top", key("")}, to: edits{"#top", strings.Replace(key(""), "name: desk", "name: lab", 1)}, want: [2]string{"desk", "lab"},
			see: func(s *scene) string { desk()(s); s.waitLog(`"msg":"request"`, 1); return s.lastRequest("key") },
		},
		"client_keys[].default_role": {
			from: edits{"#top", key("")}, to: edits{"#top", key(", default_role: other")},
			want: [2]string{"200 main default_fallback", "200 other client_key"}, see: desk("Role", "Role-Source"),
		},
		"client_keys[].roles": {
			from: edits{"#top", key("")}, to: edits{"#top", key(", roles: [other]")}, want: [2]string{"200", "403"}, see: desk(),
		},
	}
}

func routerProofs() map[string]proof {
	// The session's first request is answered by the second account, because the first one fails; 20 minutes later, when
	// the first one's rest is long over, the bond decides.
	bound := func(headers ...string) func(*scene) string {
		return func(s *scene) string {
			s.sim.Push("first", simulator.ServerError)
			s.post(chatPath, chatBody, headers...)
			return s.chosen(20*time.Minute, "s-1")
		}
	}
	stays := edits{"#router", "auto_return_primary: false\n  #more"}
	failing := func(s *scene) string {
		s.sim.Push("first", simulator.ServerError)
		return who(s)
	}
	usageLimit := simulator.Status(429, `{"error":{"type":"usage_limit_reached","message":"limit"}}`, nil)
	rateLimit := simulator.Status(429, `{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`, nil)
	rows := map[string]proof{
		"router.enabled":               {to: edits{"#router", "enabled: false"}, want: [2]string{"200 second 2", "503  1"}, see: failing},
		"router.max_failover_attempts": {to: edits{"#router", "max_failover_attempts: 1"}, want: [2]string{"200 second 2", "503  1"}, see: failing},
		"router.default_role": {
			to: edits{"default_role: main", "default_role: other"}, want: [2]string{"200 main", "200 other"},
			see: func(s *scene) string { return s.post(chatPath, chatBody).line("Role") },
		},
		"router.auto_return_primary": {
			to: edits{"#router", "auto_return_primary: false"}, want: [2]string{"first", "second"}, see: bound("X-Hub-Session", "s-1"),
		},
		"router.session_affinity_ttl_seconds": {
			from: stays, to: edits{"#more", "session_affinity_ttl_seconds: 600"}, want: [2]string{"second", "first"}, see: bound("X-Hub-Session", "s-1"),
		},
		"router.session_headers": {
			from: stays, to: edits{"#more", "session_headers: [X-Mine]"}, want: [2]string{"first", "second"}, see: bound("X-Mine", "s-1"),
		},
		"router.cooldown_base_seconds": {
			to: edits{"#router", "cooldown_base_seconds: 10"}, want: [2]string{"second", "first"}, see: after(simulator.ServerError, 100*time.Second),
		},
		"router.cooldown_max_seconds": {
			to: edits{"#router", "cooldown_max_seconds: 400"}, want: [2]string{"second", "first"}, see: after(simulator.PaymentRequired, 1000*time.Second),
		},
		"router.quota_cooldown_seconds": {
			to: edits{"#router", "quota_cooldown_seconds: 10"}, want: [2]string{"second", "first"}, see: after(usageLimit, 100*time.Second),
		},
		"router.rate_limit_cooldown_seconds": {
			to: edits{"#router", "rate_limit_cooldown_seconds: 1"}, want: [2]string{"second", "first"}, see: after(rateLimit, 30*time.Second),
		},
		"router.lease_wait_seconds": {
			from: edits{"[first, second]", "[first]", "key-first", "key-slow", "#first", "max_concurrency: 1"},
			to:   edits{"#router", "lease_wait_seconds: 0"}, want: [2]string{"200 200", "200 503"},
			see: func(s *scene) string {
				var first string
				var both sync.WaitGroup
				both.Go(func() { first = s.post(chatPath, chatBody).line() })
				if err := s.sim.WaitCalls(s.t.Context(), "slow", 1); err != nil {
					s.t.Error(err)
				}
				second := s.post(chatPath, chatBody).line()
				both.Wait()
				return first + " " + second
			},
		},
		"router.cooldown_wait_seconds": {
			from: edits{"[first, second]", "[first]"}, to: edits{"#router", "cooldown_wait_seconds: 0"}, want: [2]string{"200 first 2", "503"},
			see: func(s *scene) string {
				s.sim.Push("first", simulator.Status(429, `{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`, http.Header{"Retry-After": {"1"}}))
				return strings.TrimSuffix(who(s), "  1")
			},
		},
	}
	maps.Copy(rows, thresholdProofs())
	return rows
}

// thresholdProofs: the first account's last answer told that five percent of its session are left.
func thresholdProofs() map[string]proof {
	codex := edits{"first:\n    provider: openai-compatible", "first:\n    provider: openai-codex\n    protocol: chat\n    max_concurrency: 9", "#router", "quota_threshold_action: switch #action"}
	nearlySpent := func(s *scene) string {
		s.sim.Push("first", simulator.Status(200, `{"id":"x","object":"chat.completion","model":"sim-1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`, http.Header{
			"X-Codex-Primary-Used-Percent": {"95"}, "X-Codex-Primary-Window-Minutes": {"300"}, "X-Codex-Primary-Reset-After-Seconds": {"3600"},
		}))
		s.post(chatPath, chatBody)
		return who(s)
	}
	return map[string]proof{
		"router.quota_threshold_percent": {
			from: codex, to: edits{"#router", "quota_threshold_action: switch\n  quota_threshold_percent: 1"}, want: [2]string{"200 second 1", "200 first 1"}, see: nearlySpent,
		},
		"router.quota_threshold_action": {
			from: codex, to: edits{"#router", "quota_threshold_action: notify"}, want: [2]string{"200 second 1", "200 first 1"}, see: nearlySpent,
		},
	}
}

func deadlineProofs() map[string]proof {
	streamed := strings.Replace(chatBody, "{", `{"stream":true,`, 1)
	stream := func(s *scene) string {
		a := s.post(chatPath, streamed)
		if strings.Contains(a.body, "upstream_interrupted") {
			return "interrupted"
		}
		return a.line("Profile")
	}
	slow := edits{"key-first", "key-slow"}
	return map[string]proof{
		"router.request_timeout_seconds":     {from: slow, to: edits{"#router", "request_timeout_seconds: 0.1"}, want: [2]string{"200 1", "503 1"}, see: func(s *scene) string { return s.post(chatPath, chatBody).line("Attempts") }},
		"router.commit_deadline_seconds":     {from: slow, to: edits{"#router", "commit_deadline_seconds: 0.1"}, want: [2]string{"200 slow", "503"}, see: named(stream, "first", "slow")},
		"router.first_token_timeout_seconds": {from: slow, to: edits{"#router", "first_token_timeout_seconds: 0.1"}, want: [2]string{"200 slow", "200 second"}, see: named(stream, "first", "slow")},
		"router.idle_timeout_seconds":        {from: edits{"key-first", "key-pausing"}, to: edits{"#router", "idle_timeout_seconds: 0.1"}, want: [2]string{"200 first", "interrupted"}, see: stream},
		"router.connect_timeout_seconds": {
			from: edits{"BASE\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}", "SLOWTLS\n    preferred_models: [sim-1]\n    auth_config: {api_key: key-first}"},
			to:   edits{"#router", "connect_timeout_seconds: 0.1"}, want: [2]string{"200 server_error", "200 timeout"},
			see: func(s *scene) string { return s.post(chatPath, chatBody).line("Failover-Reason") },
		},
	}
}

// named gives an account the name that a look calls it by.
func named(see func(*scene) string, id, as string) func(*scene) string {
	return func(s *scene) string { return strings.Replace(see(s), id, as, 1) }
}

func roleProofs() map[string]proof {
	modelField := func(id, field string) func(*scene) string {
		return func(s *scene) string {
			var m map[string]any
			if err := json.Unmarshal([]byte(s.send("GET", s.proxy+"/v1/models/"+id, "").body), &m); err != nil {
				s.t.Fatal(err)
			}
			return fmt.Sprint(m[field])
		}
	}
	rows := map[string]proof{
		"roles.*.role_name": {to: edits{"#main", "role_name: The chief"}, want: [2]string{"main", "The chief"}, see: modelField("main", "display_name")},
		"roles.*.aliases":   {to: edits{"#main", "aliases: [boss]"}, want: [2]string{"404", "200"}, see: status("POST", "proxy", "/r/boss"+chatPath, chatBody)},
		"roles.*.preferred_chain[].profile": {
			from: edits{"[first, second]", "[{profile: first}]"}, to: edits{"[first, second]", "[{profile: second}]"}, want: [2]string{"200 first 1", "200 second 1"}, see: who,
		},
		"roles.*.preferred_chain[].model": {
			to: edits{"[first, second]", "[{profile: first, model: sim-2}]"}, want: [2]string{"200 sim-1", "200 sim-2"},
			see: func(s *scene) string { return s.post("/r/main"+chatPath, autoBody).line("Model") },
		},
		"roles.*.fallback_capabilities": {
			from: edits{"[first, second]", "[first]", "#second", "capabilities: [spare]"}, to: edits{"#main", "fallback_capabilities: [spare]"},
			want: [2]string{"503  1", "200 second 2"},
			see:  func(s *scene) string { s.sim.Push("first", simulator.ServerError); return who(s) },
		},
		"roles.*.max_failover_attempts": {
			to: edits{"#main", "max_failover_attempts: 1"}, want: [2]string{"200 second 2", "503  1"},
			see: func(s *scene) string { s.sim.Push("first", simulator.ServerError); return who(s) },
		},
		"roles.*.session_affinity_enabled": {
			from: edits{"#router", "auto_return_primary: false"}, to: edits{"#main", "session_affinity_enabled: false"}, want: [2]string{"second", "first"},
			see: func(s *scene) string {
				s.sim.Push("first", simulator.ServerError)
				s.post(chatPath, chatBody, "X-Hub-Session", "s-1")
				return s.chosen(20*time.Minute, "s-1")
			},
		},
		"roles.*.default_model": {
			to: edits{"#other", "default_model: sim-1"}, want: [2]string{"200 main default_fallback", "200 other model_match"},
			see: func(s *scene) string { return s.post(chatPath, chatBody).line("Role", "Role-Source") },
		},
		"profiles.*.context_length": {
			to: edits{"#first", "context_length: 12345", "[first, second]", "[first]"}, want: [2]string{"<nil>", "12345"}, see: modelField("main", "context_length"),
		},
	}
	return rows
}

func pricingProofs() map[string]proof {
	price := func(rates string) edits { return edits{"#top", "pricing: {sim-1: {" + rates + "}}"} }
	usage := simulator.Status(200, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],
		"usage":{"prompt_tokens":1000000,"completion_tokens":1000000,"total_tokens":2000000,"prompt_tokens_details":{"cached_tokens":500000}}}`, nil)
	cost := func(s *scene) string {
		s.sim.Push("first", usage)
		s.post(chatPath, chatBody)
		return s.series(`hermes_hub_cost_usd_total{profile="first"}`)
	}
	from := price("input_cost_per_m: 1, output_cost_per_m: 2")
	return map[string]proof{
		"pricing.*.input_cost_per_m":        {from: from, to: price("input_cost_per_m: 10, output_cost_per_m: 2"), want: [2]string{"3", "12"}, see: cost},
		"pricing.*.output_cost_per_m":       {from: from, to: price("input_cost_per_m: 1, output_cost_per_m: 20"), want: [2]string{"3", "21"}, see: cost},
		"pricing.*.cached_input_cost_per_m": {from: from, to: price("input_cost_per_m: 1, output_cost_per_m: 2, cached_input_cost_per_m: 0.5"), want: [2]string{"3", "2.75"}, see: cost},
	}
}
