package telemetry

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// busyDay is a window with so many calls spread over the last day, and a hub of so many profiles and roles.
func busyDay(tb testing.TB, calls, profiles, roles int, now time.Time) *Window {
	tb.Helper()
	l := Labels{}
	for i := range profiles {
		l.Profiles = append(l.Profiles, fmt.Sprintf("profile-%02d", i))
	}
	for i := range roles {
		l.Roles = append(l.Roles, fmt.Sprintf("role-%02d", i))
	}
	for i := range min(profiles, 10) {
		l.Providers = append(l.Providers, fmt.Sprintf("provider-%d", i))
	}
	w := NewWindow(WindowOptions{Labels: l, Now: func() time.Time { return now }})
	draw := rand.New(rand.NewPCG(1, 2))
	x := Exchange{Outcome: Success, Attempts: make([]Attempt, 1)}
	for i := range calls {
		p := draw.IntN(profiles)
		x.Role = l.Roles[draw.IntN(roles)]
		x.Start = now.Add(-Kept + time.Duration(i)*(Kept/time.Duration(calls)))
		x.Attempts[0] = Attempt{
			Profile: l.Profiles[p], Provider: l.Providers[p%len(l.Providers)], Outcome: "ok",
			Duration: time.Duration(2 * math.Exp(draw.NormFloat64()*0.8) * float64(time.Second)),
			Usage:    Usage{Input: 3000, Output: int64(draw.IntN(900)), Known: true}, Cost: Cost{USD: 0.01, Known: true},
		}
		w.Observe(&x)
		if i%(1+calls/(24*60*2)) == 0 {
			w.unsaved(x.Start)
		}
	}
	w.Breakdown(now, Kept, Filter{})
	return w
}

var noon = time.Date(2026, 12, 1, 12, 30, 15, 0, time.UTC)

// The whole day of a hub with fifty accounts and ten roles, each pair of them busy.
func BenchmarkBreakdown(b *testing.B) {
	for _, calls := range []int{10_000, 1_000_000, 10_000_000} {
		w := busyDay(b, calls, 50, 10, noon)
		for _, f := range []Filter{{}, {Role: "role-03"}, {Profile: "profile-07"}} {
			b.Run(fmt.Sprintf("calls=%d/role=%s/profile=%s", calls, f.Role, f.Profile), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.Breakdown(noon, Kept, f)
				}
			})
		}
	}
}

// What saving costs every few seconds: the newest minute, with what came since the last time.
func BenchmarkWindowFold(b *testing.B) {
	w := busyDay(b, 1_000_000, 50, 10, noon)
	x := asked("role-03", "profile-07", time.Second)
	b.ReportAllocs()
	for b.Loop() {
		w.Observe(x)
		w.unsaved(noon)
	}
}

func BenchmarkWindowObserve(b *testing.B) {
	w := NewWindow(WindowOptions{Labels: testLabels()})
	x := failedOver()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w.Observe(x)
		}
	})
}
