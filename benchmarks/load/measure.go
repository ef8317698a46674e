package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"
)

// The figures of a measurement. The costs are per unit of the scenario, of the target's process alone.
const (
	figCPU         = "cpu_us"          // user and system time, microseconds
	figRate        = "per_second"      // requests or streams a second
	figP50         = "p50_us"          // from the moment a call is made, or in an open loop is due, to its whole answer
	figP99         = "p99_us"          //
	figAddedP50    = "added_p50_us"    // less that of direct in the same round
	figAddedP99    = "added_p99_us"    //
	figAllocations = "allocations"     // of the whole process, objects
	figAllocated   = "allocated_kib"   //
	figResident    = "resident_kib"    // of the process, at the end
	figStream      = "stream_kib"      // resident memory of one open stream
	figConnections = "new_connections" // to the upstream, after warming up
	figCalls       = "calls"           // answered and verified
	figBroken      = "broken"          // cut answers of a target that is known to cut some
)

// sample is what one measurement found. A figure that is not known is not there.
type sample struct {
	Scenario string             `json:"-"`
	Unit     string             `json:"-"`
	Target   string             `json:"target"`
	Round    int                `json:"round"`
	Figures  map[string]float64 `json:"figures"`
}

// bench measures.
type bench struct {
	*parts
	window   time.Duration // of one measurement
	warm     time.Duration // before it
	progress io.Writer
	numbers  atomic.Int64 // of calls
}

// run measures every target once a round, by turns, for each scenario. Every round begins with another target.
func (b *bench) run(ctx context.Context, scenarios []scenario, rounds int) ([]sample, error) {
	var all []sample
	for i := range scenarios {
		s := &scenarios[i]
		targets := slices.DeleteFunc(slices.Clone(b.targets), func(t *target) bool { return !s.measures(t) })
		for round := range rounds {
			fmt.Fprintf(b.progress, "%s: round %d of %d\n", s.Name, round+1, rounds)
			samples := make([]sample, len(targets))
			for turn := range targets {
				at := (round + turn) % len(targets)
				found, err := b.measure(ctx, targets[at], s)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.Name, err)
				}
				found.Round = round + 1
				samples[at] = found
			}
			addLatency(samples)
			all = append(all, samples...)
		}
	}
	return all, nil
}

// measure measures one target under one scenario.
func (b *bench) measure(ctx context.Context, t *target, s *scenario) (sample, error) {
	ctx, c := newCrew(ctx, t, s, &b.numbers)
	defer c.close()
	if err := c.work(ctx, b.warm); err != nil {
		return sample{}, err
	}
	c.forget()
	before, err := b.begin(ctx, t)
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	if err := c.work(ctx, b.window); err != nil {
		return sample{}, err
	}
	took := time.Since(began)
	spent, err := b.end(ctx, t, before)
	if err != nil {
		return sample{}, err
	}
	resident, err := residentKiB(t.pid)
	if err != nil {
		return sample{}, err
	}
	calls := c.sorted()
	if len(calls) == 0 {
		return sample{}, fmt.Errorf("%s answered nothing", t.name)
	}
	units := float64(len(calls) * s.units())
	f := map[string]float64{
		figCPU:         micros(spent.cpu) / units,
		figRate:        float64(len(calls)) / took.Seconds(),
		figP50:         micros(quantile(calls, 0.50)),
		figP99:         micros(quantile(calls, 0.99)),
		figResident:    float64(resident),
		figConnections: float64(spent.connections),
		figCalls:       float64(len(calls)),
	}
	if t.allocated != nil {
		f[figAllocations] = float64(spent.Count) / units
		f[figAllocated] = float64(spent.Bytes) / 1024 / units
	}
	if t.flaw != "" {
		f[figBroken] = float64(c.broken)
	}
	return sample{Scenario: s.Name, Unit: s.unit, Target: t.name, Figures: f}, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// addLatency adds to each sample of a round what its target adds to the latency of direct.
func addLatency(round []sample) {
	for _, base := range round {
		if base.Target != directName {
			continue
		}
		for _, s := range round {
			if s.Target != directName && s.Unit != "chunk" { // a paced stream's time is its pauses'
				s.Figures[figAddedP50] = s.Figures[figP50] - base.Figures[figP50]
				s.Figures[figAddedP99] = s.Figures[figP99] - base.Figures[figP99]
			}
		}
	}
}
