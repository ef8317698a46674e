package proxy

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

const (
	quotaGone  = `{"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","code":"usage_limit_reached"}}`
	quotaAt    = `{"error":{"message":"The usage limit has been reached","type":"usage_limit_reached","code":"usage_limit_reached","resets_in_seconds":%s}}`
	needCredit = `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`
	badKey     = `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`
	tooMany    = `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`
)

func quotaResets(seconds string) simulator.Step {
	return simulator.Status(429, strings.Replace(quotaAt, "%s", seconds, 1), nil)
}

// bubble runs f on a rig whose time is synctest's: no sockets, no waiting.
func bubble(t *testing.T, s setup, f func(*testing.T, *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s.direct = true
		r := newRig(t, s)
		defer r.sim.Close()
		f(t, r)
	})
}

// P03: an account that is out until T is not called before T, and is tried again after it.
func TestQuotaUntil(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", quotaResets("3600"))
		r.want(r.chat(ask), "200 profile=b attempts=2 after=quota_exhausted")
		time.Sleep(59 * time.Minute)
		r.want(r.chat(ask), "200 profile=b attempts=1")
		time.Sleep(61 * time.Second)
		r.want(r.chat(ask), "200 profile=a attempts=1")
		r.wantCalls("a=2 b=2 c=0")
	})
}

// P07: a refused credential takes the account out until it is changed, whatever time passes.
func TestAuthStays(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Status(401, badKey, nil))
		r.want(r.chat(ask), "200 profile=b attempts=2 after=auth_invalid")
		time.Sleep(48 * time.Hour)
		r.want(r.chat(ask), "200 profile=b attempts=1")
		r.wantCalls("a=1 b=2 c=0")
	})
}

// P08: repeated transient failures double the account's rest from base to max.
func TestTransientDoubles(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		for _, rest := range []time.Duration{5, 10, 20, 40, 60, 60} {
			r.sim.Push("a", simulator.ServerError)
			r.want(r.chat(ask), "200 profile=b attempts=2 after=server_error")
			time.Sleep(rest*time.Minute - time.Second)
			r.want(r.chat(ask), "200 profile=b attempts=1")
			time.Sleep(2 * time.Second)
		}
		r.want(r.chat(ask), "200 profile=a attempts=1")
		r.sim.Push("a", simulator.ServerError)
		r.want(r.chat(ask), "200 profile=b attempts=2 after=server_error")
		time.Sleep(5*time.Minute + time.Second)
		r.want(r.chat(ask), "200 profile=a attempts=1") // a success in between starts the count anew
	})
}

// P10, P11: the attempts cap counts calls and not skips; the role's number beats the router's; without failover there is
// one call, also when the first account is known to be out.
func TestAttemptsCap(t *testing.T) {
	f := func(name string, settings func(*router.Settings), roleCap int, want, calls string) {
		t.Run(name, func(t *testing.T) {
			s := setup{settings: settings, roles: []router.Role{{ID: "main", MaxAttempts: roleCap, Chain: []router.ChainItem{{Profile: "a"}, {Profile: "b"}, {Profile: "c"}}}}}
			r := newRig(t, s)
			for _, name := range []string{"a", "b", "c"} {
				r.sim.Push(name, simulator.ServerError)
			}
			r.want(r.chat(ask), want)
			r.wantCalls(calls)
		})
	}
	f("absent: every candidate once", nil, 0, "503 attempts=3 after=server_error,server_error,server_error code=upstream_unavailable", "a=1 b=1 c=1")
	f("router 2", func(s *router.Settings) { s.MaxAttempts = 2 }, 0, "503 attempts=2 after=server_error,server_error code=upstream_unavailable", "a=1 b=1 c=0")
	f("role 1 beats router 2", func(s *router.Settings) { s.MaxAttempts = 2 }, 1, "503 attempts=1 code=upstream_unavailable", "a=1 b=0 c=0")
	f("failover off", func(s *router.Settings) { s.Failover = false }, 0, "503 attempts=1 code=upstream_unavailable", "a=1 b=0 c=0")

	s := setup{settings: func(s *router.Settings) { s.MaxAttempts = 1 }}
	r := newRig(t, s)
	r.sim.Push("a", quotaResets("7200"))
	r.chat(ask)
	r.want(r.chat(ask), "200 profile=b attempts=1") // the skip of a did not count
}

// P12: when nobody can serve, the answer is the contract's row with the true earliest instant or none, never an
// assistant's text, and a call that is known to be hopeless calls nobody.
func TestExhaustion(t *testing.T) {
	f := func(name, want string, steps map[string]simulator.Step, contains ...string) {
		t.Run(name, func(t *testing.T) {
			bubble(t, setup{}, func(t *testing.T, r *rig) {
				for account, step := range steps {
					r.sim.Push(account, step)
				}
				got := r.chat(ask)
				r.want(got, want)
				for _, part := range contains {
					if !strings.Contains(got.body, part) {
						t.Errorf("%q is not in %s", part, got.body)
					}
				}
				if got.status != 200 && strings.Contains(got.body, `"choices"`) {
					t.Errorf("an error dressed as an answer: %s", got.body)
				}
			})
		})
	}
	three := func(a, b, c simulator.Step) map[string]simulator.Step {
		return map[string]simulator.Step{"a": a, "b": b, "c": c}
	}
	status := simulator.Status
	f("soon", "503 attempts=3 after=rate_limited,quota_exhausted,quota_exhausted retry=30 code=upstream_unavailable",
		three(status(429, tooMany, http.Header{"Retry-After": {"30"}}), quotaResets("7200"), status(429, quotaGone, nil)), `"retry_after":30`)
	f("later", "429 attempts=3 after=quota_exhausted,quota_exhausted,quota_exhausted should-retry=false code=usage_limit_reached",
		three(quotaResets("90000"), quotaResets("7200"), quotaResets("8000")), `"type":"usage_limit_reached"`, `"resets_in_seconds":7200`, `"resets_at":946692000`)
	f("quota, nobody says when", "429 attempts=3 after=quota_exhausted,quota_exhausted,server_error should-retry=false code=usage_limit_reached",
		three(status(429, quotaGone, nil), status(429, quotaGone, nil), simulator.ServerError))
	f("only billing", "402 attempts=3 after=billing,billing,billing should-retry=false code=payment_required",
		three(status(429, needCredit, nil), simulator.PaymentRequired, status(429, needCredit, nil)))
	f("only auth", "503 attempts=3 after=auth_invalid,auth_invalid,forbidden code=upstream_unavailable",
		three(status(401, badKey, nil), status(401, badKey, nil), simulator.Forbidden))
	f("billing and auth", "503 attempts=3 after=billing,auth_invalid,billing code=upstream_unavailable",
		three(status(429, needCredit, nil), status(401, badKey, nil), status(429, needCredit, nil)))
	f("transient, nobody says when", "503 attempts=3 after=server_error,overloaded,timeout code=upstream_unavailable",
		three(simulator.ServerError, simulator.Overloaded529, simulator.GatewayTimeout))
	nowhere := status(404, `{"detail":"Not Found"}`, nil)
	f("nobody has the path", "404 attempts=3 after=model_not_found,model_not_found,model_not_found code=model_not_found", three(nowhere, nowhere, nowhere))
	f("one has not the path", "200 profile=c attempts=3 after=model_not_found,model_not_found", map[string]simulator.Step{"a": nowhere, "b": status(405, `{"detail":"Method Not Allowed"}`, nil)}, "choices")
	f("too large for each", "413 attempts=3 after=request_too_large,request_too_large,request_too_large code=request_too_large",
		three(simulator.RequestOverTokenLimit, simulator.RequestOverTokenLimit, simulator.RequestOverTokenLimit))
	f("nobody has the model", "404 attempts=3 after=model_not_found,model_not_found,model_not_found code=model_not_found",
		three(simulator.NotFound, simulator.NotFound, simulator.NotFound))
}

// A second request that meets only accounts known to be out is answered from memory: 2 requests a second for 11 hours
// against a weekly limit were seen in the wild.
func TestExhaustedIsRemembered(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.sim.Push(name, quotaResets("7200"))
		}
		r.chat(ask)
		for range 20 {
			r.want(r.chat(ask), "429 should-retry=false code=usage_limit_reached")
		}
		r.wantCalls("a=1 b=1 c=1")
		time.Sleep(2*time.Hour - 5*time.Minute)
		r.want(r.chat(ask), "503 retry=300 code=upstream_unavailable")
	})
}

// P13, P14: a disabled profile is never called; enabled ones that share a fallback capability follow the chain in file
// order; a cold spare comes when all others are unusable, and not before.
func TestTiers(t *testing.T) {
	accounts := []simulator.Account{{Name: "spare", Key: "k0"}, {Name: "off", Key: "k1"}, {Name: "first", Key: "k2"}, {Name: "helper", Key: "k3"}, {Name: "stranger", Key: "k4"}}
	s := setup{
		accounts: accounts,
		profiles: func(ps []router.Profile) {
			for i := range ps {
				ps[i].PreferredModels = []string{"sim-1"}
			}
			ps[0].ColdSpare, ps[0].Capabilities = true, []string{"reasoning"}
			ps[1].Enabled = false
			ps[3].Capabilities = []string{"reasoning"}
			ps[4].Capabilities = []string{"drawing"}
		},
		roles: []router.Role{{ID: "main", Chain: []router.ChainItem{{Profile: "off"}, {Profile: "first"}}, FallbackCapabilities: []string{"reasoning"}}},
	}
	bubble(t, s, func(t *testing.T, r *rig) {
		r.want(r.chat(ask), "200 profile=first attempts=1")
		r.sim.Push("first", quotaResets("7200"))
		r.want(r.chat(ask), "200 profile=helper attempts=2 after=quota_exhausted")
		r.sim.Push("helper", quotaResets("7200"))
		r.want(r.chat(ask), "200 profile=spare attempts=2 after=quota_exhausted")
		r.want(r.chat(ask), "200 profile=spare attempts=1")
		r.sim.Push("spare", quotaResets("7200"))
		r.want(r.chat(ask), "429 attempts=1 should-retry=false code=usage_limit_reached")
		r.wantCalls("spare=3 off=0 first=2 helper=2 stranger=0")
	})
}

// P19, P20: a session stays with the account that answered it while the primary is out, returns when auto_return_primary
// says so, and does not carry its account into another role.
func TestAffinity(t *testing.T) {
	for _, back := range []bool{true, false} {
		s := setup{
			settings: func(s *router.Settings) { s.AutoReturnPrimary = back },
			roles: []router.Role{
				{ID: "r1", Affinity: true, Chain: []router.ChainItem{{Profile: "a"}, {Profile: "b"}, {Profile: "c"}}},
				{ID: "r2", Affinity: true, Chain: []router.ChainItem{{Profile: "c"}, {Profile: "b"}}},
			},
		}
		bubble(t, s, func(t *testing.T, r *rig) {
			r.sim.Push("a", quotaResets("60"))
			r.sim.Push("b", quotaResets("30"))
			r.want(r.chat(ask, "X-Hub-Session", "s"), "200 profile=c attempts=3 after=quota_exhausted,quota_exhausted")
			time.Sleep(40 * time.Second) // b is back, a is not
			r.want(r.chat(ask, "X-Session-Id", "s"), "200 profile=c attempts=1")
			r.want(r.chat(ask, "X-Hub-Session", "other"), "200 profile=b attempts=1")
			time.Sleep(40 * time.Second) // a is back
			want := "200 profile=c attempts=1"
			if back {
				want = "200 profile=a attempts=1"
			}
			r.want(r.chat(ask, "X-Hub-Session", "s"), want)
			r.want(r.chat(ask, "X-Hub-Session", "s", "X-Hub-Role", "r2"), "200 profile=c attempts=1")
		})
	}
}
