package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// JournalState is what the journal's series show, read when somebody scrapes.
type JournalState struct {
	Stored      int64           // rows stored since the start
	Dropped     int64           // events left out: over a run's cap, or because the store did not keep up
	Refused     int64           // batches that the store refused: late, or of an executor that was replaced
	Degraded    bool            // the last commit failed
	Active      int             // runs that this hub executes now
	Subscribers map[string]int  // observers now, by kind of stream
	Stores      map[string]bool // whether each store answers, by name
}

// JournalMetrics are the series of the journal of runs.
type JournalMetrics struct {
	append prometheus.Histogram
	read   func() JournalState

	events, dropped, refused, degraded, active, subscribers, up *prometheus.Desc
}

// NewJournalMetrics registers the journal's series, which show what read returns at every scrape.
func NewJournalMetrics(r prometheus.Registerer, read func() JournalState) *JournalMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	m := &JournalMetrics{
		append: prometheus.NewHistogram(histogramOptions("journal_append_seconds", "How long the store took for one commit of rows, failed ones included.",
			[]float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5})),
		read:        read,
		events:      desc("journal_events_total", "Rows of runs that were stored."),
		dropped:     desc("journal_dropped_events_total", "Events that were left out: over a run's cap, or because the store did not keep up."),
		refused:     desc("journal_refused_batches_total", "Batches that the store refused: late ones, and those of an executor that was replaced."),
		degraded:    desc("journal_degraded", "1 while rows cannot be stored, else 0."),
		active:      desc("runs_active", "Runs that this hub executes now."),
		subscribers: desc("sse_subscribers", "Observers of event streams now.", "stream"),
		up:          desc("store_up", "1 while the store answers, else 0.", "store"),
	}
	r.MustRegister(m.append, m)
	return m
}

// Appended takes down one commit.
func (m *JournalMetrics) Appended(took time.Duration) { m.append.Observe(took.Seconds()) }

// Describe implements prometheus.Collector.
func (m *JournalMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{m.events, m.dropped, m.refused, m.degraded, m.active, m.subscribers, m.up} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *JournalMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.read()
	for _, c := range [...]struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value float64
	}{
		{m.events, prometheus.CounterValue, float64(s.Stored)},
		{m.dropped, prometheus.CounterValue, float64(s.Dropped)},
		{m.refused, prometheus.CounterValue, float64(s.Refused)},
		{m.degraded, prometheus.GaugeValue, flag(s.Degraded)},
		{m.active, prometheus.GaugeValue, float64(s.Active)},
	} {
		ch <- prometheus.MustNewConstMetric(c.desc, c.kind, c.value)
	}
	for stream, n := range s.Subscribers {
		ch <- prometheus.MustNewConstMetric(m.subscribers, prometheus.GaugeValue, float64(n), stream)
	}
	for store, up := range s.Stores {
		ch <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, flag(up), store)
	}
}
