package proxy

import (
	"strings"
	"testing"

	"hermes-hub/proxy/simulator"
	"hermes-hub/router"
)

// windows gives accounts a, b and c these context windows, in tokens; 0 = unknown.
func windows(sizes ...int) func([]router.Profile) {
	return func(ps []router.Profile) {
		for i, size := range sizes {
			ps[i].ContextLength = size
		}
	}
}

// A conversation that is too long for one account goes to a node with a larger window only; when there is none the client
// reads OpenAI's sentence with the window that the role publishes, which it may keep.
func TestContextTooLong(t *testing.T) {
	f := func(name string, sizes []int, want, calls, message string) {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, setup{profiles: windows(sizes...)})
			for _, account := range []string{"a", "b"} {
				r.sim.Push(account, simulator.ContextTooLong)
			}
			got := r.chat(ask)
			r.want(got, want)
			r.wantCalls(calls)
			if !strings.Contains(got.body, message) {
				t.Errorf("%s", got.body)
			}
			if health := r.router.Snapshot().Standings[0]; len(health.Blocks(r.told.last().Start)) != 0 {
				t.Error("the account was blamed for the client's conversation")
			}
		})
	}
	f("larger last", []int{8000, 8000, 32000}, "200 profile=c attempts=2 after=context_too_long", "a=1 b=0 c=1", "choices")
	f("larger next", []int{8000, 16000, 32000}, "200 profile=c attempts=3 after=context_too_long,context_too_long", "a=1 b=1 c=1", "choices")
	f("none larger", []int{8000, 8000, 8000}, "400 attempts=1 code=context_length_exceeded", "a=1 b=0 c=0", "This model's maximum context length is 8000 tokens.")
	f("the role publishes its smallest", []int{16000, 8000, 0}, "400 attempts=1 code=context_length_exceeded", "a=1 b=0 c=0", "maximum context length is 8000 tokens.")
	f("nothing is known", []int{0, 0, 0}, "400 attempts=1 code=context_length_exceeded", "a=1 b=0 c=0", "maximum context length is 8192 tokens")
}
