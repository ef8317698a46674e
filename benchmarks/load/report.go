package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// report is all figures of a run.
type report struct {
	Machine   string           `json:"machine"`
	Seconds   float64          `json:"seconds"`
	Against   string           `json:"against"` // the target whose figures ratios are by
	Scenarios []scenarioReport `json:"scenarios"`
}

// scenarioReport compares the targets under one scenario.
type scenarioReport struct {
	Name    string         `json:"name"`
	Unit    string         `json:"unit"`
	Rounds  int            `json:"rounds"`
	Targets []targetReport `json:"targets"`
	Samples []sample       `json:"samples"`
}

// targetReport sums up the rounds of one target. Ratios are against one target in the same round, which has
// none itself; neither has direct, whose process does another job.
type targetReport struct {
	Name    string            `json:"name"`
	Figures map[string]spread `json:"figures"`
	Ratios  map[string]spread `json:"ratios,omitempty"`
}

// machine says where the figures hold, and how busy others keep it.
func machine() string {
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		load = []byte("unknown")
	}
	return fmt.Sprintf("%s %s/%s, %d cores, load %s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), strings.Join(strings.Fields(string(load))[:1], ""))
}

// summarize sums up samples, scenarios and targets in the order in which they come first, against one of the targets.
func summarize(samples []sample, against string) report {
	r := report{Against: against}
	for _, s := range samples {
		at := slices.IndexFunc(r.Scenarios, func(have scenarioReport) bool { return have.Name == s.Scenario })
		if at < 0 {
			at = len(r.Scenarios)
			r.Scenarios = append(r.Scenarios, scenarioReport{Name: s.Scenario, Unit: s.Unit})
		}
		sc := &r.Scenarios[at]
		sc.Samples = append(sc.Samples, s)
		sc.Rounds = max(sc.Rounds, s.Round)
	}
	for i := range r.Scenarios {
		r.Scenarios[i].compare(against)
	}
	return r
}

// compare fills in the targets from the samples.
func (sc *scenarioReport) compare(against string) {
	yard := map[int]map[string]float64{} // by round
	for _, s := range sc.Samples {
		if s.Target == against {
			yard[s.Round] = s.Figures
		}
	}
	var names []string
	figures, ratios := map[string]map[string][]float64{}, map[string]map[string][]float64{} // by target, then figure
	for _, s := range sc.Samples {
		if !slices.Contains(names, s.Target) {
			names = append(names, s.Target)
			figures[s.Target], ratios[s.Target] = map[string][]float64{}, map[string][]float64{}
		}
		for name, v := range s.Figures {
			figures[s.Target][name] = append(figures[s.Target][name], v)
			if base := yard[s.Round][name]; base > 0 && s.Target != against && s.Target != directName {
				ratios[s.Target][name] = append(ratios[s.Target][name], v/base)
			}
		}
	}
	for _, name := range names {
		sc.Targets = append(sc.Targets, targetReport{name, spreads(figures[name]), spreads(ratios[name])})
	}
}

func spreads(values map[string][]float64) map[string]spread {
	s := map[string]spread{}
	for name, v := range values {
		s[name] = spreadOf(v)
	}
	return s
}

// write writes the table to stdout, or the JSON where it is wanted.
func (r *report) write(stdout io.Writer, name string) error {
	if name != "-" {
		r.table(stdout)
	}
	if name == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if name == "-" {
		_, err = stdout.Write(text)
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
