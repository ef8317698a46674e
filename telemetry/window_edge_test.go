package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// T09: what is older than the window is not in it. A minute counts whole, so the edge is up to a minute early, never late.
func TestWindowEdges(t *testing.T) {
	f := func(ended time.Duration, window time.Duration, want int64) {
		t.Helper()
		x := asked("coder", "codex-1", time.Second)
		x.Start = noon.Add(ended - time.Second)
		x.Total = time.Second // it counts at its end
		for _, filter := range []Filter{{}, {Profile: "codex-1"}} {
			if got := newTestWindow(x).Breakdown(noon, window, filter).Global.TotalCalls; got != want {
				t.Errorf("ended %v, window %v, %+v: %d calls, want %d", ended, window, filter, got, want)
			}
		}
	}
	f(-25*time.Hour, Kept, 0)
	f(-Kept-time.Minute, Kept, 0)
	f(-Kept-16*time.Second, Kept, 0) // noon is 12:30:15 here, so the first minute begins 15 s before the window
	f(-Kept-14*time.Second, Kept, 1)
	f(-Kept, Kept, 1)
	f(-time.Hour, time.Hour, 1)
	f(-time.Hour-time.Minute, time.Hour, 0)
	f(-30*time.Minute, time.Hour, 1) // an hour of the clock is told from its sum
	f(-31*time.Minute, time.Hour, 1)
	f(-10*time.Minute, 5*time.Minute, 0)
	f(0, time.Second, 1)
	f(-25*time.Hour, 48*time.Hour, 0) // no more than is kept
	f(-23*time.Hour, -time.Hour, 1)   // no window is the whole one
}

// A clock that goes back, forth, or far away: nothing is counted twice, nothing turns negative.
func TestWindowClockJumps(t *testing.T) {
	clock := noon
	w := NewWindow(WindowOptions{Labels: windowLabels(), Now: func() time.Time { return clock }})
	call := func() {
		x := asked("coder", "codex-1", -time.Second) // a clock that jumped back during the call
		x.Start = clock
		w.Observe(x)
	}
	expect := func(want int64) {
		t.Helper()
		for range 2 {
			a := w.Breakdown(clock, time.Hour, Filter{}).Global
			if a.TotalCalls != want || want > 0 && (*a.LatencyP50 != 0 || *a.LatencyMax != 0) {
				t.Errorf("at %v: %d calls of %v, want %d", clock, a.TotalCalls, *a.LatencyMax, want)
			}
			w.unsaved(clock)
		}
	}
	call()
	expect(1)
	clock = noon.Add(-2 * time.Hour)
	call()
	expect(2) // what is dated later has happened
	clock = noon
	call()
	expect(2)
	clock = noon.Add(-30 * time.Second) // to and fro within a minute
	call()
	expect(3)
	clock = noon.Add(30 * time.Second)
	call()
	expect(4)
	clock = noon.AddDate(0, 0, -7) // what is dated a week ahead was dated by a clock that was wrong
	expect(0)
	call()
	expect(1)
	clock = time.Time{}
	call()
	expect(1)
	clock = noon
	expect(0)
}

// T14, T12: nothing of what a client or an upstream said is kept or told but numbers, and none of them can make lanes.
func TestWindowKeepsNoTexts(t *testing.T) {
	w := newTestWindow()
	for i := range 10_000 {
		s := fmt.Sprintf("sk-canary user%d@example.com\xff", i)
		w.Observe(&Exchange{
			ID: s, Endpoint: s, Role: s, RoleSource: s, Model: s, Key: s, Outcome: Exhausted, Err: s, Start: noon,
			Attempts: []Attempt{{Profile: s, Provider: s, Model: s, Outcome: s, Reason: s}, {Profile: "codex-1", Provider: "codex", Model: s, Outcome: s, Reason: s}},
		})
	}
	told := asJSON(t, w.Breakdown(noon, Kept, Filter{}))
	_, values, _ := w.unsaved(noon)
	kept := string(values[keyOf(minuteOf(noon))])
	if strings.Contains(told+kept, "canary") || strings.Contains(told+kept, "@") {
		t.Errorf("told: %s\nkept: %q", told, kept)
	}
	if len(values) != 1 || len(kept) > 200 || !strings.Contains(told, `"other":{"source":"own_measurement","has_data":true,"total_calls":20000,`) {
		t.Errorf("%d bytes in %d minutes; told: %s", len(kept), len(values), told)
	}
}

// A configuration of thousands of profiles does not make a minute of as many lanes: the profile is what is given up, the
// role and the provider are told of every call.
func TestWindowBoundsLanes(t *testing.T) {
	const profiles = 5000
	l := Labels{Roles: []string{"coder"}, Providers: []string{"codex"}}
	for i := range profiles {
		l.Profiles = append(l.Profiles, fmt.Sprintf("codex-%d", i))
	}
	w := NewWindow(WindowOptions{Labels: l})
	for _, p := range l.Profiles {
		w.Observe(asked("coder", p, time.Second))
	}
	b := w.Breakdown(noon, Kept, Filter{Role: "coder", Provider: "codex"})
	if lanes := len(w.hours[hourOf(minuteOf(noon))].lanes); lanes > maxLanes+1 || b.Global.TotalCalls != profiles {
		t.Errorf("%d lanes, %d calls", lanes, b.Global.TotalCalls)
	}
	if one := w.Breakdown(noon, Kept, Filter{Profile: "codex-7"}).Global; one.TotalCalls != 1 {
		t.Errorf("%d calls of a profile that came early", one.TotalCalls)
	}
}

// What was counted under a name that the configuration no longer knows keeps it until it is a day old.
func TestWindowRelabel(t *testing.T) {
	w := newTestWindow(asked("coder", "codex-1", time.Second))
	w.Relabel(Labels{Roles: []string{"planner"}, Providers: []string{"grok"}})
	w.Observe(asked("coder", "codex-1", time.Second))
	b := w.Breakdown(noon, Kept, Filter{})
	var got []string
	for _, role := range []string{"coder", "other", "planner"} {
		got = append(got, fmt.Sprintf("%s %d", role, b.ByRole[role].TotalCalls))
	}
	for _, provider := range []string{"codex", "other", "grok"} {
		got = append(got, fmt.Sprintf("%s %d", provider, b.ByProvider[provider].TotalCalls))
	}
	if text := strings.Join(got, ", "); text != "coder 1, other 1, planner 0, codex 1, other 1, grok 0" || len(b.ByRole) != 3 || len(b.ByProvider) != 3 {
		t.Errorf("got %s", text)
	}
}

// An account whose provider nobody named is still a call of a provider, so that the providers' shares add up.
func TestWindowWithoutProvider(t *testing.T) {
	x := asked("coder", "codex-1", time.Second)
	x.Attempts[0].Provider = ""
	if b := newTestWindow(x).Breakdown(noon, Kept, Filter{}); b.ByProvider[Other].TotalCalls != 1 {
		t.Errorf("got %+v", b.ByProvider)
	}
}
