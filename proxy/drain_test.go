package proxy

import (
	"context"
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// A hub that is about to stop refuses what has not begun, in a way that says to try again, lets what has begun end, and
// cuts it at the end of the grace: a stream with the error event, a plain call with the same refusal.
func TestDrain(t *testing.T) {
	slow := setup{accounts: []simulator.Account{{Name: "a", Key: "k", Models: []string{"sim-1"}, ChunkPace: time.Second}}}
	f := func(name, body string, step simulator.Step, grace time.Duration, want, outcome string, cut int) {
		t.Run(name, func(t *testing.T) {
			bubble(t, slow, func(t *testing.T, r *rig) {
				r.sim.Push("a", step)
				answers := make(chan reply, 1)
				go func() { answers <- r.chat(body) }()
				time.Sleep(5 * time.Second)
				drained := make(chan int, 1)
				go func() {
					ctx, stop := context.WithTimeout(t.Context(), grace)
					defer stop()
					drained <- r.proxy.Drain(ctx)
				}()
				time.Sleep(time.Second)
				r.want(r.chat(ask), "503 retry=1 code=hub_unavailable")
				r.want(<-answers, want)
				if n := <-drained; n != cut {
					t.Errorf("%d cut, want %d", n, cut)
				}
				if x := r.told.last(); string(x.Outcome) != outcome {
					t.Errorf("told as %s", x.Outcome)
				}
				r.settle()
			})
		})
	}
	f("in time", askStream, simulator.Normal, time.Minute, "200 profile=a attempts=1 [DONE]", "success", 0)
	f("a stream that is not", askStream, simulator.Stall, 8*time.Second, "200 profile=a attempts=1 code=upstream_interrupted cut", "interrupted", 1)
	f("a plain call that is not", ask, simulator.Hang, 8*time.Second, "503 attempts=1 retry=1 code=hub_unavailable", "hub_unavailable", 1)
}

// With nobody inside there is nothing to wait for.
func TestDrainIdle(t *testing.T) {
	r := newRig(t, setup{})
	r.chat(ask)
	if n := r.proxy.Drain(t.Context()); n != 0 {
		t.Errorf("%d cut", n)
	}
	r.proxy.Drain(t.Context()) // twice is once
	r.want(r.chat(ask), "503 retry=1 code=hub_unavailable")
	r.wantCalls("a=1 b=0 c=0")
}
