package router

import "testing"

// Q19: what is left decides in three steps: enough is healthy, less than the threshold is told and passed over, nothing is
// exhausted.
func TestRemainder(t *testing.T) {
	for percent, want := range map[float64]struct {
		state  ProfileState
		reason Reason
	}{
		10:  {ProfileHealthy, Usable},
		9.9: {ProfileHealthy, ReasonThreshold},
		0:   {ProfileQuota, ReasonQuota},
	} {
		s, _ := frugal(t, true)
		s.measured("12:00", "a", window(t, "x.5h", percent, "15:00"))
		var p Plan
		s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
		if n := p.Nodes[0]; n.Profile.ID != "a" || n.Reason != want.reason {
			t.Errorf("%g %%: %s is %q, want %q", percent, n.Profile.ID, n.Reason, want.reason)
		}
		if got := stateOf(s.Snapshot(), 0, s.c.t); got != want.state {
			t.Errorf("%g %%: the account is %s, want %s", percent, got, want.state)
		}
	}
}
