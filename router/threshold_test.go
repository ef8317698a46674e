package router

import (
	"fmt"
	"strings"
	"testing"

	"hermes-hub/quota"
)

// frugal is a router over accounts a and b with a threshold of 10 %, and what it told of crossings.
func frugal(t *testing.T, switching bool) (s *scene, told func() string) {
	t.Helper()
	set := settings()
	set.Threshold = Threshold{Percent: 10, Switch: switching}
	var events []string
	c := &clock{noon}
	tab := tableWith(t, set, []Profile{account("a", "gpt-1", "claude-1"), account("b", "gpt-1")}, role("r", "a", "b"))
	r := New(tab, Options{Now: c.now, OnThreshold: func(e ThresholdEvent) {
		events = append(events, fmt.Sprintf("%s %s %g", e.Profile, e.Bucket.ID, e.Bucket.RemainingPercent.Value))
	}})
	return &scene{r, t, c}, func() string {
		defer func() { events = nil }()
		return strings.Join(events, ", ")
	}
}

// Q24, notify: one event a crossing of a bucket, armed again when it has recovered or was reset; nobody is passed over.
func TestThresholdNotify(t *testing.T) {
	s, told := frugal(t, false)
	want := func(want string) {
		t.Helper()
		if got := told(); got != want {
			t.Errorf("%s: told %q, want %q", s.c.t.Format("15:04"), got, want)
		}
	}
	s.measured("12:00", "a", window(t, "x.5h", 10, "15:00"), window(t, "x.7d", 80, "20:00"), quota.Bucket{ID: "x.requests", RemainingPercent: quota.Known(1)})
	want("")
	s.measured("12:01", "a", window(t, "x.5h", 9.9, "15:00"))
	want("a x.5h 9.9")
	s.measured("12:02", "a", window(t, "x.5h", 4, "15:00"), window(t, "x.7d", 9, "20:00"))
	want("a x.7d 9")
	s.measured("12:03", "a", window(t, "x.5h", 50, "15:00"))
	s.measured("12:04", "a", window(t, "x.5h", 5, "15:00"))
	want("a x.5h 5")
	s.measured("15:01", "a", window(t, "x.5h", 6, "20:00")) // reset meanwhile, and low again
	want("a x.5h 6")
	s.measured("15:02", "b", quota.Bucket{ID: "x.5h", Remaining: quota.Known(3)}) // of how many is not known
	want("")
	s.plan("15:03", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}

// Q24, switch: who is below is passed over while another is not, and returns by itself; unknown never triggers. When nobody
// else is usable it serves in its place: a preference fails no request.
func TestThresholdSwitch(t *testing.T) {
	s, told := frugal(t, true)
	s.measured("12:00", "a", window(t, "x.5h", 9, "15:00"), window(t, "x.claude.7d", 100, "20:00"))
	if got := told(); got != "a x.5h 9" {
		t.Errorf("told %s", got)
	}
	s.plan("12:01", "gpt-1", `
		0 a gpt-1 quota_threshold until 15:00
		1 b gpt-1 usable`)
	var p Plan
	s.Plan(Query{Role: s.Snapshot().Table.Roles[0], Model: "gpt-1"}, &p)
	equalText(t, explanationText(Explain(&p, RoleExplicit, nil, "")), `
		r explicit seq=1 at=12:01 request=null chosen=b
		0 a gpt-1 skipped quota_threshold until 15:00 (provider_api 12:00 bucket:x.5h)
		1 b gpt-1 selected null`)
	s.answered("12:02", "b", "gpt-1", refusal(quota.RateLimited, quota.ScopeAccount, at(t, "12:10")))
	s.plan("12:03", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 rate_limited until 12:10`)
	s.measured("12:20", "b", window(t, "x.5h", 2, "16:00"))
	s.plan("12:21", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
	s.measured("12:22", "b", window(t, "x.5h", 0, "16:00")) // spent is more than low
	s.plan("12:23", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 quota_exhausted until 16:00`)
	s.plan("15:00", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 quota_exhausted until 16:00`)
	s.measured("12:30", "b", window(t, "x.5h", 50, "16:00"))
	s.plan("12:31", "gpt-1", `
		0 a gpt-1 quota_threshold until 15:00
		1 b gpt-1 usable`)
	s.plan("15:00", "gpt-1", `
		0 a gpt-1 usable
		1 b gpt-1 usable`)
}
