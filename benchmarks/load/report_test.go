package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Two noisy rounds: the second one's machine is half as fast. The ratio is that of each round, so it stays.
func rounds() []sample {
	s := func(target string, round int, cpu, p50 float64) sample {
		return sample{Scenario: "json", Unit: "request", Target: target, Round: round, Figures: map[string]float64{figCPU: cpu, figP50: p50}}
	}
	first := []sample{s(directName, 1, 10, 1000), s(yardstickName, 1, 100, 3000), s(hubName, 1, 110, 5000)}
	second := []sample{s(directName, 2, 20, 2000), s(yardstickName, 2, 200, 6000), s(hubName, 2, 240, 8000)}
	addLatency(first)
	addLatency(second)
	return append(first, second...)
}

func TestTable(t *testing.T) {
	r := summarize(rounds(), yardstickName)
	r.Machine, r.Seconds = "a machine", 12
	var got strings.Builder
	r.table(&got)
	want := `a machine; 12 s. Median (least–most); × = against reverseproxy in the same round.

json, 2 rounds, costs per request
  target        CPU µs               ×                 p50 ms  added  ×
  direct        15.0 (10.0–20.0)                       1.50
  reverseproxy  150.0 (100.0–200.0)                    4.50    3.00
  hub           175.0 (110.0–240.0)  1.15 (1.10–1.20)  6.50    5.00   1.75 (1.50–2.00)
`
	if text := trimmed(got.String()); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// trimmed is text without blanks at its lines' ends.
func trimmed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return b.String()
}

func TestJSON(t *testing.T) {
	r := summarize(rounds(), yardstickName)
	var text strings.Builder
	if err := r.write(&text, "-"); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Scenarios []struct {
			Targets []struct {
				Name   string
				Ratios map[string]struct{ Median float64 }
			}
			Samples []struct{ Round int }
		}
	}
	if err := json.Unmarshal([]byte(text.String()), &back); err != nil {
		t.Fatalf("%v:\n%s", err, &text)
	}
	sc := back.Scenarios[0]
	if len(sc.Samples) != 6 || sc.Targets[2].Name != hubName || sc.Targets[2].Ratios[figAddedP50].Median != 1.75 || len(sc.Targets[0].Ratios) > 0 {
		t.Errorf("got %s", &text)
	}
}

func TestOptions(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		o, err := parse(args, &strings.Builder{})
		var names []string
		for _, s := range o.scenarios {
			names = append(names, s.Name)
		}
		got := strings.Join(names, "; ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q\ngot  %s\nwant %s", args, got, want)
		}
	}
	f("json 1 KB, C=16; json 64 KB, C=16; stream of 200, C=16; open loop 1000/s", "-quick")
	f("json 1 KB, C=64", "-only", "1 KB, C=64$")
	f("", "-only", "^idle")
	f(`-only "idle" matches no scenario`, "-quick", "-only", "idle")
	f(`unexpected argument "now"`, "now")
	f("-rounds must be 1 to 100, -window at most 1m, -idle at most 9500", "-rounds", "1000")
	f("flag provided but not defined: -fast", "-fast")
}
