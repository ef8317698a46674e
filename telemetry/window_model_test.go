package telemetry

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// ledgerBook is the window in the plainest way: every exchange as it came, counted anew for every question, exactly.
type ledgerBook []*Exchange

func (b ledgerBook) breakdown(now time.Time, window time.Duration, f Filter) Breakdown {
	l := windowLabels()
	name := func(known []string, n string) string {
		if slices.Contains(known, n) {
			return n
		}
		return "other"
	}
	first := now.Add(-window).Truncate(time.Minute)
	total, global := 0, &page{}
	roles, providers := map[string]*page{}, map[string]*page{}
	for _, r := range l.Roles {
		if f.Role == "" || f.Role == r {
			roles[r] = &page{}
		}
	}
	for _, p := range l.Providers {
		if f.Profile == "" && (f.Provider == "" || f.Provider == p) {
			providers[p] = &page{}
		}
	}
	for _, x := range b {
		if x.Start.Add(x.Total).Before(first) {
			continue
		}
		role := name(l.Roles, x.Role)
		pages := func(provider, profile string) (ps []*page) {
			if f.Role != "" && f.Role != role || f.Provider != "" && f.Provider != provider || f.Profile != "" && f.Profile != profile {
				return nil
			}
			if roles[role] == nil {
				roles[role] = &page{}
			}
			ps = []*page{global, roles[role]}
			if provider != "" {
				if providers[provider] == nil {
					providers[provider] = &page{}
				}
				ps = append(ps, providers[provider])
			}
			return ps
		}
		var last []*page
		for i, a := range x.Attempts {
			total++
			profile := name(l.Profiles, a.Profile)
			provider := a.Provider
			if profile == "other" {
				provider = "other"
			}
			last = pages(provider, profile)
			for _, p := range last {
				p.write(a, i < len(x.Attempts)-1)
			}
		}
		if x.Outcome == Exhausted || x.Outcome == InvalidCall && len(x.Attempts) > 0 {
			if len(x.Attempts) == 0 {
				last = pages("", "")
			}
			for _, p := range last {
				p.failed++
			}
		}
	}
	return sumUp(total, window, global, roles, providers)
}

// page is what one row of a breakdown counts.
type page struct {
	ok, failed, stated, priced, failovers int
	prompt, completion                    int64
	usd                                   float64
	ms                                    []float64
	reasons                               map[string]int64
}

func (p *page) write(a Attempt, followed bool) {
	p.ms = append(p.ms, math.Round(float64(max(a.Duration, 0))/1e5)/10)
	if a.Outcome == "ok" {
		p.ok++
	}
	if a.Usage.Known {
		p.stated++
		p.prompt += a.Usage.Input
		p.completion += a.Usage.Output
	}
	if a.Cost.Known {
		p.priced++
		p.usd += a.Cost.USD
	}
	if followed {
		p.failovers++
		if p.reasons == nil {
			p.reasons = map[string]int64{}
		}
		p.reasons[map[string]string{"auth_invalid": "auth_required", "odd": "other", "quota_exhausted": "quota_exhausted", "ok": "ok"}[a.Outcome]]++
	}
}

func (p *page) aggregates(total int) Aggregates {
	a := Aggregates{
		Source: "own_measurement", HasData: len(p.ms)+p.failed > 0, TotalCalls: int64(len(p.ms)), SuccessfulCalls: int64(p.ok),
		FailedCalls: int64(p.failed), Failovers: int64(p.failovers), FailoverReasons: map[string]int64{},
	}
	maps.Copy(a.FailoverReasons, p.reasons)
	four := func(x float64) *float64 { return new(math.Round(x*1e4) / 1e4) }
	if total > 0 {
		a.CallShare = four(float64(len(p.ms)) / float64(total))
	}
	if len(p.ms) > 0 {
		a.ErrorRate = four(min(1, float64(p.failed)/float64(len(p.ms))))
		slices.Sort(p.ms)
		a.LatencyP50, a.LatencyP95, a.LatencyMax = new(exact(p.ms, 50)), new(exact(p.ms, 95)), new(exact(p.ms, 100))
	}
	if p.stated > 0 {
		a.PromptTokens, a.CompletionTokens, a.TotalTokens = new(p.prompt), new(p.completion), new(p.prompt+p.completion)
	}
	if p.priced > 0 {
		a.CostUSD = new(p.usd)
	}
	return a
}

func sumUp(total int, window time.Duration, global *page, roles, providers map[string]*page) Breakdown {
	b := Breakdown{
		Source: "own_measurement", WindowSeconds: window.Seconds(), Global: global.aggregates(total),
		ByRole: map[string]Aggregates{}, ByProvider: map[string]Aggregates{},
	}
	b.HasData = b.Global.HasData
	for name, p := range roles {
		b.ByRole[name] = p.aggregates(total)
	}
	for name, p := range providers {
		b.ByProvider[name] = p.aggregates(total)
	}
	return b
}

// near compares latencies within the promised error and a digit of rounding, and everything else exactly.
var near = cmp.Comparer(func(a, b Aggregates) bool {
	for _, pair := range [][2]**float64{{&a.LatencyP50, &b.LatencyP50}, {&a.LatencyP95, &b.LatencyP95}} {
		if (*pair[0] == nil) != (*pair[1] == nil) || *pair[0] != nil && math.Abs(**pair[0]-**pair[1]) > **pair[1]/64+0.1 {
			return false
		}
		*pair[0], *pair[1] = nil, nil
	}
	return cmp.Equal(a, b)
})

func drawExchange(t *rapid.T, now time.Time) *Exchange {
	x := &Exchange{
		Role:    rapid.SampledFrom([]string{"coder", "fast", "stranger", ""}).Draw(t, "role"),
		Outcome: rapid.SampledFrom([]Outcome{Success, Success, Exhausted, InvalidCall, ClientClosed}).Draw(t, "outcome"),
		Start:   now.Add(-time.Duration(rapid.IntRange(-3600, 25*3600).Draw(t, "age")) * time.Second),
		Total:   time.Duration(rapid.IntRange(0, 100).Draw(t, "total")) * time.Second,
	}
	for range rapid.IntRange(0, 3).Draw(t, "attempts") {
		profile := rapid.SampledFrom([]string{"codex-1", "claude-2", "stranger-3"}).Draw(t, "profile")
		x.Attempts = append(x.Attempts, Attempt{
			Profile: profile, Provider: providerOf(profile),
			Outcome:  rapid.SampledFrom([]string{"ok", "quota_exhausted", "auth_invalid", "odd"}).Draw(t, "attempt"),
			Duration: time.Duration(rapid.IntRange(-10, 700_000).Draw(t, "ms")) * time.Millisecond / 8,
			Usage: Usage{
				Input: rapid.Int64Range(0, 1e6).Draw(t, "in"), Output: rapid.Int64Range(0, 1e5).Draw(t, "out"),
				Known: rapid.Bool().Draw(t, "stated"),
			},
			// Sixteenths add up exactly in any order.
			Cost: Cost{USD: float64(rapid.IntRange(0, 100).Draw(t, "sixteenths")) / 16, Known: rapid.Bool().Draw(t, "priced")},
		})
	}
	return x
}

// Whatever is observed, however the clock goes and whenever the hub is stopped or crashes, the window tells what the plain
// book tells: counts and sums exactly, percentiles within the promised error.
func TestWindowModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := noon
		s := newShelf()
		fresh := func() *Window {
			return NewWindow(WindowOptions{Labels: windowLabels(), Store: s, Now: func() time.Time { return clock }})
		}
		w := fresh()
		var book, saved ledgerBook
		save := func() {
			if err := w.save(t.Context()); err != nil {
				rt.Fatal(err)
			}
			// Whole hours go, once no window reaches into them.
			oldest := clock.Add(-Kept).Truncate(time.Hour)
			book = slices.DeleteFunc(slices.Clone(book), func(x *Exchange) bool { return x.Start.Add(x.Total).Before(oldest) })
			saved = book
		}
		restore := func() {
			w, book = fresh(), saved
			if skipped, err := w.Restore(t.Context()); err != nil || skipped > 0 {
				rt.Fatal(skipped, err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"observe": func(rt *rapid.T) {
				x := drawExchange(rt, clock)
				w.Observe(x)
				book = append(slices.Clip(book), x)
			},
			"wait": func(rt *rapid.T) {
				clock = clock.Add(time.Duration(rapid.IntRange(-1800, 7200).Draw(rt, "s")) * time.Second)
			},
			"save":    func(*rapid.T) { save() },
			"restart": func(*rapid.T) { save(); restore() },
			"crash":   func(*rapid.T) { restore() },
			"": func(rt *rapid.T) {
				window := time.Duration(rapid.IntRange(1, 24*60).Draw(rt, "window")) * time.Minute
				f := Filter{
					Role:     rapid.SampledFrom([]string{"", "", "coder", "other", "nobody"}).Draw(rt, "of role"),
					Provider: rapid.SampledFrom([]string{"", "", "codex", "other"}).Draw(rt, "of provider"),
					Profile:  rapid.SampledFrom([]string{"", "", "claude-2"}).Draw(rt, "of profile"),
				}
				if diff := cmp.Diff(book.breakdown(clock, window, f), w.Breakdown(clock, window, f), near); diff != "" {
					rt.Fatal(fmt.Sprintf("at %v, %v of %+v (-exact +told):\n%s", clock, window, f, diff))
				}
			},
		})
	})
}
