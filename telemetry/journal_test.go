package telemetry

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func fullJournal() JournalState {
	return JournalState{
		Stored: 7, Dropped: 2, Refused: 1, Degraded: true, Active: 3,
		Subscribers: map[string]int{"run": 4}, Stores: map[string]bool{"redis": false},
	}
}

func TestJournalMetrics(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	m := NewJournalMetrics(r, fullJournal)
	m.Appended(2 * time.Millisecond)
	want := `
# HELP hermes_hub_journal_degraded 1 while rows cannot be stored, else 0.
# TYPE hermes_hub_journal_degraded gauge
hermes_hub_journal_degraded 1
# HELP hermes_hub_journal_dropped_events_total Events that were left out: over a run's cap, or because the store did not keep up.
# TYPE hermes_hub_journal_dropped_events_total counter
hermes_hub_journal_dropped_events_total 2
# HELP hermes_hub_journal_events_total Rows of runs that were stored.
# TYPE hermes_hub_journal_events_total counter
hermes_hub_journal_events_total 7
# HELP hermes_hub_journal_refused_batches_total Batches that the store refused: late ones, and those of an executor that was replaced.
# TYPE hermes_hub_journal_refused_batches_total counter
hermes_hub_journal_refused_batches_total 1
# HELP hermes_hub_runs_active Runs that this hub executes now.
# TYPE hermes_hub_runs_active gauge
hermes_hub_runs_active 3
# HELP hermes_hub_sse_subscribers Observers of event streams now.
# TYPE hermes_hub_sse_subscribers gauge
hermes_hub_sse_subscribers{stream="run"} 4
# HELP hermes_hub_store_up 1 while the store answers, else 0.
# TYPE hermes_hub_store_up gauge
hermes_hub_store_up{store="redis"} 0
`
	text := gather(t, r)
	for block := range strings.SplitSeq(strings.TrimSpace(want), "# HELP ") {
		if !strings.Contains(text, block) {
			t.Errorf("missing:\n%s\nin:\n%s", block, text)
		}
	}
	if !strings.Contains(text, "hermes_hub_journal_append_seconds_count 1\n") {
		t.Errorf("the commit was not counted:\n%s", text)
	}
}
