package proxy

import (
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// Each deadline has one job. The figures are the rig's: first token 20 s, idle 30 s, commit 35 s, total 60 s.
func TestDeadlines(t *testing.T) {
	slow := func(latency, pace time.Duration) setup {
		var s setup
		for _, name := range []string{"a", "b", "c"} {
			s.accounts = append(s.accounts, simulator.Account{Name: name, Key: "sk-" + name, Models: []string{"sim-1"}, Latency: latency, ChunkPace: pace})
		}
		return s
	}
	f := func(name string, s setup, body, want, reason string, took time.Duration, steps ...simulator.Step) {
		t.Run(name, func(t *testing.T) {
			bubble(t, s, func(t *testing.T, r *rig) {
				for i, step := range steps {
					r.sim.Push([]string{"a", "b", "c"}[i], step)
				}
				began := time.Now()
				got := r.chat(body)
				r.want(got, want)
				if d := time.Since(began).Round(time.Second); d != took {
					t.Errorf("took %s, want %s", d, took)
				}
				if x := r.told.last(); x.Attempts[0].Reason != reason {
					t.Errorf("first attempt: %s, want %s", x.Attempts[0].Reason, reason)
				}
				r.settle()
			})
		})
	}
	f("a stream's first token", setup{}, askStream, "200 profile=b attempts=2 after=timeout [DONE]", "first_token_timeout", 20*time.Second, simulator.Hang)
	f("a head is no token", setup{}, askStream, "200 profile=b attempts=2 after=timeout [DONE]", "first_token_timeout", 20*time.Second, simulator.StallHeartbeats.After(0))
	f("a whole answer has no first token", slow(50*time.Second, 0), ask, "200 profile=a attempts=1", "", 50*time.Second)
	f("commit", setup{}, askStream, "503 attempts=2 after=timeout code=upstream_unavailable", "first_token_timeout", 35*time.Second, simulator.Hang, simulator.Hang)
	f("total", setup{}, ask, "503 attempts=1 code=upstream_unavailable", "the request took longer than it may", 60*time.Second, simulator.Hang)
	f("idle", setup{}, askStream, "200 profile=a attempts=1 code=upstream_interrupted cut", "idle_timeout", 30*time.Second, simulator.Stall)
	f("slow content is not idle", slow(0, 3*time.Second), askStream, "200 profile=a attempts=1 [DONE]", "", 54*time.Second)
	f("total of a stream", slow(0, 15*time.Second), askStream, "200 profile=a attempts=1 code=upstream_interrupted cut", "the request took longer than it may", 60*time.Second)
}

// The hub's own deadlines are nobody's fault: an account that was cut by the total is not rested for it.
func TestTotalBlamesNobody(t *testing.T) {
	bubble(t, setup{}, func(t *testing.T, r *rig) {
		r.sim.Push("a", simulator.Hang)
		r.want(r.chat(ask), "503 attempts=1 code=upstream_unavailable")
		r.want(r.chat(ask), "200 profile=a attempts=1")
	})
}
