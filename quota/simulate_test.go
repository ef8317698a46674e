package quota

import (
	"encoding/json"
	"testing"
)

// An operator's bucket counts as if it had been measured, says what it is, and gives way to a measurement or to a word.
func TestSimulate(t *testing.T) {
	y := &story{t: t}
	f := func(want string) {
		t.Helper()
		b := y.s.Check("gpt-5.5", "gpt", after(20))
		got := y.values() + " → " + string(b.State) + " " + string(b.Source)
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	y.measure(0, left("codex.session", 40, 0), left("codex.weekly", 70, 0))
	f("codex.session 40 api, codex.weekly 70 api →  ")
	y.s = y.s.Simulate(left("codex.session", 0, 3600), after(10), testPolicy)
	f("codex.session 0 simulated@3600, codex.weekly 70 api → quota_exhausted simulated")

	data, err := json.Marshal(y.s)
	if err != nil {
		t.Fatal(err)
	}
	var again Standing
	if err := json.Unmarshal(data, &again); err != nil || !again.Equal(y.s) {
		t.Errorf("saved and loaded: %+v, %v", again, err)
	}
	before := y.s
	y.s = before.WithoutSimulation()
	f("codex.weekly 70 api →  ")
	y.s = before
	y.measure(15, left("codex.session", 30, 0))
	f("codex.session 30 api, codex.weekly 70 api →  ")
	if !y.s.WithoutSimulation().Equal(y.s) {
		t.Error("what was measured is no simulation")
	}
	y.s = y.s.Simulate(left("codex.daily", 5, 0), after(16), testPolicy)
	f("codex.daily 5 simulated, codex.session 30 api, codex.weekly 70 api →  ")
}

// A Standing is bounded: what it has no room for is not simulated.
func TestSimulateIsBounded(t *testing.T) {
	var s Standing
	for i := range keptBuckets + 10 {
		s = s.Simulate(left("a."+string(rune('a'+i/26))+string(rune('a'+i%26)), 5, 0), after(1), testPolicy)
	}
	if n := len(s.Buckets()); n != keptBuckets {
		t.Errorf("%d buckets", n)
	}
}
