package simulator_test

import (
	"testing"
	"time"

	"hermes-hub/proxy/simulator"
)

// TestParseStep proves that steps can be written as text.
func TestParseStep(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		step, err := simulator.ParseStep(text)
		got := string(step)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
	for _, info := range simulator.Steps() {
		f(string(info.Name), string(info.Name))
		if info.About == "" {
			t.Errorf("step %q says nothing about itself", info.Name)
		}
	}

	f("  cut-reset \t 3 ", "cut-reset 3")
	f("slow-first-token 200ms", string(simulator.SlowFirstToken.For(200*time.Millisecond)))
	f("status 418", string(simulator.AnyStatus.After(418)))
	f("", `simulator: no step ""`)
	f("Hang", `simulator: no step "Hang"`)
	f("hang 3", `simulator: step "hang" takes no argument, got "3"`)
	f("cut-reset three", `simulator: step "cut-reset" takes a number, got "three"`)
	f("cut-reset -1", `simulator: step "cut-reset" takes a number, got "-1"`)
	f("cut-reset 1 2", `simulator: step "cut-reset" takes a number, got "1 2"`)
	f("slow-first-token 3", `simulator: step "slow-first-token" takes a duration, got "3"`)
	f("status 1000", `simulator: step "status" takes a status from 200 to 599, got "1000"`)
}

// FuzzParseStep proves that a step that was parsed is the same when its text is parsed again.
func FuzzParseStep(f *testing.F) {
	for _, seed := range []string{"normal", "cut-reset 3", "slow-first-token 200ms", "status 418", " hang ", "429 -1s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		step, err := simulator.ParseStep(text)
		if err != nil {
			return
		}
		if again, err := simulator.ParseStep(step.String()); err != nil || again != step {
			t.Errorf("%q is %q, and again %q, %v", text, step, again, err)
		}
	})
}
