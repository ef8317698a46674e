package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// narrow gives every account of s one slot and the time that one answer takes.
func narrow(s setup, latency time.Duration) setup {
	for i := range s.accounts {
		s.accounts[i].Latency, s.accounts[i].MaxConcurrent = latency, 1
	}
	s.profiles = func(ps []router.Profile) {
		for i := range ps {
			ps[i].MaxConcurrency = 1
		}
	}
	return s
}

// L02: 200 calls at once on the five slots of the only account: everyone is served, and the account never has more than
// five at once.
func TestQueueServesAll(t *testing.T) {
	s := setup{
		accounts: []simulator.Account{{Name: "a", Key: "sk-a", Models: []string{"sim-1"}, Latency: time.Millisecond, MaxConcurrent: 5}},
		profiles: func(ps []router.Profile) { ps[0].MaxConcurrency = 5 },
		config:   func(c *Config) { c.LeaseWait = time.Minute },
	}
	r := newRig(t, s)
	r.sim.Strict(t)
	var all sync.WaitGroup
	var served atomic.Int64
	for i := range 200 {
		all.Go(func() {
			body := ask
			if i%2 == 0 {
				body = askStream
			}
			got := r.chat(body, "X-Hub-Session", fmt.Sprint(i%3))
			if got.status == 200 && got.err == nil && got.header.Get(headerAttempts) == "1" {
				served.Add(1)
			}
		})
	}
	all.Wait()
	if served.Load() != 200 || r.sim.Total("a") != 200 {
		t.Errorf("%d of 200 served by %d calls", served.Load(), r.sim.Total("a"))
	}
	if peak := r.sim.Peak("a"); peak > 5 || peak == 0 {
		t.Errorf("peak %d at a cap of 5", peak)
	}
	r.settle()
}

// A session with fifty calls in the queue does not keep another session's one waiting for them: it is served second.
func TestQueueIsFair(t *testing.T) {
	s := narrow(patient("a"), time.Second)
	s.config = func(c *Config) { c.LeaseWait, c.RequestTimeout = 10*time.Minute, 10*time.Minute }
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Strict(t)
		var all sync.WaitGroup
		var mu sync.Mutex
		var order []string
		call := func(session string, n int) {
			all.Go(func() {
				time.Sleep(time.Duration(n) * time.Millisecond)
				r.want(r.chat(ask, "X-Hub-Session", session), "200 profile=a attempts=1")
				mu.Lock()
				defer mu.Unlock()
				order = append(order, fmt.Sprintf("%s%d", session, n))
			})
		}
		for n := range 51 { // the first is served at once
			call("many-", n)
		}
		call("one-", 60)
		all.Wait()
		if want := "many-0 many-1 one-60 many-2"; !strings.HasPrefix(strings.Join(order, " "), want) {
			t.Errorf("served %v, want %s …", order[:5], want)
		}
		if many := slices.DeleteFunc(order, func(s string) bool { return s == "one-60" }); many[50] != "many-50" {
			t.Errorf("within the session: %v", many)
		}
		r.settle()
	})
}

// What ends a wait for a slot, and how it is told.
func TestQueueEnds(t *testing.T) {
	f := func(name, body, want string, took time.Duration, outcome string, change func(*setup), meanwhile func(*rig)) {
		t.Run(name, func(t *testing.T) {
			s := narrow(patient("a"), 0)
			if change != nil {
				change(&s)
			}
			bubble(t, s, func(t *testing.T, r *rig) {
				r.sim.Push("a", simulator.Hang)
				ctx, hangUp := context.WithCancel(t.Context())
				defer hangUp()
				var first sync.WaitGroup
				first.Go(func() { r.chatIn(ctx, ask) })
				time.Sleep(time.Second)
				began := time.Now()
				if meanwhile != nil {
					stop := time.AfterFunc(2*time.Second, func() { meanwhile(r) })
					defer stop.Stop()
				}
				leave, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				r.want(r.chatIn(leave, body), want)
				if d := time.Since(began); d != took {
					t.Errorf("took %s, want %s", d, took)
				}
				if x := r.told.last(); string(x.Outcome) != outcome || x.Waited != took || x.Overhead != 0 {
					t.Errorf("told %s, waited %s, overhead %s", x.Outcome, x.Waited, x.Overhead)
				}
				hangUp()
				first.Wait()
				r.settle()
				r.want(r.chat(ask), "200 profile=a attempts=1")
			})
		})
	}
	const s = time.Second
	f("patience", ask, "503 code=upstream_unavailable", 10*s, "exhausted", nil, nil)
	f("no patience", ask, "503 code=upstream_unavailable", 0, "exhausted", func(s *setup) { s.config = nil }, nil)
	f("the client", ask, "200 cut", 30*s, "client_closed", func(s *setup) { s.config = func(c *Config) { c.LeaseWait = time.Hour } }, nil)
	f("the commit deadline", askStream, "503 code=upstream_unavailable", 20*s, "exhausted", func(s *setup) {
		s.config = func(c *Config) { c.LeaseWait, c.CommitDeadline = time.Hour, 20*time.Second }
	}, nil)
	f("an account that comes back", ask, "200 profile=b attempts=1", 2*s, "success", func(s *setup) {
		accounts := patient("a", "b").accounts
		s.accounts = accounts
		s.profiles = func(ps []router.Profile) { ps[0].MaxConcurrency, ps[1].Enabled = 1, false }
	}, func(r *rig) {
		s := patient("a", "b")
		s.profiles = func(ps []router.Profile) { ps[0].MaxConcurrency = 1 }
		r.router.Swap(r.table(s, "http://upstream.test/v1"))
	})
}

// An account that is only busy and one that comes back in time: whichever is free first serves.
func TestQueueAndHold(t *testing.T) {
	f := func(name string, latency time.Duration, resets, want string, took time.Duration) {
		t.Run(name, func(t *testing.T) {
			s := narrow(patient("a", "b"), 0)
			s.accounts[0].Latency = latency
			bubble(t, s, func(t *testing.T, r *rig) {
				r.sim.Push("b", wait429(resets))
				var first sync.WaitGroup
				first.Go(func() { r.want(r.chat(ask), "200 profile=a attempts=1") })
				time.Sleep(time.Millisecond)
				began := time.Now()
				r.want(r.chat(ask), want)
				if d := time.Since(began).Round(time.Second); d != took {
					t.Errorf("took %s, want %s", d, took)
				}
				first.Wait()
				r.settle()
			})
		})
	}
	f("the slot", 4*time.Second, "8", "200 profile=a attempts=2 after=rate_limited", 8*time.Second)
	f("the other account", 20*time.Second, "8", "200 profile=b attempts=2 after=rate_limited", 8*time.Second)
	f("the slot, later than one would queue for it", 20*time.Second, "30", "200 profile=a attempts=2 after=rate_limited", 40*time.Second)
	f("neither", 20*time.Second, "60", "503 attempts=1 retry=50 code=upstream_unavailable", 10*time.Second)
}

// A conversation that is too long for one account waits for the busy one with the larger window.
func TestQueueForALargerWindow(t *testing.T) {
	s := patient("a", "b")
	s.accounts[1].Latency = 3 * time.Second
	s.profiles = func(ps []router.Profile) {
		windows(8000, 32000)(ps)
		ps[1].MaxConcurrency = 1
	}
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.ServerError)
		var first sync.WaitGroup
		first.Go(func() { r.want(r.chat(ask), "200 profile=b attempts=2 after=server_error") })
		time.Sleep(time.Second)
		r.router.ClearCooldown("a")
		r.sim.Push("a", simulator.ContextTooLong)
		r.want(r.chat(ask), "200 profile=b attempts=2 after=context_too_long")
		first.Wait()
		if x := r.told.last(); x.Waited != 2*time.Second {
			t.Errorf("waited %s", x.Waited)
		}
	})
}

// More than the queue holds are turned away at once, in words that every client comes back on.
func TestQueueFull(t *testing.T) {
	s := narrow(patient("a"), 0)
	bubble(t, s, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Hang)
		served, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		waiting, leave := context.WithCancel(t.Context())
		defer leave()
		var first, all sync.WaitGroup
		first.Go(func() { r.chatIn(served, ask) })
		time.Sleep(time.Second)
		for range 1000 {
			all.Go(func() { r.chatIn(waiting, ask) })
		}
		time.Sleep(time.Second)
		r.want(r.chat(ask), "503 retry=1 code=hub_unavailable")
		if x := r.told.last(); x.Outcome != "hub_unavailable" {
			t.Errorf("told as %s", x.Outcome)
		}
		leave()
		all.Wait()
		hangUp()
		first.Wait()
		r.settle()
		r.want(r.chat(ask), "200 profile=a attempts=1")
		r.wantCalls("a=2")
	})
}
