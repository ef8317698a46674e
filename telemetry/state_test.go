package telemetry

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func fullState() State {
	ratio := 0.25
	at := time.Unix(1_800_000_000, 0)
	return State{
		At: at, Generation: 7, ReloadOK: true, States: []string{"quota_exhausted"},
		Profiles: []ProfileState{
			{
				Profile: "codex-1", State: "quota_exhausted", Leases: 1, LeaseLimit: 2, MeasuredAt: at.Add(-90 * time.Second),
				Buckets: []BucketState{{ID: "codex.session", RemainingRatio: &ratio, ResetAt: at.Add(1500 * time.Millisecond)}, {ID: "codex.weekly"}},
			},
			{Profile: "local-2"},
		},
		Pipelines: []Pipeline{{Role: "coder", Profile: "local-2"}},
		Resting:   []string{"openai-codex"},
	}
}

// Promise 2 of the design: what is unknown or unlimited has no series, so that nobody reads a 0 that was never measured.
func TestStateCollector(t *testing.T) {
	const want = `# HELP hermes_hub_config_last_reload_successful 1 when the last reload of the configuration took effect, else 0.
# TYPE hermes_hub_config_last_reload_successful gauge
hermes_hub_config_last_reload_successful 1
# HELP hermes_hub_lease_limit Slots of an account; absent when there is no limit.
# TYPE hermes_hub_lease_limit gauge
hermes_hub_lease_limit{profile="codex-1"} 2
# HELP hermes_hub_leases Slots of an account that are taken.
# TYPE hermes_hub_leases gauge
hermes_hub_leases{profile="codex-1"} 1
hermes_hub_leases{profile="local-2"} 0
# HELP hermes_hub_pipeline_active 1 for the account that serves the role now.
# TYPE hermes_hub_pipeline_active gauge
hermes_hub_pipeline_active{profile="local-2",role="coder"} 1
# HELP hermes_hub_profile_state 1 for the state the account is in, 0 for the others.
# TYPE hermes_hub_profile_state gauge
hermes_hub_profile_state{profile="codex-1",state="healthy"} 0
hermes_hub_profile_state{profile="codex-1",state="quota_exhausted"} 1
hermes_hub_profile_state{profile="local-2",state="healthy"} 1
hermes_hub_profile_state{profile="local-2",state="quota_exhausted"} 0
# HELP hermes_hub_provider_resting 1 while the provider's accounts rest together, because several failed alike; else absent.
# TYPE hermes_hub_provider_resting gauge
hermes_hub_provider_resting{provider="openai-codex"} 1
# HELP hermes_hub_quota_age_seconds Time since the account's quota was measured; absent when it never was.
# TYPE hermes_hub_quota_age_seconds gauge
hermes_hub_quota_age_seconds{profile="codex-1"} 90
# HELP hermes_hub_quota_remaining_ratio What is left of a quota window, from 0 to 1; absent when unknown.
# TYPE hermes_hub_quota_remaining_ratio gauge
hermes_hub_quota_remaining_ratio{bucket="codex.session",profile="codex-1"} 0.25
# HELP hermes_hub_quota_reset_timestamp_seconds When a quota window is full again; absent when unknown.
# TYPE hermes_hub_quota_reset_timestamp_seconds gauge
hermes_hub_quota_reset_timestamp_seconds{bucket="codex.session",profile="codex-1"} 1.8000000015e+09
# HELP hermes_hub_snapshot_generation Generation of the published snapshot.
# TYPE hermes_hub_snapshot_generation gauge
hermes_hub_snapshot_generation 7
`
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(StateCollector(fullState))
	if got := gather(t, reg); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// BerriAI/litellm#34704: a remaining 0 was never shown, because it was taken for unknown.
func TestStateCollectorShowsZero(t *testing.T) {
	zero := 0.0
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(StateCollector(func() State {
		return State{Profiles: []ProfileState{{Profile: "p", Buckets: []BucketState{{ID: "b", RemainingRatio: &zero}}}}}
	}))
	if text := gather(t, reg); !strings.Contains(text, `hermes_hub_quota_remaining_ratio{bucket="b",profile="p"} 0`+"\n") {
		t.Errorf("the remaining 0 is missing:\n%s", text)
	}
}

// A state that repeats itself, or holds text that a provider made, must not cost the scrape.
func TestStateCollectorSurvivesOddStates(t *testing.T) {
	odd := ProfileState{Profile: "p\xff", State: "unheard of", MeasuredAt: time.Unix(50, 0)}
	ratio := 0.5
	for i := range 1000 {
		odd.Buckets = append(odd.Buckets, BucketState{ID: fmt.Sprintf("b%d\xfe", i/2), RemainingRatio: &ratio})
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(StateCollector(func() State {
		return State{
			At: time.Unix(40, 0), States: []string{"healthy", "healthy"}, Profiles: []ProfileState{odd, odd},
			Pipelines: []Pipeline{{"r", "p"}, {"r", "p"}},
		}
	}))
	text := gather(t, reg)
	for line, want := range map[string]int{
		"hermes_hub_quota_remaining_ratio{":                                 maxBuckets / 2,
		"hermes_hub_profile_state{profile=\"p\uFFFD\",state=\"other\"} 1\n": 1,
		"hermes_hub_quota_age_seconds{profile=\"p\uFFFD\"} 0\n":             1,
		"hermes_hub_pipeline_active{profile=\"p\",role=\"r\"} 1\n":          1,
		"hermes_hub_config_last_reload_successful 0\n":                      1,
	} {
		if got := strings.Count(text, line); got != want {
			t.Errorf("%q: %d times, want %d, in:\n%s", line, got, want, text)
		}
	}
}
