package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/quota"
	"hermes-hub/router"
)

// nodesOf reads "a=usable b=concurrency c=cooldown@30": profiles with their reasons, and in how many seconds after epoch
// what stands against them ends.
func nodesOf(t *testing.T, text string) []router.Node {
	t.Helper()
	var nodes []router.Node
	for field := range strings.FieldsSeq(text) {
		id, reason, _ := strings.Cut(field, "=")
		reason, at, timed := strings.Cut(reason, "@")
		n := router.Node{Profile: &router.Profile{ID: id}, Reason: router.Reason(reason)}
		switch {
		case reason == "usable":
			n.Reason = router.Usable
		case timed:
			seconds, err := time.ParseDuration(at + "s")
			if err != nil {
				t.Fatal(err)
			}
			n.Block = quota.Block{State: quota.State(reason), Until: epoch.Add(seconds)}
		}
		nodes = append(nodes, n)
	}
	return nodes
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestNextInstant(t *testing.T) {
	f := func(nodes, want string, failed ...router.ChainItem) {
		t.Helper()
		got := "never"
		s := search{failed: failed}
		if at, ok := nextInstant(nodesOf(t, nodes), s.open); ok {
			got = at.Sub(epoch).String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", nodes, got, want)
		}
	}
	f("", "never")
	f("a=usable b=concurrency c=disabled d=model_not_served", "never")
	f("a=rate_limited@30", "30s")
	f("a=rate_limited@30 b=cooldown@7.5 c=quota_exhausted@9000", "7.5s")
	f("a=quota_exhausted@9000", "2h30m0s")
	f("a=auth_required b=billing@5 c=forbidden@6 d=model_not_found@7", "never") // time does not cure these
	f("a=rate_limited", "never")                                                // until something else changes
	f("a=rate_limited@5 b=rate_limited@9", "9s", router.ChainItem{Profile: "a"})
}

// How long a request waits, and for what: "hold 3s" is for an account to come back, "queue 10s" for a slot.
func TestPatience(t *testing.T) {
	f := func(nodes string, p patience, want string) {
		t.Helper()
		s := search{}
		d, what := p.wait(nodesOf(t, nodes), s.open, epoch)
		got := map[awaited]string{aSlot: "queue ", aReturn: "hold ", aTrial: "trial "}[what] + d.String()
		if d == 0 {
			got = "no"
		}
		if got != want {
			t.Errorf("%s %+v: got %s, want %s", nodes, p, got, want)
		}
	}
	fresh := patience{queue: 10 * time.Second, hold: 45 * time.Second, due: 240 * time.Second}
	f("a=rate_limited@3", fresh, "hold 3s")
	f("a=rate_limited@45", fresh, "hold 45s")
	f("a=rate_limited@46", fresh, "no")
	f("a=rate_limited@46 b=cooldown@44", fresh, "hold 44s")
	f("a=rate_limited@3", patience{due: time.Hour}, "no")
	f("a=rate_limited@3", patience{hold: 45 * time.Second, due: 3 * time.Second}, "no") // it would end with the deadline
	f("a=rate_limited@3", patience{hold: 45 * time.Second, due: 4 * time.Second}, "hold 3s")
	f("a=concurrency", fresh, "queue 10s")
	f("a=concurrency", patience{hold: 45 * time.Second, due: time.Hour}, "no")
	f("a=concurrency", patience{queue: -time.Second}, "no")
	f("a=concurrency b=rate_limited@3", fresh, "hold 3s")
	f("a=concurrency b=rate_limited@30", fresh, "hold 30s") // a slot is welcome all the while
	f("a=concurrency b=rate_limited@60", fresh, "queue 10s")
	f("a=usable b=rate_limited@3", fresh, "queue 10s") // free since the plan was made
	f("a=auth_required b=disabled c=billing@3", fresh, "no")
	f("", fresh, "no")
	f("a=half_open@3", patience{due: time.Hour}, "trial 3s")
	f("a=half_open@3 b=concurrency c=quota_exhausted@9000", fresh, "trial 3s") // a slot is welcome meanwhile
	f("a=half_open@3 b=half_open@1", fresh, "trial 1s")
	f("a=half_open@3 b=rate_limited@2", fresh, "hold 2s")
	f("a=half_open@3 b=rate_limited@2", patience{due: time.Hour}, "trial 3s")
	f("a=half_open@3", patience{due: time.Second}, "trial 1s")
	f("a=half_open@3 b=usable", fresh, "queue 10s")
}

func wait429(seconds string) simulator.Step {
	return simulator.Status(429, tooMany, http.Header{"Retry-After": {seconds}})
}

// patient is a hub with accounts that waits as it does by default.
func patient(accounts ...string) setup {
	s := setup{config: func(c *Config) { c.LeaseWait, c.CooldownWait = 10*time.Second, 45*time.Second }}
	for _, name := range accounts {
		s.accounts = append(s.accounts, simulator.Account{Name: name, Key: "sk-" + name, Models: []string{"sim-1"}})
	}
	return s
}

// A short wait with no alternative is waited out inside the request; a long one is answered honestly and at once. The rig's
// deadlines: commit 35 s, total 60 s.
func TestHold(t *testing.T) {
	f := func(name, body, want string, took, waited time.Duration, change func(*setup), steps ...simulator.Step) {
		t.Run(name, func(t *testing.T) {
			s := patient("a")
			if change != nil {
				change(&s)
			}
			bubble(t, s, func(t *testing.T, r *rig) {
				r.sim.Push("a", steps...)
				began := time.Now()
				r.want(r.chat(body), want)
				if d := time.Since(began); d != took {
					t.Errorf("took %s, want %s", d, took)
				}
				if x := r.told.last(); x.Waited != waited || x.Overhead != 0 {
					t.Errorf("waited %s, want %s; the hub's own share: %s", x.Waited, waited, x.Overhead)
				}
				r.settle()
			})
		})
	}
	const s = time.Second
	bySettings := func(change func(*router.Settings)) func(*setup) {
		return func(s *setup) { s.settings = change }
	}
	f("plain", ask, "200 profile=a attempts=2 after=rate_limited", 3*s, 3*s, nil, wait429("3"))
	f("stream", askStream, "200 profile=a attempts=2 after=rate_limited [DONE]", 3*s, 3*s, nil, wait429("3"))
	f("more than once", ask, "200 profile=a attempts=4 after=rate_limited,rate_limited,rate_limited", 9*s, 9*s, nil, wait429("3"), wait429("2"), wait429("4"))
	f("the hub's own cool-down", ask, "200 profile=a attempts=2 after=rate_limited", 20*s, 20*s,
		bySettings(func(s *router.Settings) { s.Policy.RateLimitCooldown = 20 * time.Second }), simulator.Status(429, tooMany, nil))
	f("after a failure of the server", ask, "200 profile=a attempts=2 after=server_error", 5*s, 5*s,
		bySettings(func(s *router.Settings) { s.Policy.CooldownBase = 5 * time.Second }), simulator.ServerError)
	f("too far", ask, "503 attempts=1 retry=46 code=upstream_unavailable", 0, 0, nil, wait429("46"))
	f("in total no more than it may", ask, "503 attempts=3 after=rate_limited,rate_limited,rate_limited retry=6 code=upstream_unavailable", 40*s, 40*s, nil,
		wait429("20"), wait429("20"), wait429("6"))
	f("past the commit deadline", askStream, "503 attempts=1 retry=36 code=upstream_unavailable", 0, 0, nil, wait429("36"))
	f("no commit deadline", ask, "200 profile=a attempts=2 after=rate_limited", 36*s, 36*s, nil, wait429("36"))
	f("up to the commit deadline", askStream, "503 attempts=2 after=rate_limited,rate_limited retry=16 code=upstream_unavailable", 20*s, 20*s, nil,
		wait429("20"), wait429("16"))
	f("attempts are counted", ask, "503 attempts=2 after=rate_limited,rate_limited retry=3 code=upstream_unavailable", 3*s, 3*s,
		bySettings(func(s *router.Settings) { s.MaxAttempts = 2 }), wait429("3"), wait429("3"))
	f("failover off", ask, "503 attempts=1 retry=3 code=upstream_unavailable", 0, 0,
		bySettings(func(s *router.Settings) { s.Failover = false }), wait429("3"))
	f("only billing", ask, "402 attempts=1 should-retry=false code=payment_required", 0, 0,
		bySettings(func(s *router.Settings) { s.Policy.CooldownMax = 5 * time.Second }), simulator.PaymentRequired)
	f("0 is off", ask, "503 attempts=1 retry=3 code=upstream_unavailable", 0, 0, func(s *setup) { s.config = nil }, wait429("3"))
}

// Who is told "again in no time" for ever does not ask for ever.
func TestHoldEnds(t *testing.T) {
	bubble(t, patient("a"), func(t *testing.T, r *rig) {
		for range 100 {
			r.sim.Push("a", simulator.Status(429, tooMany, http.Header{"Retry-After-Ms": {"10"}}))
		}
		if got := r.chat(ask); got.status != 503 || r.sim.Total("a") != maxRounds {
			t.Errorf("%s after %d calls", got.line(), r.sim.Total("a"))
		}
	})
}

// An account that answered only the request, not for itself, is not asked the same again after a hold.
func TestHoldAsksNobodyInVain(t *testing.T) {
	bubble(t, patient("a", "b"), func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Status(413, `{"error":{"message":"Request too large for gpt-x: tokens per min (TPM)","type":"tokens","code":"rate_limit_exceeded"}}`, nil))
		r.sim.Push("b", wait429("3"))
		r.want(r.chat(ask), "200 profile=b attempts=3 after=request_too_large,rate_limited")
		r.wantCalls("a=1 b=2")
	})
}

// While a request is held the account may be cleared by an operator, or another may be configured: it goes at once.
func TestHoldEndsEarly(t *testing.T) {
	f := func(name, want string, news func(*rig)) {
		t.Run(name, func(t *testing.T) {
			bubble(t, patient("a"), func(t *testing.T, r *rig) {
				r.sim.Push("a", wait429("30"))
				stop := time.AfterFunc(7*time.Second, func() { news(r) })
				defer stop.Stop()
				r.want(r.chat(ask), want)
				if x := r.told.last(); x.Waited != 7*time.Second {
					t.Errorf("waited %s", x.Waited)
				}
			})
		})
	}
	f("cleared", "200 profile=a attempts=2 after=rate_limited", func(r *rig) { r.router.ClearCooldown("a") })
	f("configured", "200 profile=new attempts=2 after=rate_limited", func(r *rig) {
		s := patient("new", "a")
		s.accounts[0].Key = "sk-a" // the provider knows it as a
		r.router.Swap(r.table(s, "http://upstream.test/v1"))
	})
}

// P29: a client that leaves while its request is held leaves nothing behind, at once; and a hub that stops ends a hold
// with an answer.
func TestHoldLeft(t *testing.T) {
	bubble(t, patient("a"), func(t *testing.T, r *rig) {
		r.sim.Push("a", wait429("30"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		r.want(r.chatIn(ctx, ask), "200 cut")
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("took %s", d)
		}
		if x := r.told.last(); x.Outcome != "client_closed" || len(x.Attempts) != 1 || x.Waited != 5*time.Second {
			t.Errorf("told %+v", x)
		}
		time.Sleep(time.Minute)
		r.wantCalls("a=1")
		r.settle()
	})
	bubble(t, patient("a"), func(t *testing.T, r *rig) {
		r.sim.Push("a", wait429("30"))
		var held sync.WaitGroup
		held.Go(func() { r.want(r.chat(ask), "503 attempts=1 retry=1 code=hub_unavailable") })
		time.Sleep(time.Second)
		grace, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if cut := r.proxy.Drain(grace); cut != 1 {
			t.Errorf("%d were cut", cut)
		}
		held.Wait()
	})
}

// chatIn is chat for a client that leaves when ctx ends.
func (r *rig) chatIn(ctx context.Context, body string, headers ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://hub.test/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return r.sendDirect(req)
}

// After a hold the trail tells of the last plan, and of every attempt.
func TestHoldTrail(t *testing.T) {
	bubble(t, patient("a", "b"), func(t *testing.T, r *rig) {
		r.sim.Push("a", wait429("3"))
		r.sim.Push("b", simulator.Status(401, badKey, nil))
		began := time.Now()
		got := r.chat(ask)
		r.want(got, "200 profile=a attempts=3 after=rate_limited,auth_invalid")
		e, ok := r.trails.Find(got.header.Get(headerRequestID))
		if !ok || len(e.Candidates) != 2 || *e.Chosen != "a" || e.At.Sub(began) != 3*time.Second {
			t.Fatalf("%+v", e)
		}
		a, b := e.Candidates[0], e.Candidates[1]
		if a.Verdict != router.VerdictSelected || b.Verdict != router.VerdictFailed || *b.Reason != "auth_invalid" {
			t.Errorf("a %+v, b %+v", a, b)
		}
	})
}

// timeline tells how many calls began at an account when: "0s:1 3.5s:19".
func (r *rig) timeline(account string, since time.Time) string {
	var got []string
	calls := r.sim.Calls(account)
	for len(calls) > 0 {
		at, n := calls[0].Start.Sub(since), 1
		for n < len(calls) && calls[n].Start.Sub(since) == at {
			n++
		}
		got = append(got, fmt.Sprintf("%s:%d", at, n))
		calls = calls[n:]
	}
	return strings.Join(got, " ")
}

// Of the requests that are held for an account one goes first when it comes back. While the account still refuses, each
// round costs one call; once it answers, or has not refused for router.TrialBound, all go.
func TestHoldHerd(t *testing.T) {
	f := func(name, want string, steps ...simulator.Step) {
		t.Run(name, func(t *testing.T) {
			s := patient("a")
			s.accounts[0].Latency = 500 * time.Millisecond
			bubble(t, s, func(t *testing.T, r *rig) {
				r.sim.Push("a", steps...)
				began := time.Now()
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() {
						if i > 0 { // the first finds out, the others hear of it
							time.Sleep(time.Second + time.Duration(i)*time.Second/10)
						}
						body := ask
						if i%2 == 0 {
							body = askStream
						}
						if got := r.chat(body); got.status != 200 {
							t.Errorf("%s", got.line())
						}
					})
				}
				all.Wait()
				r.settle()
				if got := r.timeline("a", began); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			})
		})
	}
	f("answers", "0s:1 3.5s:1 4s:19", wait429("3"))
	f("still refuses", "0s:1 3.5s:1 7s:1 7.5s:19", wait429("3"), wait429("3"))
	f("is silent", "0s:1 3.5s:1 6.5s:19", wait429("3"), simulator.SlowFirstToken.For(5*time.Second))
}

// Where the account that came back first refuses again, those who waited for it turn to the next one, and let one go first
// there too.
func TestHoldHerdMovesOn(t *testing.T) {
	s := patient("a", "b")
	for i := range s.accounts {
		s.accounts[i].Latency = 500 * time.Millisecond
	}
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", wait429("3"), wait429("60"))
		r.sim.Push("b", wait429("3"))
		began := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if i > 0 {
					time.Sleep(2 * time.Second)
				}
				if got := r.chat(ask); got.status != 200 || got.header.Get(headerProfile) != "b" {
					t.Errorf("%s", got.line())
				}
			})
		}
		all.Wait()
		r.settle()
		if got := r.timeline("a", began); got != "0s:1 3.5s:1" {
			t.Errorf("a: %s", got)
		}
		if got := r.timeline("b", began); got != "500ms:1 4s:1 4.5s:19" {
			t.Errorf("b: %s", got)
		}
	})
}

// An account that comes back is tried by one request. Who comes meanwhile goes to another account at once; where there is
// none it waits for its turn, whatever the settings say of waiting, and goes as soon as the account has answered (P03).
func TestOneTrialAtATime(t *testing.T) {
	f := func(name, want string, accounts ...string) {
		t.Run(name, func(t *testing.T) {
			s := patient(accounts...)
			s.config = nil // no waiting
			for i := range s.accounts {
				s.accounts[i].Latency = time.Second
			}
			bubble(t, s, func(t *testing.T, r *rig) {
				r.sim.Push("a", wait429("3"))
				r.chat(ask)
				time.Sleep(10 * time.Second)
				began := time.Now()
				var all sync.WaitGroup
				for i := range 4 {
					all.Go(func() {
						time.Sleep(time.Duration(i) * time.Second / 10)
						if got := r.chat(ask); got.status != 200 {
							t.Errorf("%s", got.line())
						}
					})
				}
				all.Wait()
				r.settle()
				var got []string
				for _, account := range accounts {
					calls := r.sim.Calls(account)
					last := strings.Fields(r.timeline(account, began))
					if first := calls[0].Start; first.Before(began) {
						last = last[1:]
					}
					got = append(got, account+" "+strings.Join(last, " "))
				}
				if text := strings.Join(got, ", "); text != want {
					t.Errorf("got %s, want %s", text, want)
				}
			})
		})
	}
	f("another serves", "a 0s:1, b 100ms:1 200ms:1 300ms:1", "a", "b")
	f("alone", "a 0s:1 1s:3", "a")
}

// Two accounts of one provider that fail the same way within one request are enough: the third is not called too while
// another provider can serve. It is tried when the provider has rested, and in any case where nobody else is left (P08).
func TestProviderRests(t *testing.T) {
	s := patient("a", "b", "c", "d")
	s.config = nil
	s.profiles = func(ps []router.Profile) { ps[3].Provider.ID = "another" }
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Overloaded529)
		r.sim.Push("b", simulator.Overloaded529)
		r.want(r.chat(ask), "200 profile=d attempts=3 after=overloaded,overloaded")
		r.want(r.chat(ask), "200 profile=d attempts=1")
		r.wantCalls("a=1 b=1 c=0 d=2")
		time.Sleep(6 * time.Second)
		r.want(r.chat(ask), "200 profile=c attempts=1")
	})
	s.profiles = nil
	bubble(t, s, func(t *testing.T, r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.sim.Push(name, simulator.Overloaded529)
		}
		r.want(r.chat(ask), "503 attempts=3 after=overloaded,overloaded,overloaded code=upstream_unavailable")
		r.wantCalls("a=1 b=1 c=1 d=0")
		time.Sleep(11 * time.Second)
		r.want(r.chat(ask), "200 profile=d attempts=1")
	})
	s = patient("a", "b", "c", "d")
	bubble(t, s, func(t *testing.T, r *rig) { // with the usual patience the rest is waited out inside the request
		for _, name := range []string{"a", "b", "c"} {
			r.sim.Push(name, simulator.Overloaded529)
		}
		r.want(r.chat(ask), "200 profile=d attempts=4 after=overloaded,overloaded,overloaded")
		if waited := r.told.last().Waited; waited != 10*time.Second {
			t.Errorf("waited %s", waited)
		}
	})
}
